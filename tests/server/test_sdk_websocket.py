"""The official `openai` package against the Responses WebSocket: plain, async, and its own session with lanes."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from openai.lib.responses_websocket import (
    AsyncResponsesWebSocketSession,
    ResponsesWebSocketError,
    ResponsesWebSocketLimits,
    ResponsesWebSocketSession,
)
from openai.resources.responses.responses import AsyncResponsesConnection, ResponsesConnection
from websockets.exceptions import InvalidStatus

from support.gateway_server import LIMIT_S, RunningServer

pytestmark = pytest.mark.loopback

LIMITS = ResponsesWebSocketLimits(
    max_lanes=8, max_events_per_lane=512, max_events=2048, max_bytes_per_lane=2**24, max_bytes=2**25
)
TERMINAL = {"response.completed", "response.incomplete", "response.failed", "error"}


@pytest.fixture
def connection(server: RunningServer) -> Iterator[ResponsesConnection]:
    with OpenAI(base_url=server.base_url, api_key=server.token) as client, client.responses.connect() as connection:
        yield connection


@pytest.fixture
async def async_connection(server: RunningServer) -> AsyncIterator[AsyncResponsesConnection]:
    async with (
        AsyncOpenAI(base_url=server.base_url, api_key=server.token) as client,
        client.responses.connect() as connection,
    ):
        yield connection


def _until_the_end(connection: ResponsesConnection) -> list[Any]:
    events: list[Any] = []
    while not events or events[-1].type not in TERMINAL:
        events.append(connection.recv())
    return events


def test_a_response(connection: ResponsesConnection) -> None:
    connection.response.create(model="fast", input="[[say: over the line]]")
    events = _until_the_end(connection)
    assert [event.type for event in events][:2] == ["response.created", "response.in_progress"]
    assert events[-1].response.output_text == "over the line"
    assert not hasattr(events[-1], "stream_id") or events[-1].stream_id is None


async def test_a_response_async(async_connection: AsyncResponsesConnection) -> None:
    await async_connection.response.create(model="fast", input="[[say: over the line]]")
    async for event in async_connection:
        if event.type == "response.completed":
            assert event.response.output_text == "over the line"
            break


def test_a_chain_that_only_the_connection_remembers(connection: ResponsesConnection) -> None:
    connection.response.create(model="fast", input="[[call: read {}]]", store=False)
    first = _until_the_end(connection)[-1].response
    call = first.output[0]
    connection.response.create(
        model="fast",
        store=False,
        previous_response_id=first.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "the file"}],
    )
    assert _until_the_end(connection)[-1].response.output_text == "The tool said: the file"


def test_a_stored_response_is_known_on_every_transport(server: RunningServer, connection: ResponsesConnection) -> None:
    with OpenAI(base_url=server.base_url, api_key=server.token) as client:
        first = client.responses.create(model="fast", input="hello")
        connection.response.create(model="fast", previous_response_id=first.id, input="[[say: yes]]")
        second = _until_the_end(connection)[-1].response
        third = client.responses.create(model="fast", previous_response_id=second.id, input="[[say: too]]")
    assert third.output_text == "too"


def test_a_previous_response_that_is_not_known(connection: ResponsesConnection) -> None:
    connection.response.create(model="fast", previous_response_id="resp_9", input="hello")
    (error,) = _until_the_end(connection)
    assert error.to_dict() == {
        "type": "error",
        "status": 400,
        "error": {
            "type": "invalid_request_error",
            "code": "previous_response_not_found",
            "message": "Previous response with id 'resp_9' not found.",
            "param": "previous_response_id",
        },
    }


def test_a_warm_up(connection: ResponsesConnection) -> None:
    connection.send({"type": "response.create", "model": "fast", "input": "the context", "generate": False})
    warm = _until_the_end(connection)[-1].response
    assert (warm.status, warm.output) == ("completed", [])
    connection.response.create(model="fast", previous_response_id=warm.id, input="[[say: go]]", store=False)
    answer = _until_the_end(connection)[-1].response
    assert answer.output_text == "go"
    assert answer.usage.input_tokens > warm.usage.input_tokens


def test_a_cancel(connection: ResponsesConnection) -> None:
    connection.response.create(model="fast", input="[[say: half of]][[hang]]")
    while connection.recv().type != "response.output_text.delta":
        pass
    connection.send_raw('{"type":"response.cancel"}')
    last = _until_the_end(connection)[-1]
    assert (last.type, last.response.status) == ("response.incomplete", "cancelled")
    connection.response.create(model="fast", previous_response_id=last.response.id, input="[[say: on]]")
    assert _until_the_end(connection)[-1].response.output_text == "on"


def test_steering_is_refused_in_its_own_words(connection: ResponsesConnection) -> None:
    connection.send({"type": "response.steer", "previous_response_id": "resp_1", "input": "shorter"})
    event: Any = connection.recv()
    assert (event.type, event.error.code) == ("response.steer.failed", "steering_not_supported")


def test_events_of_ours_are_tolerated(connection: ResponsesConnection) -> None:
    """Where the server has sessions it answers with events that the SDK has never heard of."""
    connection.send_raw('{"type":"offhook:session.hello","client":"sdk"}')
    connection.response.create(model="fast", input="[[say: still here]]")
    while (event := connection.recv()).type != "response.completed":
        assert event.type.startswith(("response.", "offhook:")) or event.type == "error"
    assert event.response.output_text == "still here"


def test_lanes(connection: ResponsesConnection) -> None:
    with ResponsesWebSocketSession(connection, limits=LIMITS) as session:
        slow, quick = session.lane("slow"), session.lane("quick")
        slow.send({"type": "response.create", "model": "deep", "input": "[[say: begun]][[hang]]"})
        quick.send({"type": "response.create", "model": "fast", "input": "[[say: done]]"})
        session.default.send({"type": "response.create", "model": "fast", "input": "[[say: default]]"})
        assert quick.get_final_response(timeout=LIMIT_S).output_text == "done"
        assert session.default.get_final_response(timeout=LIMIT_S).output_text == "default"
        while slow.recv(timeout=LIMIT_S).type != "response.output_text.delta":
            pass  # the deep engine may have to be loaded first
        connection.send_raw('{"type":"response.cancel","stream_id":"slow"}')
        final: Any = slow.get_final_response(timeout=LIMIT_S)
        assert (final.status, final.output_text) == ("cancelled", "begun")


async def test_a_fork_keeps_the_lane_it_comes_from(async_connection: AsyncResponsesConnection) -> None:
    async with AsyncResponsesWebSocketSession(async_connection, limits=LIMITS) as session:
        trunk, branch = session.lane("trunk"), session.lane("branch")
        await trunk.send({"type": "response.create", "model": "fast", "input": "root", "store": False})
        root = await trunk.get_final_response()
        for lane, text in ((branch, "[[say: left]]"), (trunk, "[[say: right]]")):
            await lane.send(
                {
                    "type": "response.create",
                    "model": "fast",
                    "input": text,
                    "store": False,
                    "previous_response_id": root.id,
                }
            )
            assert (await lane.get_final_response()).output_text in text


async def test_an_error_of_a_lane_reaches_its_lane(async_connection: AsyncResponsesConnection) -> None:
    async with AsyncResponsesWebSocketSession(async_connection, limits=LIMITS) as session:
        lane = session.lane("one")
        await lane.send({"type": "response.create", "model": "gpt-none", "input": "hello"})
        with pytest.raises(ResponsesWebSocketError) as e:
            await lane.get_final_response()
    event: Any = e.value.event
    assert event.error.code == "model_not_found"


def test_a_wrong_key_is_refused_before_the_upgrade(server: RunningServer) -> None:
    with (
        OpenAI(base_url=server.base_url, api_key="sk-other") as client,
        pytest.raises(InvalidStatus) as e,
        client.responses.connect(),
    ):
        pass
    assert e.value.response.status_code == 401
