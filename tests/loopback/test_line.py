"""The app's line against the real gateway on real sockets: cuts, refusals, resume, replay. The models say what they must."""

import asyncio

import pytest
from aiohttp import web

from offhook_app.transport.server_process import Endpoint, ServerMissing
from offhook_server.backends.base import Generate
from offhook_server.core.copying import Guess
from offhook_server.core.fim import QWEN
from offhook_wire.messages import DocumentDesync, ErrorEvent, SessionReady, SuggestionStarted, TextDelta
from offhook_wire.responses import ResponseCancel, ResponseCompleted, ResponseCreate, ResponseIncomplete
from support.code_server import CodeServer, SayingModel, SilentIndex
from support.front import Front
from support.line_client import LIMIT_S, LineClient

pytestmark = pytest.mark.loopback


def prompted(request: Generate) -> str:
    """What the built-in model is told."""
    prompt = request.as_prompt(QWEN).prompt
    assert prompt is not None
    return prompt


async def test_a_suggestion_streams_over_the_line() -> None:
    async with CodeServer(SayingModel("ret", "urn ", "x")) as server, LineClient(server) as client:
        client.open("def f(x): ")
        await client.until_kind("open")
        client.ask("q_1")
        done = await client.until_done("q_1")
        assert client.ghost == "return x"
        assert done.outcome == "finished"
        assert [e.source for e in client.events if isinstance(e, SuggestionStarted)] == ["small"]


async def test_typing_what_is_suggested_goes_on_and_typing_else_stops_the_model() -> None:
    model = SayingModel("ret", "urn ", "x", pause_at=1)
    async with CodeServer(model) as server, LineClient(server) as client:
        client.open("def f(x): ")
        await client.until_kind("open")
        client.ask("q_1")
        await client.until(lambda: client.ghost == "ret")
        client.type("re")
        client.type("X")
        done = await client.until_done("q_1")
        assert done.outcome == "stale"
        async with asyncio.timeout(LIMIT_S):
            await model.stopped.wait()


async def test_a_newer_request_supersedes_and_no_event_of_the_old_follows() -> None:
    model = SayingModel("a", "b", pause_at=1)
    async with CodeServer(model) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1")
        async with asyncio.timeout(LIMIT_S):
            await model.paused.wait()
        client.ask("q_2")
        assert (await client.until_done("q_1")).outcome == "superseded"
        ended = len(client.events)
        model.go.set()
        await client.until_done("q_2")
        old = {e.item_id for e in client.events if isinstance(e, SuggestionStarted) and e.request_id == "q_1"}
        assert old
        assert not [e for e in client.events[ended:] if isinstance(e, TextDelta) and e.item_id in old]


async def test_a_cut_in_mid_stream_is_resumed_and_nothing_comes_twice() -> None:
    model = SayingModel("one", " two", " three", pause_at=1)
    async with CodeServer(model) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1")
        await client.until(lambda: client.ghost == "one")
        _cut(client)
        await client.until_kind("waiting")
        client.type("")
        model.go.set()
        await client.until_done("q_1")
        assert client.ghost == "one two three"
        assert [e.resumed for e in client.events if isinstance(e, SessionReady)] == [False, True]


async def test_what_is_typed_while_the_line_is_cut_reaches_the_server() -> None:
    model = SayingModel("ok")
    async with CodeServer(model) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1")
        await client.until_done("q_1")
        _cut(client)
        await client.until_kind("waiting")
        client.type("12 + ")
        client.type("é🙂 ")
        await client.until_kind("open")
        client.ask("q_2")
        assert (await client.until_done("q_2")).outcome == "finished"
        assert prompted(model.requests[-1]).endswith("x = 12 + é🙂")


async def test_a_new_server_gets_the_whole_text() -> None:
    first = CodeServer(SayingModel("a"))
    async with first, LineClient(first) as client:
        client.open("x = 1\n")
        await client.until_kind("open")
        client.type("y = 2\n")
        await first.__aexit__()
        client.type("z = ")
        model = SayingModel("3")
        async with CodeServer(model, port=first.port):
            await client.until_kind("open")
            client.ask("q_1")
            await client.until_done("q_1")
            assert prompted(model.requests[0]).endswith("x = 1\ny = 2\nz =")


async def test_a_wrong_hash_and_a_version_gap_are_mended_by_the_whole_text() -> None:
    model = SayingModel("ok")
    async with CodeServer(model) as server, LineClient(server) as client:
        client.open("x = 1\n")
        await client.until_kind("open")
        client.type("y = ", wrong_hash=True)
        client.version += 5
        client.type("2 + ")
        client.ask("q_1")
        await client.until_done("q_1")
        client.ask("q_2")
        assert (await client.until_done("q_2")).outcome == "finished"
        assert prompted(model.requests[-1]).endswith("x = 1\ny = 2 +")
        assert not [e for e in client.events if isinstance(e, DocumentDesync)]


async def test_a_stale_token_of_a_session_begins_a_new_one() -> None:
    async with CodeServer(SayingModel("a")) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        for session in list(server.sessions._by_token.values()):
            server.sessions.end(session)
        _cut(client)
        await client.until_kind("waiting")
        await client.until_kind("open")
        client.ask("q_1")
        assert (await client.until_done("q_1")).outcome == "finished"


@pytest.mark.parametrize("status", [403, 404, 426, 500])
async def test_a_refused_upgrade_is_answered_by_http_at_once(status: int) -> None:
    server = CodeServer(SayingModel("by ", "http"))
    front = Front(server, status)
    async with server, front, LineClient(front) as client:
        client.open("x = ")
        await client.until_kind("http")
        client.ask("q_1")
        await client.until_done("q_1")
        assert client.ghost == "by http"
        assert front.upgrades == 1


async def test_the_deep_model_answers_over_http_too() -> None:
    server = CodeServer(None, deep=SayingModel("by ", "http"))
    front = Front(server, 403)
    async with server, front, LineClient(front) as client:
        client.open("x = ")
        await client.until_kind("http")
        client.ask("q_1", lane="deep")
        await client.until_done("q_1")
        assert client.ghost == "by http"


async def test_a_typed_question_is_answered_over_http_and_stopped_by_closing_it() -> None:
    model = SayingModel("by ", "http", pause_at=1)
    async with CodeServer(None, deep=model) as server, Front(server, 426) as front, LineClient(front) as client:
        await client.until_kind("http")
        client.driver.send(ResponseCreate("Why?", store=False))
        await client.until(lambda: client.ghost == "by ")
        model.go.set()
        await client.until(lambda: any(isinstance(e, ResponseCompleted) for e in client.events))
        assert client.ghost == "by http"
        assert {e.stream_id for e in client.events if isinstance(e, TextDelta | ResponseCompleted)} == {"deep"}
        model.go.clear()
        client.driver.send(ResponseCreate("And?", store=False))
        await client.until(lambda: client.ghost == "by httpby ")
        client.driver.send(ResponseCancel())
        ended = [e.response.status for e in client.events if isinstance(e, ResponseIncomplete)]
        assert ended == ["cancelled"]
        async with asyncio.timeout(LIMIT_S):
            await model.stopped.wait()


async def test_a_question_refused_over_http_is_told_as_on_the_line() -> None:
    async with CodeServer(None) as server, Front(server, 426) as front, LineClient(front) as client:
        await client.until_kind("http")
        client.driver.send(ResponseCreate("Why?"))
        await client.until(lambda: any(isinstance(e, ErrorEvent) for e in client.events))
        (refusal,) = [e for e in client.events if isinstance(e, ErrorEvent)]
        assert (refusal.error.code, refusal.status, refusal.stream_id) == ("model_not_found", 404, "deep")


async def test_a_server_that_goes_while_it_answers_over_http_is_looked_for_again() -> None:
    model = SayingModel("be", "gun", pause_at=1)
    async with CodeServer(None, deep=model) as server, Front(server, 426) as front, LineClient(front) as client:
        await client.until_kind("http")
        client.driver.send(ResponseCreate("Why?"))
        await client.until(lambda: client.ghost == "be")
        await front.__aexit__()
        await client.until_kind("waiting")


async def test_an_upgrade_that_is_swallowed_falls_back_too() -> None:
    async with CodeServer(SayingModel("ok")) as server, Front(server, None) as front, LineClient(front) as client:
        client.open("x = ")
        await client.until_kind("http")
        client.ask("q_1")
        await client.until_done("q_1")
        assert client.ghost == "ok"


async def test_garbage_from_the_server_costs_the_connection_and_no_more() -> None:
    async with CodeServer(SayingModel("ok")) as server, _Garbage(server) as front, LineClient(front) as client:
        client.open("x = ")
        await client.until(lambda: any(s.kind == "waiting" for s in client.states))
        await client.until_kind("open")
        client.ask("q_1")
        await client.until_done("q_1")
        assert client.ghost == "ok"


async def test_no_server_is_said_with_its_reason_and_tried_again() -> None:
    class Missing:
        tries = 0

        async def endpoint(self) -> Endpoint:
            self.tries += 1
            raise ServerMissing("The server did not start.")

    missing = Missing()
    async with LineClient(missing) as client:
        await client.until(lambda: missing.tries >= 2)
        waiting = next(s for s in client.states if s.kind == "waiting")
        assert waiting.detail == "The server did not start."
        assert waiting.attempt == 1
        assert waiting.retry_in_s is not None


async def test_no_model_at_all_leaves_the_copy_model() -> None:
    copies = SilentIndex(Guess("compute(alpha)", share=1.0, match_tokens=32))
    async with CodeServer(None, copies) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1")
        assert (await client.until_done("q_1")).outcome == "no_model"
        await client.until(lambda: client.ghost == "compute(alpha)")
        assert copies.documents["a.py"] == "x = "


async def test_a_sure_copy_leaves_the_model_alone() -> None:
    model = SayingModel("never asked")
    copies = SilentIndex(Guess("compute(alpha)", share=1.0, match_tokens=32))
    async with CodeServer(model, copies) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1")
        assert (await client.until_done("q_1")).outcome == "unneeded"
        assert client.ghost == "compute(alpha)"
        assert model.requests == []


async def test_a_stale_key_is_said_and_the_new_one_is_looked_up() -> None:
    class Changing:
        """Knows an old key first."""

        tries = 0

        async def endpoint(self) -> Endpoint:
            self.tries += 1
            right = await server.endpoint()
            return right if self.tries > 1 else Endpoint(right.base_url, "stale")

    async with CodeServer(SayingModel("ok")) as server, LineClient(Changing()) as client:
        client.open("x = ")
        await client.until(lambda: any(s.detail == "The server's key changed." for s in client.states))
        await client.until_kind("open")
        client.ask("q_1")
        await client.until_done("q_1")
        assert client.ghost == "ok"


def _cut(client: LineClient) -> None:
    """The network is gone without a word."""
    socket = client.driver._socket
    assert socket is not None
    transport = socket.get_extra_info("socket")
    assert transport is not None
    response = socket._response
    assert response.connection is not None
    assert response.connection.transport is not None
    response.connection.transport.abort()


class _Garbage(Front):
    """Its first WebSocket says something that is no event; from then on it is the server itself."""

    def __init__(self, server: CodeServer) -> None:
        super().__init__(server, None)

    async def endpoint(self) -> Endpoint:
        return await (self._server.endpoint() if self.upgrades else super().endpoint())

    async def _upgrade(self, request: web.Request) -> web.StreamResponse:
        self.upgrades += 1
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        await socket.send_str("{not json")
        await socket.receive()
        return socket
