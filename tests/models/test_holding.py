from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.backends.base import Generate, Piece
from offhook_server.backends.holding import SHARE, SHARE_BEFORE_TEXT, Holding, Times
from offhook_server.backends.llama import _Run

pytestmark = pytest.mark.pure


def test_nothing_is_kept_back_before_a_step_of_the_kind_is_known() -> None:
    holding = Holding({})
    assert holding.stepped(0.0, "batch", text_follows=True) == 0.0
    assert holding.stepped(0.32, "token", text_follows=True) == 0.0
    assert holding.stepped(0.42, "rest", text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.1)
    assert holding.stepped(0.9, None, text_follows=True) == 0.0


def test_a_share_of_the_fastest_step() -> None:
    holding, now = Holding({}), 0.0
    holding.stepped(now, "token", text_follows=True)
    holds_s = [holding.stepped(now := now + took_s, "token", text_follows=True) for took_s in (0.1, 0.12, 0.11, 0.13)]
    assert holds_s[-1] == pytest.approx(SHARE_BEFORE_TEXT * 0.1)


def test_where_only_progress_waits_the_median_counts() -> None:
    holding, now = Holding({}), 0.0
    holding.stepped(now, "batch", text_follows=False)
    holds_s = [holding.stepped(now := now + took_s, "batch", text_follows=False) for took_s in (0.2, 0.3, 0.4, 0.5)]
    assert holds_s[-1] == pytest.approx(SHARE * 0.35)
    assert holding.stepped(now + 0.4, "batch", text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.3)


def test_prompts_of_a_few_tokens_teach_nothing_of_batches() -> None:
    times: Times = {}
    for _ in range(9):  # somebody types: each key asks again, and nearly all of the prompt is cached
        holding = Holding(times)
        holding.stepped(0.0, "rest", text_follows=True)
        holding.stepped(0.1, "token", text_follows=True)
        holding.stepped(0.18, None, text_follows=True)
    cold = Holding(times)
    assert cold.stepped(0.0, "batch", text_follows=False) == 0.0
    assert cold.stepped(0.3, "batch", text_follows=False) == pytest.approx(SHARE * 0.3)


class Machine:
    """An engine whose steps take `step_s`, asked through a callback that keeps its answer back."""

    def __init__(self, step_s: float) -> None:
        self.step_s = step_s
        self.now = 0.0
        self._holding = Holding({})
        self._hold_s = self._holding.stepped(0.0, "batch", text_follows=False)

    def steps(self) -> float:
        """How long the next one takes, with what is kept back."""
        began = self.now
        self.now += max(self.step_s, self._hold_s + 0.001)
        self._hold_s = self._holding.stepped(self.now, "batch", text_follows=False)
        return self.now - began


def test_a_machine_that_was_slow_for_a_while_is_not_held_back_when_it_is_fast_again() -> None:
    machine = Machine(1.6)
    for _ in range(6):
        machine.steps()
    machine.step_s = 0.3
    assert sum(machine.steps() for _ in range(3)) > 1.6  # what was learned no longer holds
    assert sum(machine.steps() for _ in range(10)) == pytest.approx(10 * 0.3, rel=0.05)


@given(st.lists(st.floats(0.02, 2.0), min_size=1, max_size=12))
def test_it_never_costs_long(speeds: list[float]) -> None:
    """After any change of speed a handful of steps is all that is waited for in vain."""
    machine = Machine(speeds[0])
    for step_s in speeds:
        machine.step_s = step_s
        for _ in range(12):
            machine.steps()
        assert machine.steps() <= step_s * 1.1


def test_what_one_request_learned_serves_the_next() -> None:
    times: Times = {}
    first = Holding(times)
    first.stepped(0.0, "token", text_follows=True)
    first.stepped(0.1, "token", text_follows=True)
    assert Holding(times).stepped(50.0, "token", text_follows=True) == pytest.approx(SHARE_BEFORE_TEXT * 0.1)


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
    slow: Times = {"token": deque([60.0])}
    waits = Waits()
    run = _Run(Generate(1, prompt="", max_tokens=64), waits, 24, Holding(slow))
    held: list[bool] = []
    for drafted in (0, 2, 2, 2, 2, 3, 3):
        before = len(waits.seconds)
        run.on_chunk(token(drafted))
        held.append(len(waits.seconds) > before)
        slow["token"] = deque([60.0])
    assert held == [True, False, False, True, True, False, True]
