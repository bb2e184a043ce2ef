"""The congestion window, round trip by round trip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.bench.window import INITIAL_BYTES, LEAST_RTO_S, Window

pytestmark = pytest.mark.pure

RTT_S = 0.05


def flights(window: Window, size: int, now: float) -> tuple[int, float]:
    """Sends `size` bytes as fast as the window lets it: in how many flights, and when the last was acknowledged."""
    count = 0
    while size > 0:
        if room := window.room(now):
            window.send(min(room, size), now)
            size -= room
            count += 1
        else:
            now = window.deadline
    return count, now + RTT_S


@pytest.mark.parametrize(
    ("size", "expected"), [(14_600, 1), (14_601, 2), (43_800, 2), (43_801, 3), (60_000, 3), (102_201, 4)]
)
def test_the_start_doubles_each_round_trip(size: int, expected: int) -> None:
    assert flights(Window(RTT_S), size, 0.0)[0] == expected


def test_a_grown_window_takes_the_next_message_whole() -> None:
    window = Window(RTT_S)
    _, now = flights(window, 60_000, 0.0)
    assert flights(window, 58_400, now)[0] == 1


def test_silence_halves_it_once_per_rto_down_to_the_start() -> None:
    window = Window(RTT_S)
    _, now = flights(window, 200_000, 0.0)
    grown = window.room(now)
    sent = now - RTT_S
    rto_s = RTT_S + LEAST_RTO_S
    assert window.room(sent + 1.5 * rto_s) == grown // 2
    window = Window(RTT_S)
    flights(window, 200_000, 0.0)
    assert window.room(sent + 100 * rto_s) == INITIAL_BYTES


def test_small_messages_do_not_open_it() -> None:
    window = Window(RTT_S)
    now = 0.0
    for _ in range(1000):
        _, now = flights(window, 200, now)
    assert window.room(now) == INITIAL_BYTES


@given(st.lists(st.tuples(st.integers(1, 100_000), st.floats(0, 2)), max_size=30))
def test_never_more_in_flight_than_the_window(messages: list[tuple[int, float]]) -> None:
    window, now = Window(RTT_S), 0.0
    for size, pause_s in messages:
        now += pause_s
        while size > 0:
            room = window.room(now)
            assert 0 <= room <= window.size_bytes
            assert window.size_bytes >= INITIAL_BYTES
            if room:
                window.send(min(room, size), now)
                size -= room
            else:
                now = window.deadline
