"""Bytes, clocks, round trips and what a key costs."""

import pytest

from offhook_app.state.line_meter import PONGS, LineFigures, LineMeter
from offhook_app.state.per_key import LEAST_KEYS, WINDOW_KEYS, Cost, PerKey, Totals
from offhook_app.state.percentiles import KEPT, Newest, percentile
from offhook_app.state.round_trips import RoundTrips
from offhook_wire.messages import Pong

pytestmark = pytest.mark.pure


def test_bytes_both_ways() -> None:
    meter = LineMeter()
    meter.sent(100)
    meter.sent(20)
    meter.came(7)
    assert meter.figures == LineFigures(120, 7, None)


def test_the_fastest_of_the_last_pongs_tells_the_servers_clock() -> None:
    meter = LineMeter()
    meter.pong(Pong(1, t0=100.0, t1=5101.0, t2=5101.5), 102.5)
    assert meter.figures.server_ahead_ms == 5000.0
    meter.pong(Pong(2, t0=200.0, t1=5250.0, t2=5250.0), 251.0)  # 50 ms out, 1 ms back: worth less
    assert meter.figures.server_ahead_ms == 5000.0
    for n in range(PONGS):
        meter.pong(Pong(n, t0=300.0, t1=5350.0, t2=5350.0), 351.0)
    assert meter.figures.server_ahead_ms == 5024.5
    meter.connected()
    assert meter.figures.server_ahead_ms is None


def test_percentiles() -> None:
    assert percentile([], 0.5) is None
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.95) == 1.0
    newest = Newest()
    assert (newest.last, newest.at(0.5), len(newest)) == (None, None, 0)
    for n in range(KEPT + 10):
        newest.add(n)
    assert (newest.last, len(newest), min(newest)) == (KEPT + 9, KEPT, 10)


def test_round_trips_of_two_minutes() -> None:
    trips = RoundTrips()
    assert (trips.points, trips.at(0.5)) == ([], None)
    trips.add(1.0, 0.0)
    trips.add(2.0, 100.0)
    trips.add(3.0, 121.0)
    assert trips.points == [(100.0, 2.0), (121.0, 3.0)]
    assert trips.at(0.95) == 3.0


def test_a_key_costs_what_came_to_pass_between_two_looks() -> None:
    per_key = PerKey()
    assert per_key.cost is None
    per_key.look(Totals(0, 9000, 500, 1.0, 10.0))
    per_key.look(Totals(LEAST_KEYS - 1, 9100, 500, 1.0, 10.0))
    assert per_key.cost is None
    per_key.look(Totals(LEAST_KEYS, 9000 + 4000, 500 + 200, 1.5, 12.0))
    cost = per_key.cost
    assert cost == Cost(20, 200.0, 10.0, 0.025, 0.1)
    assert cost
    assert cost.cpu_s == pytest.approx(0.125)


def test_only_the_last_keys_count_and_waiting_counts_too() -> None:
    per_key = PerKey()
    for keys in range(0, 3 * WINDOW_KEYS + 1, 10):
        per_key.look(Totals(keys, keys * 100, 0, keys * 0.01))
    per_key.look(Totals(3 * WINDOW_KEYS, 3 * WINDOW_KEYS * 100, 0, 4.0))
    cost = per_key.cost
    assert cost
    assert (cost.keys, cost.bytes_up, cost.cpu_s) == (WINDOW_KEYS, 100.0, None)
    assert cost.app_cpu_s == pytest.approx(0.02)
    per_key.look_away()
    assert per_key.cost is None


@pytest.mark.parametrize(("before", "after"), [(None, 5.0), (5.0, None), (5.0, 1.0)])
def test_another_server_begins_a_new_count(before: float | None, after: float | None) -> None:
    per_key = PerKey()
    per_key.look(Totals(0, 0, 0, 0.0, before))
    per_key.look(Totals(50, 0, 0, 1.0, before))
    assert per_key.cost
    per_key.look(Totals(60, 0, 0, 2.0, after))
    assert per_key.cost is None
