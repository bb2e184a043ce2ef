"""The words of the keystroke page."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from offhook_app.state.breakdown import Key
from offhook_app.state.counters import as_json, counters, hints, words
from offhook_app.state.hud import NOTHING_YET, Row, frame_scale_ms, page, totals, trips
from offhook_app.state.measured import Measured
from offhook_app.state.per_key import Totals
from offhook_app.state.status import Silence, Standing
from offhook_wire.messages import FeedbackItem, Position, ServerStatus, Source, Suggest, SuggestionDone, Timing

pytestmark = pytest.mark.pure

SMALL = Timing(
    mirrored_ms=0.1,
    waited_ms=80.0,
    queue_ms=1.0,
    prefill_ms=30.0,
    first_token_ms=2.0,
    first_words_ms=6.0,
    handed_ms=0.1,
    ttft_ms=119.2,
    decode_ms=400.0,
    prompt_tokens=400,
    cached_tokens=300,
    output_tokens=9,
    read_at_ms=2.0,
)


def request(request_id: str) -> Suggest:
    return Suggest(request_id, "file:///a.py", 1, Position(73, 12))


def suggested(measured: Measured, number: int = 0, source: Source = "small", timing: Timing = SMALL) -> None:
    """A key at `number` s, painted with its suggestion 130 ms later."""
    at = float(number)
    timing = replace(timing, read_at_ms=at * 1e3 + 2)
    measured.key(Key("Enter", 74, 13, at))
    measured.asked(request(f"r{number}"), at + 0.001, at + 0.0015, by_key=True)
    measured.keystrokes.handled(at + 0.002)
    measured.keystrokes.key_painted(at + 0.003, at + 0.004)
    measured.keystrokes.shown(f"r{number}", source, at + 0.1215, at + 0.122)
    measured.painted(f"r{number}", at + 0.128, at + 0.130)
    other: Source = "copy" if source == "small" else "small"
    measured.done(SuggestionDone(f"r{number}", other, "unneeded"), 0.0)
    measured.done(SuggestionDone(f"r{number}", source, "finished", "s", timing), 0.0)


def silent(measured: Measured, silence: Silence, *, paints: bool = True) -> None:
    measured.key(Key("Key", 74, 14, 500.0), paints=paints)
    measured.keystrokes.handled(500.001)
    measured.keystrokes.key_painted(500.002, 500.006)
    measured.keystrokes.silent(Standing("silent", silence=silence, name=".env"))


@pytest.fixture
def measured() -> Measured:
    return Measured()


def test_before_anything_was_measured(measured: Measured) -> None:
    assert page(measured, "last", None) is page(measured, "p95", None) is NOTHING_YET
    assert totals(measured) == {"p50": "not measured", "p95": "not measured"}
    assert trips(measured) == "not measured"
    said = counters(measured)
    assert words(said) == [f"Not measured: {', '.join(counter.name for counter in said)}"]
    assert hints(said).splitlines()[-1] == "Keys not measured (that changed the text)"
    assert json.loads(as_json(measured))["latest"] is None


def test_the_last_suggestion(measured: Measured) -> None:
    suggested(measured)
    last = page(measured, "last", None)
    assert last.whence == "Enter at 74:13 · small model · shown"
    assert (last.total, last.about) == ("130.0 ms", ("key to ghost", "sum of the parts below"))
    assert [(row.name, row.figure, row.shade) for row in last.rows] == [
        ("Key handled", "1.0", 0),
        ("Sent", "0.5", 1),
        ("Line out", "0.5", 0),
        ("Mirrored", "0.1", 0),
        ("Typing pause", "80.0", 0),
        ("Queued", "1.0", 1),
        ("Prompt read", "30.0", 1),
        ("First token", "2.0", 0),
        ("First words", "6.0", 1),
        ("Handed over", "0.1", 0),
        ("Line back", "0.3", 1),
        ("Mapped, filtered", "0.5", 0),
        ("Waited for frame", "6.0", 0),
        ("Painted", "2.0", 0),
    ]
    assert last.sums == (("app", "2.0"), ("line", "0.8"), ("server", "38.2"), ("screen", "2.0"), ("waiting", "87.0"))
    assert round(sum(float(figure) for _, figure in last.sums), 1) == 130.0
    assert last.table.startswith("130.0 ms, key to ghost, sum of the parts below. Key handled 1.0 ms; Sent 0.5 ms")


def test_percentiles_are_of_each_part_and_of_the_model_that_answered_last(measured: Measured) -> None:
    for number in range(10):
        suggested(measured, number, timing=Timing(waited_ms=float(number), ttft_ms=float(number)))
    assert totals(measured) == {"p50": "130 ms", "p95": "130 ms"}
    rows = {row.name: row.figure for row in page(measured, "p95", None).rows}
    assert (rows["Typing pause"], rows["Painted"]) == ("9.0", "2.0")
    p50 = page(measured, "p50", None)
    assert p50.about == ("p50 of 10 by the small model", "each part by itself, not added")
    assert p50.sums == ()
    assert p50.rows[4] == Row("Typing pause", "waiting", 0, 5.0, "5.0")
    suggested(measured, 11, "copy")
    assert page(measured, "p50", None).about[0] == "p50 of 1 by the copy model"


def test_a_key_without_a_suggestion_says_why_and_shows_its_own_paint(measured: Measured) -> None:
    suggested(measured)
    silent(measured, Silence.NEVER_SENT)
    last = page(measured, "last", None)
    assert last.whence == "Key at 74:14 · no suggestion"
    assert (last.total, last.about) == ("6.0 ms", ("own paint", ".env is never sent"))
    assert [row.name for row in last.rows] == ["Key handled", "Waited for frame", "Painted"]
    assert page(measured, "p50", None).total == "130 ms"


def test_why_there_is_no_model_is_the_servers_to_tell(measured: Measured) -> None:
    silent(measured, Silence.NO_MODEL, paints=False)
    last = page(measured, "last", ServerStatus("failed", "m"))
    assert (last.total, last.about, last.rows) == ("No suggestion", ("the model did not start",), ())


def test_round_trips_in_words(measured: Measured) -> None:
    measured.trips.add(0.84, 1.0)
    assert trips(measured) == "p50 0.8 · p95 0.8 ms"


def test_counters_in_words(measured: Measured) -> None:
    measured.per_key.look(Totals(0, 0, 0, 0.0, 0.0))
    for number in range(3):
        suggested(measured, number)
    measured.asked(request("w"), 4.0, 4.0, by_key=False)
    measured.done(SuggestionDone("w", "copy", "superseded"), None)
    measured.done(SuggestionDone("w", "small", "superseded"), None)
    measured.feedback([FeedbackItem("s", "accepted")])
    measured.per_key.look(Totals(40, 48_000, 9000, 0.2, 0.6))
    assert [(counter.name, counter.figure) for counter in counters(measured)] == [
        ("Wasted", "25 %"),
        ("Cancelled", "1"),
        ("Tokens/s", "20.0"),
        ("Cached tokens", "75 %"),
        ("Up a key", "1.2 kB"),
        ("CPU per 100 keys", "2.0 s"),
        ("Own paint p95", "4.0 ms"),
        ("Accepted", "1"),
        ("Keys", "3"),
    ]
    said = counters(measured)
    assert words(said)[0] == "Wasted <b>25 %</b>"
    assert len(words(said)) == len(said)
    lines = hints(said).splitlines()
    assert lines[0] == "Wasted 25 % (1 of 4 suggestions asked for were never shown)"
    assert lines[4] == "Up a key 1.2 kB (225 B down, over the last 40 keys, while this page is open)"
    assert lines[5].startswith("CPU per 100 keys 2.0 s (app 0.50 s, server 1.50 s, over")


def test_the_cpu_is_not_measured_without_the_servers_share(measured: Measured) -> None:
    measured.per_key.look(Totals(0, 0, 0, 0.0))
    measured.per_key.look(Totals(40, 4000, 0, 1.0))
    figures = {counter.name: counter.figure for counter in counters(measured)}
    assert figures["Up a key"] == "100 B"
    assert figures["CPU per 100 keys"] is None


def test_all_figures_as_json(measured: Measured) -> None:
    suggested(measured)
    silent(measured, Silence.NOTHING_LIKELY)
    said = json.loads(as_json(measured))
    assert said["latest"]["no_suggestion"] == "nothing_likely"
    parts = said["suggested"]["parts"]
    assert sum(part["ms"] for part in parts) == pytest.approx(said["suggested"]["total_ms"])
    assert said["key_to_ghost_ms"]["small"]["parts"]["Typing pause"]["p95"] == 80.0
    assert said["requests"] == {"asked": 1, "shown": 1, "wasted": 0, "cancelled": 0, "accepted": 0}
    assert said["tokens_per_s"] == {"last": 20.0, "count": 1, "p50": 20.0, "p95": 20.0}


@given(st.floats(0, 1e5), st.floats(1, 50))
def test_the_bar_holds_the_total_and_a_frame(total_ms: float, frame_ms: float) -> None:
    scale_ms = frame_scale_ms(total_ms, frame_ms)
    assert scale_ms >= max(total_ms, frame_ms)
    assert scale_ms == frame_ms * 1.06 or f"{scale_ms:.0f}".strip("0") in ("1", "25", "5")


def test_the_scale_is_fixed_while_the_total_is_of_the_same_kind() -> None:
    scales = [frame_scale_ms(ms, 16.7) for ms in (1, 16, 17, 25, 26, 51, 101, 251, 900, 1001)]
    assert scales == pytest.approx([17.702, 17.702, 25, 25, 50, 100, 250, 500, 1000, 2500])
