"""The events of one response, and the Response object."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response as SdkResponse

from offhook_server.core.create import Create
from offhook_server.core.responses import Counted, Response

pytestmark = pytest.mark.pure

NOW = 1_790_000_000
OPEN_RESPONSES_KEYS = """
    id object created_at completed_at status incomplete_details model previous_response_id instructions output error
    tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs
    temperature reasoning user usage max_output_tokens max_tool_calls store background service_tier metadata
    safety_identifier prompt_cache_key
"""


def _response(lane: str | None = None, **asked: Any) -> Response:
    return Response(Create(**asked), "resp_1", NOW, lane)


def _kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def test_a_text() -> None:
    response = _response()
    events = response.started()
    events += response.text("ret") + response.text("urn")
    events += response.finish("stop", Counted(10, 4, 2), NOW + 1)
    assert _kinds(events) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(10))
    part = {"type": "output_text", "text": "return", "annotations": [], "logprobs": []}
    message = {
        "type": "message",
        "id": "msg_1_0",
        "role": "assistant",
        "content": [part],
        "status": "completed",
    }
    assert events[2]["item"] == {**message, "content": [], "status": "in_progress"}
    assert events[3]["part"] == {**part, "text": ""}
    assert events[8]["item"] == message
    end = events[-1]["response"]
    assert (end["status"], end["output"], end["completed_at"]) == ("completed", [message], NOW + 1)
    assert end["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 12,
    }
    assert response.ended
    assert response.kept_items == (message,)


def test_calls_after_a_text() -> None:
    response = _response()
    events = response.text("look")
    events += response.call(0, "call_1", "read", '{"a"') + response.call(0, "", "", ":1}")
    events += response.call(1, "call_2", "list", "")
    events += response.text("and")
    events += response.finish("tool_calls", Counted(), NOW)
    assert _kinds(events) == [
        *("output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.delta"),
        *("function_call_arguments.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done"),
        "completed",
    ]
    output = events[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["message", "function_call", "function_call", "message"]
    assert output[1] == {
        "type": "function_call",
        "id": "fc_1_1",
        "call_id": "call_1",
        "name": "read",
        "arguments": '{"a":1}',
        "status": "completed",
    }
    assert len({item["id"] for item in output}) == 4


def test_nothing_said_is_an_empty_message() -> None:
    events = _response().finish("stop", Counted(), NOW)
    assert "output_text.delta" not in _kinds(events)
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == ""


def test_a_limit() -> None:
    response = _response(max_output_tokens=1)
    response.text("ret")
    end = response.finish("length", Counted(), NOW)[-1]
    assert end["type"] == "response.incomplete"
    assert end["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert end["response"]["output"][0]["status"] == "incomplete"
    assert len(response.kept_items) == 1


@pytest.mark.parametrize("by_engine", [True, False])
def test_a_cancel_keeps_the_text_and_drops_half_a_call(*, by_engine: bool) -> None:
    response = _response()
    response.text("let me")
    response.call(0, "call_1", "read", '{"pa')
    end = (response.finish("cancelled", Counted(), NOW) if by_engine else response.cancelled())[-1]
    assert (end["type"], end["response"]["status"]) == ("response.incomplete", "cancelled")
    assert [item["status"] for item in end["response"]["output"]] == ["completed", "incomplete"]
    assert [item["type"] for item in response.kept_items] == ["message"]


def test_a_failure() -> None:
    response = _response()
    response.text("ret")
    (end,) = response.failed("The engine went away.")
    assert end["type"] == "response.failed"
    assert end["response"]["error"] == {"code": "server_error", "message": "The engine went away."}
    assert end["response"]["usage"] is None


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_warm_up_says_nothing(reason: Any) -> None:
    response = _response(generate=False)
    assert response.text("x") == []
    assert response.call(0, "call_1", "read", "{}") == []
    (end,) = response.finish(reason, Counted(7, 0, 1), NOW)
    assert (end["type"], end["response"]["output"]) == ("response.completed", [])
    assert end["response"]["usage"]["output_tokens"] == 0


def test_a_named_lane_is_on_every_event() -> None:
    response = _response("fast")
    events = response.started() + response.text("a") + response.finish("stop", Counted(), NOW)
    assert {event["stream_id"] for event in events} == {"fast"}
    assert all("stream_id" not in event for event in _response().started())


@pytest.mark.parametrize(
    "asked", [{}, {"model": "deep", "instructions": "Be brief.", "temperature": 0, "store": False, "user": "u"}]
)
def test_the_object_has_every_key_and_the_sdks_types(asked: dict[str, Any]) -> None:
    response = _response(**asked)
    response.text("hi")
    response.finish("stop", Counted(1, 0, 1), NOW)
    resource = response.resource()
    assert set(resource) == set(OPEN_RESPONSES_KEYS.split())
    assert asked.items() <= resource.items()
    SdkResponse.model_validate(resource)


@given(
    st.lists(
        st.tuples(st.just("text"), st.sampled_from(["a", "", "b c"]))
        | st.tuples(st.just("call"), st.integers(0, 2), st.sampled_from(["", "{}"]))
    ),
    st.sampled_from(["stop", "length", "cancelled"]),
)
def test_what_clients_insist_on(steps: list[Any], reason: Any) -> None:
    """Whatever the engine says: added before any delta, done before the end, deltas sum up to what is done."""
    response = _response()
    events = response.started()
    for kind, *rest in steps:
        if kind == "text":
            events += response.text(rest[0])
        else:
            events += response.call(rest[0], f"call_{rest[0]}", "f", rest[1])
    events += response.finish(reason, Counted(), NOW)
    added: dict[str, str] = {}
    done: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["type"] == "response.output_item.added":
            assert event["output_index"] == len(added) == len(done)
            added[event["item"]["id"]] = ""
        elif event["type"].endswith(".delta"):
            added[event["item_id"]] += event["delta"]
        elif event["type"] == "response.output_item.done":
            done[event["item"]["id"]] = event["item"]
    assert list(added) == list(done)
    for item_id, text in added.items():
        item = done[item_id]
        assert text == (item["content"][0]["text"] if item["type"] == "message" else item["arguments"])
    assert events[-1]["response"]["output"] == list(done.values())
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
