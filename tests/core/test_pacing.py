"""The pause before the small model is asked follows the person's own rhythm, within bounds."""

import pytest

from offhook_server.core.pacing import COLD_TOKENS, LONGEST_S, SHORTEST_S, Pacing

pytestmark = pytest.mark.pure


def typed(gap_s: float, keys: int = 60) -> Pacing:
    pacing = Pacing()
    for n in range(keys):
        pacing.key(n * gap_s)
    return pacing


def test_the_first_key_after_quiet_waits_for_nothing() -> None:
    pacing = Pacing()
    assert pacing.pause_s(0) == 0.0
    pacing.key(10.0)
    assert pacing.pause_s(0) == 0.0
    pacing.key(10.2)
    assert pacing.pause_s(0) > 0.0
    pacing.key(11.3)
    assert pacing.pause_s(0) == 0.0


def test_in_a_run_the_pause_is_one_and_a_half_usual_gaps() -> None:
    assert typed(0.1).pause_s(0) == pytest.approx(0.15, abs=0.01)
    assert typed(0.3).pause_s(0) == pytest.approx(0.45, abs=0.01)


def test_a_slow_model_is_not_waited_for_twice() -> None:
    pacing = typed(0.2)
    pacing.answered(0.1, cold_tokens=3)
    assert pacing.pause_s(3) == pytest.approx(0.2, abs=0.01)


def test_the_newest_answer_counts_a_little() -> None:
    pacing = typed(0.2)
    pacing.answered(0.1, cold_tokens=3)
    pacing.answered(0.2, cold_tokens=3)
    assert pacing.pause_s(3) == pytest.approx(0.19, abs=0.01)


def test_a_prompt_that_is_new_to_the_engine_is_expected_to_take_longer() -> None:
    pacing = typed(0.4)
    pacing.answered(0.05, cold_tokens=3)
    pacing.answered(0.45, cold_tokens=100)
    assert pacing.pause_s(100) == pytest.approx(0.15, abs=0.01)
    assert pacing.pause_s(75) == pytest.approx(0.25, abs=0.01)
    assert pacing.pause_s(COLD_TOKENS) == pytest.approx(0.55, abs=0.01)
    assert pacing.pause_s(500) == SHORTEST_S


def test_before_anything_is_known_of_warm_answers_a_cold_one_is_all_reading() -> None:
    pacing = typed(0.4)
    pacing.answered(0.3, cold_tokens=100)
    assert pacing.pause_s(100) == pytest.approx(0.3, abs=0.01)
    assert pacing.pause_s(0) == pytest.approx(0.6, abs=0.01)


def test_the_pause_has_bounds() -> None:
    assert typed(0.9).pause_s(0) == LONGEST_S
    assert typed(0.01).pause_s(0) == SHORTEST_S


def test_a_long_gap_is_quiet_and_does_not_count_as_rhythm() -> None:
    pacing = typed(0.1)
    rhythm = pacing.pause_s(0)
    pacing.key(100.0)
    pacing.key(100.1)
    assert pacing.pause_s(0) == pytest.approx(rhythm, abs=0.01)
