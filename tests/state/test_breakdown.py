"""The sums of the overlay add up, whatever the clocks say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_app.state.breakdown import Breakdown, Key, Part, Shown, of_own_paint, of_suggestion, printed, sums
from offhook_app.state.status import Standing
from offhook_wire.messages import Source, Timing

pytestmark = pytest.mark.pure

KEY = Key("Enter", 74, 13, 0.0)
SMALL = Timing(
    mirrored_ms=0.1,
    waited_ms=80.0,
    queue_ms=1.0,
    prefill_ms=30.0,
    first_token_ms=2.0,
    first_words_ms=6.0,
    handed_ms=0.1,
    ttft_ms=119.2,
    read_at_ms=5002.0,
)
COPY = Timing(mirrored_ms=0.2, copied_ms=0.5, first_words_ms=0.1, handed_ms=0.1, ttft_ms=0.9, read_at_ms=5002.0)


def shown(timing: Timing, source: Source = "small", ahead_ms: float | None = 5000.0, away_ms: float = 120.2) -> Shown:
    """A key at 0; sent at 1.5 ms, back after `away_ms`, painted 8 ms later."""
    back_at = 0.0015 + away_ms / 1000
    return Shown(0.001, 0.0015, back_at, back_at + 0.0005, back_at + 0.006, back_at + 0.008, source, timing, ahead_ms)


def figures(breakdown: Breakdown) -> dict[str, float]:
    return {part.name: round(part.ms, 3) for part in breakdown.parts}


def test_a_key_of_the_small_model_in_parts() -> None:
    breakdown = of_suggestion(KEY, shown(SMALL))
    assert figures(breakdown) == {
        "Key handled": 1.0,
        "Sent": 0.5,
        "Line out": 0.5,
        "Mirrored": 0.1,
        "Typing pause": 80.0,
        "Queued": 1.0,
        "Prompt read": 30.0,
        "First token": 2.0,
        "First words": 6.0,
        "Handed over": 0.1,
        "Line back": 0.5,
        "Mapped, filtered": 0.5,
        "Waited for frame": 5.5,
        "Painted": 2.0,
    }
    assert round(breakdown.total_ms, 6) == 129.7


def test_the_copy_model_has_no_prompt_to_read() -> None:
    breakdown = of_suggestion(KEY, shown(COPY, "copy", away_ms=1.9))
    assert figures(breakdown) == {
        "Key handled": 1.0,
        "Sent": 0.5,
        "Line out": 0.5,
        "Mirrored": 0.2,
        "Suggested": 0.6,
        "Handed over": 0.1,
        "Line back": 0.5,
        "Mapped, filtered": 0.5,
        "Waited for frame": 5.5,
        "Painted": 2.0,
    }


@pytest.mark.parametrize(("ahead_ms", "timing"), [(None, SMALL), (5000.0, Timing(ttft_ms=119.2))])
def test_without_the_servers_clock_the_line_is_one_part(ahead_ms: float | None, timing: Timing) -> None:
    breakdown = figures(of_suggestion(KEY, shown(timing, ahead_ms=ahead_ms)))
    assert breakdown["Line out and back"] == 1.0
    assert "Line out" not in breakdown


def test_what_the_server_does_not_account_for_is_called_other() -> None:
    breakdown = figures(of_suggestion(KEY, shown(Timing(mirrored_ms=1.0, ttft_ms=101.0))))
    assert breakdown["Other"] == 100.0


def test_a_key_without_a_suggestion_has_its_own_paint() -> None:
    breakdown = of_own_paint(KEY, 0.001, 0.004, 0.006, Standing("silent"))
    assert figures(breakdown) == {"Key handled": 1.0, "Waited for frame": 3.0, "Painted": 2.0}


MS = st.floats(-5, 500)


@given(
    st.builds(Timing, *[MS] * 5, copied_ms=MS, first_token_ms=MS, first_words_ms=MS, handed_ms=MS, read_at_ms=MS),
    st.lists(st.floats(0, 0.5), min_size=6, max_size=6),
    st.sampled_from(["copy", "small"]),
    st.none() | st.floats(-100, 100),
)
def test_parts_add_up_as_measured_and_as_printed(
    timing: Timing, at_s: list[float], source: Source, ahead_ms: float | None
) -> None:
    """Also where the clocks are nonsense, and where steps came in another order."""
    steps = dict(zip(("asked_at", "sent_at", "arrived_at", "laid_at", "paint_from", "paint_to"), at_s, strict=True))
    breakdown = of_suggestion(KEY, Shown(**steps, source=source, timing=timing, server_ahead_ms=ahead_ms))
    assert sum(part.ms for part in breakdown.parts) == pytest.approx(breakdown.total_ms)
    assert all(part.ms >= 0 for part in breakdown.parts)
    total, parts = printed(breakdown)
    assert total == pytest.approx(breakdown.total_ms, abs=0.0501)
    assert round(sum(ms for _, ms in parts), 6) == total
    assert round(sum(sums(parts).values()), 6) == total
    assert len([name for name in (part.name for part in breakdown.parts) if name != "Other"]) in (9, 10, 13, 14)


def test_tenths_lost_in_rounding_go_where_most_was_lost() -> None:
    parts = tuple(Part(name, "app", ms) for name, ms in (("a", 1.02), ("b", 1.06), ("c", 1.09)))
    total, pairs = printed(Breakdown(KEY, 3.17, parts, "copy"))
    assert (total, [ms for _, ms in pairs]) == (3.2, [1.0, 1.1, 1.1])


def test_a_part_of_nothing_is_printed_but_other_of_nothing_is_not() -> None:
    parts = (Part("Queued", "waiting", 0.01), Part("Painted", "screen", 2.0), Part("Other", "waiting", 0.01))
    total, pairs = printed(Breakdown(KEY, 2.02, parts, "small"))
    assert (total, [(part.name, ms) for part, ms in pairs]) == (2.0, [("Queued", 0.0), ("Painted", 2.0)])
    assert sums(pairs) == {"screen": 2.0}
