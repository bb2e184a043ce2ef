import pytest

from offhook_server.backends.holding import SHARE, Holding, Rates

pytestmark = pytest.mark.pure


def test_nothing_is_kept_back_before_a_step_of_the_kind_is_known() -> None:
    holding = Holding({})
    assert holding.stepped(0.0, "prompt", 16) == 0.0
    assert holding.stepped(0.32, "token", 1) == 0.0


def test_a_share_of_the_fastest_step_by_its_work() -> None:
    holding = Holding({})
    holding.stepped(0.0, "prompt", 16)
    assert holding.stepped(0.32, "prompt", 16) == pytest.approx(SHARE * 0.32)
    assert holding.stepped(0.72, "prompt", 8) == pytest.approx(SHARE * 0.16)
    assert holding.stepped(0.90, "prompt", 0) == 0.0


def test_kinds_are_apart_and_old_steps_are_forgotten() -> None:
    holding, now = Holding({}), 0.38
    holding.stepped(0.0, "prompt", 16)
    holding.stepped(0.3, "token", 1)
    assert holding.stepped(now, "token", 1) == pytest.approx(SHARE * 0.08)
    holds_s = [holding.stepped(now := now + 0.1, "token", 1) for _ in range(4)]
    assert holds_s[-1] == pytest.approx(SHARE * 0.1)


def test_an_answer_that_came_late_shortens_the_next_wait() -> None:
    holding, now = Holding({}), 0.0
    holding.stepped(now, "token", 1)
    waits = [holding.stepped(now := now + 0.1, "token", 1)]
    while len(waits) < 4:
        waits.append(holding.stepped(now := now + waits[-1], "token", 1))
    assert waits == sorted(waits, reverse=True)


def test_what_one_request_learned_serves_the_next() -> None:
    rates: Rates = {}
    first = Holding(rates)
    first.stepped(0.0, "token", 1)
    first.stepped(0.1, "token", 1)
    assert Holding(rates).stepped(50.0, "token", 1) == pytest.approx(SHARE * 0.1)
