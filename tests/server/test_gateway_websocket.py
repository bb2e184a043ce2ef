"""The Responses WebSocket as bytes on a socket: bad input, limits, order, ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType, web

from offhook_server import metrics
from offhook_server.errors import PeerError
from offhook_server.gateway.services import Outbox
from offhook_wire.messages import Limits, Pong
from support.gateway_server import LIMIT_S, InProcessServer, StartServer

pytestmark = pytest.mark.loopback


class Line:
    """A client that says exactly what it is told to."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket

    async def create(self, text: str, **fields: Any) -> None:
        await self.socket.send_json({"type": "response.create", "input": text, **fields})

    async def next(self) -> dict[str, Any]:
        event: dict[str, Any] = await self.socket.receive_json(timeout=LIMIT_S)
        return event

    async def until(self, *kinds: str) -> dict[str, Any]:
        while (event := await self.next())["type"] not in kinds:
            pass
        return event

    async def ended(self) -> int | None:
        """The close code, once the server has closed."""
        while (await self.socket.receive(timeout=LIMIT_S)).type is WSMsgType.TEXT:
            pass
        return self.socket.close_code


@pytest.fixture
async def session(start_server: StartServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session  # closed before the servers


async def _stopped(server: InProcessServer) -> None:
    """The model's stream was ended early."""
    await asyncio.to_thread(server.model.stopped.get, timeout=LIMIT_S)


async def _open(session: aiohttp.ClientSession, server: InProcessServer) -> Line:
    headers = {"Authorization": f"Bearer {server.token}"}
    return Line(await session.ws_connect(f"{server.base_url}/responses", headers=headers))


@pytest.fixture
async def line(session: aiohttp.ClientSession, gateway: InProcessServer) -> Line:
    return await _open(session, gateway)


# -- bad input


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{]", "invalid_event"),
        ("[1]", "invalid_event"),
        ("{}", "invalid_event"),
        ('{"type":"response.dance"}', "unknown_event"),
        ('{"type":"offhook:ping","id":1,"t0":0}', "unknown_event"),
        ('{"type":"response.create","input":7}', "invalid_type"),
        ('{"type":"response.create","input":"x","stream_id":"a b"}', "invalid_stream_id"),
        ('{"type":"response.create","input":"x","stream_id":7}', "invalid_stream_id"),
        ('{"type":"response.create","input":"x","background":true}', "unsupported_parameter"),
        ('{"type":"response.create"}', "missing_required_parameter"),
    ],
)
async def test_a_bad_frame_is_answered_and_the_line_goes_on(line: Line, frame: str, code: str) -> None:
    await line.socket.send_str(frame)
    event = await line.next()
    assert (event["type"], event["error"]["code"]) == ("error", code)
    await line.create("[[say: fine]]")
    assert (await line.until("response.completed"))["response"]["output"][0]["content"][0]["text"] == "fine"


async def test_bytes_that_are_no_text(line: Line) -> None:
    await line.socket.send_frame(b'{"type":"\xff"}', WSMsgType.TEXT)
    assert (await line.next())["error"]["code"] == "invalid_event"


async def test_a_binary_frame(line: Line) -> None:
    await line.socket.send_bytes(b'{"type":"response.create"}')
    assert (await line.next())["error"]["code"] == "invalid_event"


async def test_a_frame_over_the_limit_is_named_and_ends_the_line(
    session: aiohttp.ClientSession, start_server: StartServer
) -> None:
    line = await _open(session, start_server(Limits(max_message_bytes=1000)))
    await line.create("x" * 1200)
    assert (await line.next())["error"]["code"] == "message_too_big"
    assert await line.ended() == 1009


async def test_a_frame_far_over_the_limit_ends_the_line(
    session: aiohttp.ClientSession, start_server: StartServer
) -> None:
    line = await _open(session, start_server(Limits(max_message_bytes=1000)))
    await line.create("x" * 3000)
    assert await line.ended() == 1009


async def test_a_conversation_that_outgrows_the_limit(
    session: aiohttp.ClientSession, start_server: StartServer
) -> None:
    line = await _open(session, start_server(Limits(max_message_bytes=1000)))
    await line.create("x" * 600)
    first = await line.until("response.completed")
    await line.create("y" * 600, previous_response_id=first["response"]["id"])
    assert (await line.until("error"))["error"]["code"] == "context_length_exceeded"


# -- lanes


async def test_more_lanes_than_the_limit(line: Line) -> None:
    for number in range(33):
        await line.create("hi", stream_id=f"lane-{number}")
    error = await line.until("error")
    assert error["error"]["code"] == "websocket_stream_limit_reached"
    assert error["stream_id"] == "lane-32"
    await line.create("hi")  # the default lane is not counted
    while "stream_id" in await line.until("response.completed"):
        pass


async def test_the_seventeenth_response_waits(line: Line) -> None:
    for number in range(17):
        await line.create("[[say: on]][[hang]]", stream_id=f"lane-{number}")
    begun = [(await line.until("response.output_text.delta"))["stream_id"] for _ in range(16)]
    assert "lane-16" not in begun
    await line.socket.send_json({"type": "response.cancel", "stream_id": "lane-3"})
    assert (await line.until("response.incomplete"))["stream_id"] == "lane-3"
    assert (await line.until("response.output_text.delta"))["stream_id"] == "lane-16"


async def test_more_waiting_than_the_queue_holds(line: Line) -> None:
    for _ in range(1 + 64 + 1):
        await line.create("[[hang]]")
    error = await line.until("error")
    assert (error["status"], error["error"]["code"]) == (429, "rate_limit_exceeded")


async def test_a_lane_is_first_in_first_out(line: Line) -> None:
    for text in ("first", "second", "third"):
        await line.create(f"[[say: {text}]]", stream_id="one")
    events = [await line.next() for _ in range(3 * 9)]
    ends = [e["response"]["output"][0]["content"][0]["text"] for e in events if e["type"] == "response.completed"]
    starts = [at for at, e in enumerate(events) if e["type"] == "response.created"]
    assert ends == ["first", "second", "third"]
    assert [events[at - 1]["type"] for at in starts[1:]] == ["response.completed"] * 2
    assert {e["stream_id"] for e in events} == {"one"}


async def test_a_failed_continuation_forgets_its_parent_on_the_same_lane_only(line: Line) -> None:
    await line.create("root", store=False, stream_id="trunk")
    root = (await line.until("response.completed"))["response"]["id"]
    await line.create("[[fail]]", store=False, stream_id="branch", previous_response_id=root)
    assert (await line.until("response.failed"))["response"]["error"]["code"] == "server_error"
    await line.create("x", store=False, stream_id="trunk", previous_response_id=root, temperature=9)
    assert (await line.until("error"))["error"]["param"] == "temperature"
    await line.create("x", store=False, stream_id="trunk", previous_response_id=root)
    assert (await line.until("error"))["error"]["code"] == "previous_response_not_found"


async def test_a_new_connection_remembers_nothing(session: aiohttp.ClientSession, gateway: InProcessServer) -> None:
    first, second = await _open(session, gateway), await _open(session, gateway)
    await first.create("hello", store=False)
    known = (await first.until("response.completed"))["response"]["id"]
    await second.create("and?", previous_response_id=known)
    assert (await second.until("error"))["error"]["code"] == "previous_response_not_found"


# -- cancels


async def test_a_cancel_by_id_reaches_the_model(line: Line, gateway: InProcessServer) -> None:
    await line.create("[[say: some]][[hang]]", stream_id="a")
    response_id = (await line.until("response.created"))["response"]["id"]
    await line.until("response.output_text.delta")
    await line.socket.send_json({"type": "response.cancel", "response_id": response_id})
    end = await line.until("response.incomplete")
    assert end["response"]["status"] == "cancelled"
    assert end["response"]["output"][0]["status"] == "incomplete"
    await _stopped(gateway)


async def test_a_cancel_of_one_that_waits_is_answered_in_its_turn(line: Line) -> None:
    await line.create("[[say: long]][[hang]]")
    await line.create("never")
    await line.socket.send_json({"type": "response.cancel"})
    await line.socket.send_json({"type": "response.cancel"})
    ends = [await line.until("response.incomplete"), await line.until("response.incomplete")]
    assert [len(end["response"]["output"]) for end in ends] in ([1, 0], [0, 0])
    await line.create("[[say: in step]]")
    await line.until("response.completed")


async def test_a_cancel_with_nothing_to_cancel_is_no_fault(line: Line) -> None:
    await line.socket.send_json({"type": "response.cancel", "response_id": "resp_gone"})
    await line.create("hello")
    assert (await line.next())["type"] == "response.created"


async def test_a_mistake_in_one_response_is_its_own(line: Line) -> None:
    await line.create("[[say: hm]][[bug]]", stream_id="a")
    assert (await line.until("response.failed"))["response"]["error"]["code"] == "server_error"
    await line.create("hello", stream_id="a")
    await line.until("response.completed")


# -- ends


async def test_a_cut_socket_stops_the_model(
    session: aiohttp.ClientSession, gateway: InProcessServer, line: Line
) -> None:
    for lane in ("a", "b"):
        await line.create("[[say: on]][[hang]]", stream_id=lane)
        await line.until("response.output_text.delta")
    connection = line.socket._conn
    assert connection
    assert connection.transport
    connection.transport.abort()
    for _ in range(2):
        await _stopped(gateway)


async def test_a_closed_socket_stops_the_model(line: Line, gateway: InProcessServer) -> None:
    await line.create("[[say: on]][[hang]]")
    await line.until("response.output_text.delta")
    await line.socket.close()
    await _stopped(gateway)


async def test_a_server_that_goes_down_says_so(line: Line, gateway: InProcessServer) -> None:
    await line.create("[[say: on]][[hang]]")
    await line.until("response.output_text.delta")
    stopping = asyncio.create_task(asyncio.to_thread(gateway.stop))
    assert await line.ended() == 1012
    await stopping


async def test_a_line_has_a_greatest_age(session: aiohttp.ClientSession, start_server: StartServer) -> None:
    line = await _open(session, start_server(Limits(ttl_seconds=1)))
    await line.create("[[hang]]")
    error = await line.until("error")
    assert error["error"]["code"] == "websocket_connection_limit_reached"
    assert await line.ended() == 1001


async def test_a_client_that_reads_too_slowly_loses_the_line(line: Line, gateway: InProcessServer) -> None:
    def lost() -> float:
        return metrics.registry.get_sample_value("offhook_closed_connections_total", {"code": "1013"}) or 0.0

    before = lost()
    await line.create("[[flood: 50000]]", max_output_tokens=100_000)
    gateway.model.stopped.get(timeout=LIMIT_S)  # this blocks the reading side too
    await line.ended()
    gateway.stop()
    assert lost() == before + 1


# -- who may connect


async def test_the_token_as_a_subprotocol(session: aiohttp.ClientSession, gateway: InProcessServer) -> None:
    offered = ("realtime", f"openai-insecure-api-key.{gateway.token}")
    async with session.ws_connect(f"{gateway.base_url}/responses", protocols=offered) as socket:
        assert socket.protocol == "realtime"
        line = Line(socket)
        await line.create("hello")
        await line.until("response.completed")


@pytest.mark.parametrize(
    ("headers", "protocols", "status"),
    [
        ({}, (), 401),
        ({"Authorization": "Bearer sk-wrong"}, (), 401),
        ({"Authorization": "Basic sk-test-token"}, (), 401),
        ({}, ("realtime", "openai-insecure-api-key.sk-wrong"), 401),
        ({}, ("openai-insecure-api-key.sk-test-token",), 400),
        ({"Authorization": "Bearer sk-test-token", "Origin": "https://example.com"}, (), 403),
        ({"Authorization": "Bearer sk-test-token", "Origin": "null"}, (), 403),
        ({"Authorization": "Bearer sk-test-token", "Host": "example.com"}, (), 403),
    ],
)
async def test_refused_before_the_upgrade(
    session: aiohttp.ClientSession,
    gateway: InProcessServer,
    headers: dict[str, str],
    protocols: tuple[str, ...],
    status: int,
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as e:
        await session.ws_connect(f"{gateway.base_url}/responses", headers=headers, protocols=protocols)
    assert e.value.status == status


# -- our own events


class EchoSession:
    """Answers every frame with a Pong; `bad` is the peer's fault and `bug` ours."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.detached = asyncio.Event()
        self.warned_ms: list[int] = []

    def receive(self, frame: bytes, received_at: float) -> None:
        event = json.loads(frame)
        if event["type"] == "offhook:bad":
            raise PeerError("Not like this.", code="invalid_event")
        self._outbox.send(Pong(event["id"], event["t0"], received_at, received_at))

    def go_away(self, time_left_ms: int) -> None:
        self.warned_ms.append(time_left_ms)

    def detach(self) -> None:
        self.detached.set()


class EchoSessions:
    def __init__(self) -> None:
        self.attached: list[EchoSession] = []

    def attach(self, outbox: Outbox) -> EchoSession:
        self.attached.append(EchoSession(outbox))
        return self.attached[-1]

    async def suggest(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError


async def test_our_own_events_go_to_the_session(session: aiohttp.ClientSession, start_server: StartServer) -> None:
    sessions = EchoSessions()
    server = start_server(sessions=sessions)
    line = await _open(session, server)
    await line.create("hello")
    await line.until("response.completed")
    assert sessions.attached == []
    await line.socket.send_str('{"type":"offhook:ping","id":7,"t0":1.5}')
    assert (await line.next())["t0"] == 1.5
    await line.socket.send_str('{"type":"offhook:bad"}')
    assert (await line.next())["error"]["code"] == "invalid_event"
    await line.create("both on one line")
    await line.until("response.completed")
    await line.socket.close()
    server.stop()
    (attached,) = sessions.attached
    assert attached.detached.is_set()


async def test_a_mistake_of_the_session_ends_the_line(
    session: aiohttp.ClientSession, start_server: StartServer
) -> None:
    line = await _open(session, start_server(sessions=EchoSessions()))
    await line.socket.send_str('{"type":"offhook:bug"}')
    assert await line.ended() == 1011


async def test_the_session_is_warned_before_the_greatest_age(
    session: aiohttp.ClientSession, start_server: StartServer
) -> None:
    sessions = EchoSessions()
    line = await _open(session, start_server(Limits(ttl_seconds=61), sessions))
    await line.socket.send_str('{"type":"offhook:ping","id":7,"t0":1.5}')
    await line.next()
    (attached,) = sessions.attached
    while not attached.warned_ms:
        await line.socket.send_str('{"type":"offhook:ping","id":8,"t0":1.5}')
        await line.next()
    assert attached.warned_ms == [60_000]
