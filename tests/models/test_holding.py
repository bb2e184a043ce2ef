from collections import deque
from typing import Any

import pytest

from offhook_server.backends.base import Generate, Piece
from offhook_server.backends.holding import SHARE, SHARE_BEFORE_TEXT, Holding, Rates
from offhook_server.backends.llama import _Run

pytestmark = pytest.mark.pure


def test_nothing_is_kept_back_before_a_step_of_the_kind_is_known() -> None:
    holding = Holding({})
    assert holding.stepped(0.0, "prompt", 16, text_follows=True) == 0.0
    assert holding.stepped(0.32, "token", 1, text_follows=True) == 0.0


def test_a_share_of_the_fastest_step_by_its_work() -> None:
    holding = Holding({})
    holding.stepped(0.0, "prompt", 16, text_follows=True)
    assert holding.stepped(0.32, "prompt", 16, text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.32)
    assert holding.stepped(0.72, "prompt", 8, text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.16)
    assert holding.stepped(0.90, "prompt", 0, text_follows=True) == 0.0


def test_kinds_are_apart_and_old_steps_are_forgotten() -> None:
    holding, now = Holding({}), 0.38
    holding.stepped(0.0, "prompt", 16, text_follows=True)
    holding.stepped(0.3, "token", 1, text_follows=True)
    assert holding.stepped(now, "token", 1, text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.08)
    holds_s = [holding.stepped(now := now + 0.1, "token", 1, text_follows=True) for _ in range(4)]
    assert holds_s[-1] == pytest.approx(SHARE_BEFORE_TEXT * 0.1)


def test_an_answer_that_came_late_shortens_the_next_wait() -> None:
    holding, now = Holding({}), 0.0
    holding.stepped(now, "token", 1, text_follows=True)
    waits = [holding.stepped(now := now + 0.1, "token", 1, text_follows=True)]
    while len(waits) < 4:
        waits.append(holding.stepped(now := now + waits[-1], "token", 1, text_follows=True))
    assert waits == sorted(waits, reverse=True)


def test_what_one_request_learned_serves_the_next() -> None:
    rates: Rates = {}
    first = Holding(rates)
    first.stepped(0.0, "token", 1, text_follows=True)
    first.stepped(0.1, "token", 1, text_follows=True)
    assert Holding(rates).stepped(50.0, "token", 1, text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.1)


def test_where_only_progress_waits_the_median_counts() -> None:
    holding, now = Holding({}), 0.0
    holding.stepped(now, "prompt", 10, text_follows=False)
    holds_s = [
        holding.stepped(now := now + took_s, "prompt", 10, text_follows=False) for took_s in (0.2, 0.3, 0.4, 0.5)
    ]
    assert holds_s[-1] == pytest.approx(SHARE * 0.35)
    assert holding.stepped(now + 0.4, "prompt", 10, text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.3)


class Waits:
    """The way back, which only notes how long an answer was kept back."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, piece: Piece) -> bool:
        return False

    def wait(self, seconds: float | None) -> bool:
        if seconds != 0:
            self.seconds.append(seconds or 0.0)
        return False


def token(drafted: int) -> dict[str, Any]:
    return {"choices": [{"text": "x"}], "timings": {"draft_n_accepted": drafted}}


def test_tokens_of_one_step_come_at_once_and_only_the_last_is_kept_back() -> None:
    slow: Rates = {"token": deque([60.0])}
    waits = Waits()
    run = _Run(Generate(1, prompt="", max_tokens=64), waits, 24, Holding(slow))
    held: list[bool] = []
    for drafted in (0, 2, 2, 2, 2, 3, 3):
        before = len(waits.seconds)
        run.on_chunk(token(drafted))
        held.append(len(waits.seconds) > before)
        slow["token"] = deque([60.0])
    assert held == [True, False, False, True, True, False, True]
