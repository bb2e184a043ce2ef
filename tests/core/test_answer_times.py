"""The server's parts of an answer add up by themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core.answer_times import AnswerTimes
from offhook_wire.messages import Timing

pytestmark = pytest.mark.pure

PARTS = (
    "mirrored_ms",
    "copied_ms",
    "waited_ms",
    "queue_ms",
    "prefill_ms",
    "first_token_ms",
    "first_words_ms",
    "handed_ms",
)


def parts(timing: Timing) -> dict[str, float]:
    return {name: ms for name in PARTS if (ms := getattr(timing, name))}


def test_the_copy_models_answer() -> None:
    times = AnswerTimes(7.0, 7.001)
    times.copied_at, times.words_at, times.handed_at = 7.0015, 7.0016, 7.0018
    timing = times.timing(7.002)
    assert parts(timing) == {"mirrored_ms": 1.0, "copied_ms": 0.5, "first_words_ms": 0.1, "handed_ms": 0.2}
    assert (timing.ttft_ms, timing.total_ms, timing.read_at_ms) == (1.8, 2.0, 7000.0)
    assert (timing.prefill_ms, timing.decode_ms, timing.output_tokens) == (0.0, 0.0, 0)


def test_a_language_models_answer() -> None:
    times = AnswerTimes(0.0, 0.001)
    assert times.first_token_s is None
    times.asked_at = 0.081
    assert times.first_token_s is None
    times.prompt(16, 32, 16, 0.083)
    times.prompt(32, 32, 16, 0.103)
    times.prompt(32, 32, 16, 9.0)
    times.token(0.105)
    assert times.first_token_s == pytest.approx(0.024)
    times.words_at, times.handed_at = 0.125, 0.126
    times.token(0.145)
    timing = times.timing(0.150)
    assert parts(timing) == {
        "mirrored_ms": 1.0,
        "waited_ms": 80.0,
        "queue_ms": 2.0,
        "prefill_ms": 20.0,
        "first_token_ms": 2.0,
        "first_words_ms": 20.0,
        "handed_ms": 1.0,
    }
    assert (timing.ttft_ms, timing.total_ms, timing.decode_ms) == (126.0, 150.0, 40.0)
    assert (timing.prompt_tokens, timing.cached_tokens, timing.output_tokens) == (32, 16, 2)


def test_what_the_engine_counted_holds() -> None:
    times = AnswerTimes(0.0, 0.0)
    times.asked_at = 0.0
    times.token(0.1)
    times.ended(300, 280, 9, 0.5)
    timing = times.timing(0.6)
    assert (timing.prompt_tokens, timing.cached_tokens, timing.output_tokens) == (300, 280, 9)
    assert timing.decode_ms == 400.0
    assert timing.ttft_ms == 0.0  # nothing was shown


def test_an_answer_of_no_text() -> None:
    times = AnswerTimes(0.0, 0.0)
    times.ended(300, 280, 1, 0.5)
    assert times.timing(0.6).decode_ms == 0.0


@given(st.lists(st.floats(0.001, 1), min_size=8, max_size=8), st.lists(st.booleans(), min_size=6, max_size=6))
def test_the_parts_add_up_whatever_is_missing(steps_s: list[float], there: list[bool]) -> None:
    at = [sum(steps_s[: n + 1]) for n in range(8)]
    names = ("copied_at", "asked_at", "reached_at", "prompt_read_at", "first_token_at", "words_at")
    times = AnswerTimes(0.0, at[0])
    for name, when, happened in zip(names, at[1:], there, strict=False):
        setattr(times, name, when if happened else None)
    times.handed_at = at[7]
    timing = times.timing(at[7] + 1)
    assert round(sum(parts(timing).values()), 3) == timing.ttft_ms
    assert timing.ttft_ms == pytest.approx(at[7] * 1000, abs=0.01)
