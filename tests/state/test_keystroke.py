"""What came of each key: a suggestion with its parts, or a reason and its own paint."""

import pytest

from offhook_app.state.breakdown import Key
from offhook_app.state.keystroke import MOST_OPEN, Keystrokes
from offhook_app.state.status import Silence, Standing
from offhook_wire.messages import Source, SuggestionDone, Timing

pytestmark = pytest.mark.pure

NOTHING = Standing("silent", silence=Silence.NOTHING_LIKELY)


def key(at: float = 0.0, name: str = "Key") -> Key:
    return Key(name, 3, 4, at)


def done(source: Source, timing: Timing | None = None, request_id: str = "r") -> SuggestionDone:
    return SuggestionDone(request_id, source, "finished", "s", timing or Timing())


def suggested(log: Keystrokes, at: float = 0.0, request_id: str = "r") -> None:
    """A key, and 12 ms later the frame with its ghost text."""
    log.key(key(at))
    log.asked(request_id, at + 0.001, at + 0.0015, by_key=True)
    log.handled(at + 0.002)
    log.key_painted(at + 0.002, at + 0.0025)
    log.shown(request_id, "copy", at + 0.0035, at + 0.004)
    log.painted(request_id, at + 0.010, at + 0.012)
    log.done(done("copy", request_id=request_id), None)


def test_a_key_that_got_a_suggestion() -> None:
    log = Keystrokes()
    suggested(log)
    assert log.latest is log.suggested
    assert log.latest
    assert (log.latest.source, round(log.latest.total_ms, 6)) == ("copy", 12.0)
    assert list(log.figures["copy"].totals) == [log.latest.total_ms]
    assert log.figures["copy"].parts["Painted"].last == pytest.approx(2.0)
    assert len(log.figures["small"].totals) == 0
    assert list(log.own_paint) == [pytest.approx(2.5)]


def test_the_last_word_may_come_before_the_frame_or_after() -> None:
    log = Keystrokes()
    log.key(key())
    log.asked("r", 0.001, 0.002, by_key=True)
    log.shown("r", "small", 0.003, 0.004)
    log.done(done("copy"), None)  # of the other source
    log.done(done("small"), None)
    assert log.latest is None
    log.painted("r", 0.005, 0.006)
    assert log.latest
    assert log.latest.source == "small"


def test_a_key_without_a_suggestion_has_its_reason_and_its_own_paint() -> None:
    log = Keystrokes()
    log.key(key())
    log.silent(NOTHING)
    log.handled(0.001)
    log.handled(9.0)  # something else later
    assert log.latest is None
    log.key_painted(0.003, 0.005)
    log.key_painted(7.0, 8.0)
    assert log.latest
    assert log.latest.silent is NOTHING
    assert [(part.name, round(part.ms, 6)) for part in log.latest.parts] == [
        ("Key handled", 1.0),
        ("Waited for frame", 2.0),
        ("Painted", 2.0),
    ]
    assert log.suggested is None
    log.silent(Standing("silent", silence=Silence.NO_FOCUS))  # long settled
    assert log.latest.silent is NOTHING


def test_the_reason_may_come_long_after_the_paint() -> None:
    log = Keystrokes()
    log.key(key())
    log.asked("r", 0.0, 0.0, by_key=True)
    log.handled(0.001)
    log.key_painted(0.003, 0.005)
    assert log.latest is None
    log.silent(NOTHING)
    assert log.latest
    assert round(log.latest.total_ms, 6) == 5.0


def test_asking_by_a_key_that_changes_nothing_has_a_reason_but_no_paint() -> None:
    log = Keystrokes()
    log.key(key(name="Suggest now"), paints=False)
    log.silent(NOTHING)
    assert log.latest
    assert (log.latest.parts, log.latest.total_ms) == ((), 0.0)


def test_a_suggestion_without_a_key_is_not_a_keystroke() -> None:
    log = Keystrokes()
    log.silent(NOTHING)
    log.handled(0.0)
    log.key_painted(0.0, 0.0)
    log.asked("r", 0.0, 0.0, by_key=True)
    log.key(key())
    log.asked("s", 0.0, 0.0, by_key=False)
    for request_id in "rs":
        log.shown(request_id, "copy", 0.0, 0.0)
        log.painted(request_id, 0.0, 0.0)
        log.done(done("copy", request_id=request_id), None)
    assert log.latest is None
    assert log.suggested is None


def test_a_late_suggestion_does_not_hide_a_newer_key() -> None:
    log = Keystrokes()
    log.key(key(0.0))
    log.asked("r", 0.0, 0.0, by_key=True)
    log.shown("r", "copy", 0.1, 0.1)
    log.painted("r", 0.1, 0.2)
    log.key(key(1.0))
    log.silent(NOTHING)
    log.handled(1.0)
    log.key_painted(1.0, 1.1)
    log.done(done("copy"), None)
    assert log.latest
    assert log.latest.silent is NOTHING
    assert log.suggested
    assert log.suggested.source == "copy"


def test_only_known_requests_and_first_times_count() -> None:
    log = Keystrokes()
    log.shown("x", "copy", 0, 0)
    log.painted("x", 0, 0)
    log.done(done("copy", request_id="x"), None)
    log.key(key())
    log.asked("r", 0.0, 0.0, by_key=True)
    log.painted("r", 0, 1)
    log.shown("r", "copy", 0.001, 0.002)
    log.shown("r", "small", 9, 9)
    log.painted("r", 0.003, 0.004)
    log.painted("r", 5, 6)
    log.done(done("copy"), None)
    assert log.latest
    assert log.latest.source == "copy"
    assert log.latest.total_ms == pytest.approx(4)
    for n in range(MOST_OPEN + 1):
        log.asked(str(n), 0, 0, by_key=True)
    log.shown("0", "copy", 0, 0)
    log.painted("0", 8, 9)
    log.done(done("copy", request_id="0"), None)
    assert len(log.figures["copy"].totals) == 1
