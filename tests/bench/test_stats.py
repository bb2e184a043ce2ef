"""The arithmetic behind every published figure."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offhook_server.bench.stats import (
    Rate,
    median,
    p95,
    p95_difference,
    paired_difference,
    paired_ratio,
    percentile,
    rate,
    rates_ratio,
)

pytestmark = pytest.mark.pure

times = st.floats(min_value=0.1, max_value=1e4)


def test_percentile_lies_between_its_neighbours() -> None:
    assert percentile([40.0, 10.0, 20.0, 30.0], 0.5) == 25.0
    assert p95([float(i) for i in range(101)]) == 95.0
    assert percentile([7.0], 0.95) == 7.0


@given(st.lists(times, min_size=1))
def test_the_median_is_the_middle_percentile(values: list[float]) -> None:
    assert percentile(values, 0.5) == pytest.approx(median(values))


def test_a_steady_ratio_has_no_spread() -> None:
    found = paired_ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert (found.median, found.low, found.high, found.n) == (0.5, 0.5, 0.5, 3)


@settings(max_examples=20)
@given(st.lists(st.tuples(times, times), min_size=1, max_size=30))
def test_the_interval_holds_the_median_and_is_the_same_each_time(pairs: list[tuple[float, float]]) -> None:
    tops, bottoms = zip(*pairs, strict=True)
    found = paired_ratio(tops, bottoms, seed=3)
    assert found.low <= found.median <= found.high
    assert paired_ratio(tops, bottoms, seed=3) == found


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        paired_ratio([1.0, 2.0], [1.0])


@given(st.lists(st.booleans(), min_size=1))
def test_a_rate_lies_in_its_interval(hits: list[bool]) -> None:
    found = rate(hits)
    low, high = found.interval
    assert 0 <= low <= found.share <= high <= 1


def test_a_rate_is_as_wilson_has_it() -> None:
    low, high = Rate(8, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert Rate(0, 0).interval == (0.0, 1.0)
    assert Rate(0, 0).share == 0.0


def test_twice_as_often_is_two() -> None:
    found = rates_ratio([True, True, False] * 20, [True, False, False] * 20)
    assert found.median == 2.0
    assert found.low < 2.0 < found.high
    assert found.n == 60
    assert rates_ratio([True], [False]).n == 0


def test_a_steady_difference_has_no_spread() -> None:
    found = paired_difference([3.0, 4.0], [1.0, 2.0])
    assert (found.median, found.low, found.high, found.n) == (2.0, 2.0, 2.0, 2)


def test_blocks_are_compared_by_their_percentile() -> None:
    low = [[float(i) for i in range(101)]] * 4
    high = [[float(i) + 5 for i in range(101)]] * 4
    found = p95_difference(high, low)
    assert (found.median, found.low, found.high, found.n) == (5.0, 5.0, 5.0, 404)
