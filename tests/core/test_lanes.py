"""Lanes: order, limits, what a connection remembers, cancels."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from offhook_server.core.conversation import History
from offhook_server.core.lanes import Lanes, Start, Stop, lane_of, not_found
from offhook_server.errors import PeerError
from offhook_wire.messages import Limits

pytestmark = pytest.mark.pure

SAID = History(({"type": "message"},), 1)
MORE = History(({"type": "message"}, {"type": "message"}), 2)


def _lanes(in_flight: int = 16, lanes: int = 32, most_waiting: int = 64) -> Lanes:
    return Lanes(Limits(in_flight=in_flight, lanes=lanes), most_waiting)


def test_one_lane_is_first_in_first_out() -> None:
    lanes = _lanes()
    assert lanes.submit("a", None, None) == [Start("a", None)]
    assert lanes.submit("b", None, None) == []
    assert lanes.submit("c", None, None) == []
    assert lanes.ended("a", SAID) == [Start("b", None)]
    assert lanes.ended("b", SAID) == [Start("c", None)]
    assert lanes.ended("c", SAID) == []


def test_lanes_run_side_by_side_up_to_the_limit() -> None:
    lanes = _lanes(in_flight=2)
    assert lanes.submit("a", "one", None) == [Start("a", None)]
    assert lanes.submit("b", "two", None) == [Start("b", None)]
    assert lanes.submit("c", "three", None) == []
    assert lanes.submit("d", "one", None) == []
    assert lanes.ended("a", SAID) == [Start("c", None)]
    assert lanes.ended("b", SAID) == [Start("d", None)]


def test_distinct_names_are_limited_for_the_life_of_the_connection() -> None:
    lanes = _lanes(lanes=2)
    for name in ("one", "two"):
        lanes.submit(name, name, None)
        lanes.ended(name, None)
    with pytest.raises(PeerError, match="stream limit reached") as e:
        lanes.submit("c", "three", None)
    assert (e.value.code, e.value.param) == ("websocket_stream_limit_reached", "stream_id")
    assert lanes.submit("d", None, None) == [Start("d", None)]
    assert lanes.submit("e", "one", None) == [Start("e", None)]


def test_a_full_queue_refuses_and_reserves_nothing() -> None:
    lanes = _lanes(in_flight=1, lanes=1, most_waiting=1)
    lanes.submit("a", None, None)
    lanes.submit("b", None, None)
    with pytest.raises(PeerError) as e:
        lanes.submit("c", "one", None)
    assert (e.value.code, e.value.status) == ("rate_limit_exceeded", 429)
    lanes.ended("a", SAID)
    assert lanes.submit("d", "two", None) == []


@pytest.mark.parametrize("name", [None, "a", "A.b_c-9", "x" * 256])
def test_names_of_lanes(name: str | None) -> None:
    assert lane_of(name) == name


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 257, "a\n", 7, True, []])
def test_names_that_are_none(name: object) -> None:
    with pytest.raises(PeerError) as e:
        lane_of(name)
    assert (e.value.code, e.value.param) == ("invalid_stream_id", "stream_id")


def test_the_latest_of_every_lane_is_remembered() -> None:
    lanes = _lanes()
    lanes.submit("a", "one", None)
    lanes.ended("a", SAID)
    assert lanes.submit("b", "one", "a") == [Start("b", SAID)]
    lanes.ended("b", MORE)
    assert lanes.submit("c", "two", "a") == [Start("c", None)]  # no longer the latest
    assert lanes.submit("d", "three", "b") == [Start("d", MORE)]


def test_a_parent_is_looked_up_when_its_child_starts() -> None:
    lanes = _lanes()
    lanes.submit("a", None, None)
    lanes.submit("b", None, "a")
    assert lanes.ended("a", SAID) == [Start("b", SAID)]


def test_a_failed_continuation_forgets_its_parent_on_the_same_lane() -> None:
    lanes = _lanes()
    lanes.submit("a", "one", None)
    lanes.ended("a", SAID)
    lanes.submit("b", "one", "a")
    lanes.ended("b", None)
    assert lanes.submit("c", "one", "a") == [Start("c", None)]


def test_a_failed_fork_keeps_the_parent() -> None:
    lanes = _lanes()
    lanes.submit("a", "one", None)
    lanes.ended("a", SAID)
    lanes.submit("b", "two", "a")
    lanes.ended("b", None)
    assert lanes.submit("c", "one", "a") == [Start("c", SAID)]


def test_a_failure_without_a_parent_forgets_nothing() -> None:
    lanes = _lanes()
    lanes.submit("a", None, None)
    lanes.ended("a", SAID)
    lanes.submit("b", None, None)
    lanes.ended("b", None)
    assert lanes.submit("c", None, "a") == [Start("c", SAID)]


def test_a_cancel_takes_the_newest_that_fits() -> None:
    lanes = _lanes()
    for response_id, lane in (("a", "one"), ("b", "two"), ("c", "one")):
        lanes.submit(response_id, lane, None)
    assert lanes.cancel("b", None) == [Stop("b")]
    assert lanes.cancel(None, "two") == []  # it is cancelled already
    assert lanes.cancel("gone", None) == []
    assert lanes.cancel(None, None) == []  # c waits
    assert lanes.cancel(None, "one") == [Stop("a")]
    assert lanes.ended("a", SAID) == [Start("c", None, cancelled=True)]


def test_the_error_of_an_unknown_parent() -> None:
    assert str(not_found("resp_9")) == "Previous response with id 'resp_9' not found."


class Traffic(RuleBasedStateMachine):
    """Any order of creates, ends and cancels keeps the rules."""

    def __init__(self) -> None:
        super().__init__()
        self.lanes = _lanes(in_flight=3, lanes=4, most_waiting=5)
        self.count = 0
        self.lane_of: dict[str, str | None] = {}
        self.waiting: list[str] = []
        self.running: list[str] = []
        self.started: dict[str | None, list[int]] = {}

    def _note(self, starts: list[Start]) -> None:
        for start in starts:
            self.waiting.remove(start.response_id)
            self.running.append(start.response_id)
            self.started.setdefault(self.lane_of[start.response_id], []).append(int(start.response_id))

    @rule(lane=st.sampled_from([None, "a", "b", "c", "d", "e"]))
    def submit(self, lane: str | None) -> None:
        response_id = str(self.count)
        self.count += 1
        try:
            starts = self.lanes.submit(response_id, lane, None)
        except PeerError:
            return
        self.lane_of[response_id] = lane
        self.waiting.append(response_id)
        self._note(starts)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), failed=st.booleans())
    def end(self, data: st.DataObject, *, failed: bool) -> None:
        response_id = data.draw(st.sampled_from(self.running))
        self.running.remove(response_id)
        self._note(self.lanes.ended(response_id, None if failed else SAID))

    @rule(lane=st.sampled_from([None, "a", "b"]))
    def cancel(self, lane: str | None) -> None:
        for stop in self.lanes.cancel(None, lane):
            assert stop.response_id in self.running

    @invariant()
    def rules_hold(self) -> None:
        busy = [self.lane_of[response_id] for response_id in self.running]
        assert len(set(busy)) == len(busy) <= 3
        assert len({lane for lane in self.lane_of.values() if lane}) <= 4
        assert len(self.waiting) <= 5 + 1
        assert all(numbers == sorted(numbers) for numbers in self.started.values())
        if len(self.running) < 3:
            assert all(self.lane_of[response_id] in busy for response_id in self.waiting)


TestTraffic = Traffic.TestCase
TestTraffic.settings = settings(deadline=None, max_examples=40, stateful_step_count=30)
