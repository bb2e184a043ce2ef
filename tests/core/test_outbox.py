"""The outbox: order, merged deltas, the bound."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core.outbox import Outbox
from offhook_wire.messages import Pong, TextDelta

pytestmark = pytest.mark.pure


def _delta(item: str, text: str, number: int) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "item_id": item, "delta": text, "sequence_number": number}


def _taken(outbox: Outbox) -> list[dict[str, Any]]:
    frames = []
    while (frame := outbox.take()) is not None:
        frames.append(json.loads(frame))
    return frames


def test_everything_goes_out_in_order() -> None:
    outbox = Outbox()
    assert outbox.put({"type": "response.created"})
    assert outbox.put(Pong(1, 2.0, 3.0, 4.0))
    assert outbox.put(b'{"type":"kept"}')
    assert [event["type"] for event in _taken(outbox)] == ["response.created", "offhook:pong", "kept"]
    assert outbox.size_bytes == 0


def test_deltas_of_one_text_grow_together_while_they_wait() -> None:
    outbox = Outbox()
    for event in (_delta("a", "on", 4), _delta("b", "x", 9), _delta("a", "ce", 5), {"type": "response.completed"}):
        outbox.put(event)
    assert _taken(outbox) == [_delta("a", "once", 5), _delta("b", "x", 9), {"type": "response.completed"}]
    assert outbox.merged == 1


def test_a_delta_that_went_out_is_not_grown() -> None:
    outbox = Outbox()
    outbox.put(_delta("a", "on", 4))
    assert len(_taken(outbox)) == 1
    outbox.put(_delta("a", "ce", 5))
    assert _taken(outbox) == [_delta("a", "ce", 5)]


def test_the_deltas_of_suggestions_too() -> None:
    outbox = Outbox()
    outbox.put(TextDelta("a", "ret", 0))
    outbox.put(TextDelta("a", "urn", 1))
    (event,) = _taken(outbox)
    assert (event["delta"], event["sequence_number"], event["stream_id"]) == ("return", 1, "fast")
    assert set(event) == {"type", *TextDelta.__struct_fields__}


def test_over_the_bound_nothing_more_is_taken_for_granted() -> None:
    outbox = Outbox(most_bytes=40)
    assert outbox.put(_delta("a", "x" * 30, 0))
    assert not outbox.put(_delta("a", "x" * 30, 1))
    assert outbox.overflowed
    _taken(outbox)
    assert not outbox.put({"type": "late"})


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=3) | st.none())))
def test_no_text_is_lost_and_no_other_event_moves(steps: list[tuple[str, str | None]]) -> None:
    """None takes a frame out in between."""
    outbox, frames = Outbox(), []
    for number, (item, text) in enumerate(steps):
        if text is None:
            frames.append(outbox.take())
        else:
            outbox.put(_delta(item, text, number))
    events = [json.loads(frame) for frame in frames if frame] + _taken(outbox)
    for item in "abc":
        put = [(text, number) for number, (name, text) in enumerate(steps) if name == item and text is not None]
        out = [event for event in events if event["item_id"] == item]
        assert "".join(event["delta"] for event in out) == "".join(text for text, _ in put)
        numbers = [event["sequence_number"] for event in out]
        assert numbers == sorted(set(numbers))
        if put:
            assert numbers[-1] == put[-1][1]
    assert outbox.size_bytes == 0
