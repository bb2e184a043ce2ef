"""The sums of the overlay add up, whatever the clocks say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_app.state.keystroke import MOST_OPEN, Breakdown, Keystrokes, Part, percentile, printed
from offhook_wire.messages import Timing

pytestmark = pytest.mark.pure


def measured(timing: Timing, key_at: float | None = 0.0, scale: float = 1.0) -> Keystrokes:
    log = Keystrokes()
    log.asked("r", key_at, 0.001 * scale, 0.0015 * scale)
    log.shown("r", "small", 0.0035 * scale, 0.004 * scale)
    log.done("r", "copy", Timing())
    log.done("r", "small", timing)
    assert log.latest is None
    log.painted("r", 0.010 * scale, 0.012 * scale)
    return log


def test_one_key_in_parts() -> None:
    log = measured(Timing(mirrored_ms=0.2, waited_ms=0.3, prefill_ms=0.5, ttft_ms=1.2))
    assert log.latest
    assert {part.name: round(part.ms, 3) for part in log.latest.parts} == {
        "Key handled": 1.0,
        "Sent": 0.5,
        "Line out and back": 0.8,
        "Mirrored": 0.2,
        "Waited for a pause": 0.3,
        "Prompt read": 0.5,
        "Suggested": 0.2,
        "Mapped": 0.5,
        "Waited for frame": 6.0,
        "Painted": 2.0,
    }
    assert round(log.latest.total_ms, 6) == 12.0
    assert list(log.totals_ms) == [log.latest.total_ms]


def test_a_suggestion_without_a_key_is_not_a_keystroke() -> None:
    assert measured(Timing(), key_at=None).latest is None


@given(
    st.builds(Timing, *[st.floats(0, 500) for _ in range(5)]),
    st.floats(0.001, 10),
    st.floats(-0.5, 0.0),
)
def test_parts_add_up_as_measured_and_as_printed(timing: Timing, scale: float, key_at: float) -> None:
    latest = measured(timing, key_at, scale).latest
    assert latest
    assert sum(part.ms for part in latest.parts) == pytest.approx(latest.total_ms)
    total, parts = printed(latest)
    assert round(sum(ms for _, ms in parts), 6) == total


def test_what_clocks_disagree_about_is_called_other() -> None:
    log = Keystrokes()
    log.asked("r", 0.0, 0.001, 0.002)
    log.shown("r", "copy", 0.003, 0.004)
    log.done("r", "copy", Timing())
    log.painted("r", 0.002, 0.005)  # painted from before it was shown
    assert log.latest
    assert sum(part.ms for part in log.latest.parts if part.name != "Other") > log.latest.total_ms - 1e-9


def test_only_known_requests_and_first_times_count() -> None:
    log = Keystrokes()
    log.shown("x", "copy", 0, 0)
    log.painted("x", 0, 0)
    log.done("x", "copy", Timing())
    log.asked("r", 0.0, 0.0, 0.0)
    log.painted("r", 0, 1)
    log.shown("r", "copy", 0.001, 0.002)
    log.shown("r", "small", 9, 9)
    log.painted("r", 0.003, 0.004)
    log.painted("r", 5, 6)
    log.done("r", "copy", Timing())
    assert log.latest
    assert log.latest.total_ms == pytest.approx(4)
    assert log.latest.source == "copy"
    for n in range(MOST_OPEN + 1):
        log.asked(str(n), 0, 0, 0)
    log.shown("0", "copy", 0, 0)
    log.painted("0", 8, 9)
    log.done("0", "copy", Timing())
    assert len(log.totals_ms) == 1


def test_tenths_lost_in_rounding_go_where_most_was_lost() -> None:
    parts = tuple(Part(name, "app", ms) for name, ms in (("a", 1.02), ("b", 1.06), ("c", 1.09)))
    total, shown = printed(Breakdown(3.17, parts, "copy"))
    assert (total, [ms for _, ms in shown]) == (3.2, [1.0, 1.1, 1.1])


def test_percentiles_and_round_trips() -> None:
    assert percentile([], 0.5) is None
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.95) == 1.0
    log = Keystrokes()
    log.round_trip(1.0, 0.0)
    log.round_trip(2.0, 100.0)
    log.round_trip(3.0, 121.0)
    assert log.trips_ms == [2.0, 3.0]
    assert log.latest is None
