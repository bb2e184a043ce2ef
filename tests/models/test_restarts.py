"""When a worker is started again, and when that is given up."""

import pytest

from offhook_server.models.restarts import FIRST_DELAY_S, MOST_EARLY_ENDS, STEADY_S, Restarts

pytestmark = pytest.mark.pure


def test_waits_longer_each_time_it_ends_early_and_gives_up() -> None:
    restarts = Restarts()
    delays = [restarts.ended(1.0) for _ in range(MOST_EARLY_ENDS)]
    assert delays == [FIRST_DELAY_S * 2, FIRST_DELAY_S * 4, None]


def test_a_steady_life_makes_the_next_start_quick_and_the_count_begin_anew() -> None:
    restarts = Restarts()
    for _ in range(5):
        assert restarts.ended(1.0) == FIRST_DELAY_S * 2
        assert restarts.ended(STEADY_S) == FIRST_DELAY_S


def test_gives_up_after_two_starts_that_were_never_ready() -> None:
    restarts = Restarts()
    assert restarts.ended(None) == FIRST_DELAY_S * 2
    assert restarts.ended(None) is None


def test_one_failed_start_between_good_ones_is_forgiven() -> None:
    restarts = Restarts()
    assert [restarts.ended(life) is None for life in (None, STEADY_S, None)] == [False, False, False]
