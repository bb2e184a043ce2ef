"""The server's side of the line bench, a process of its own: the real gateway and sessions over TLS, with a stub model.

The stub waits TTFT_MS and then says, as its one delta, how many milliseconds it really took. In front stands what the
fast lane takes off again (core.healing): the half word the grammar holds it to, or the caret's indentation.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from secrets import token_hex

import msgspec
from aiohttp import web

from offhook_server.backends.base import Delta, Finished, Generate, Piece
from offhook_server.bench import http2_front
from offhook_server.bench.process import Child, answer_lines
from offhook_server.core.create import read_create
from offhook_server.core.response_store import ResponseStore
from offhook_server.core.responses import Response
from offhook_server.gateway import app
from offhook_server.gateway.services import Services
from offhook_server.gateway.session import Parts
from offhook_server.gateway.sessions import Sessions
from offhook_server.gateway.turn import begin, new_id, wall_s
from offhook_server.lanes.workspace import Workspace
from offhook_wire import codec
from offhook_wire.messages import Limits, ServerStatus

TTFT_MS = 10.0
INDENTATION = " " * 40  # deeper than any line of the trace


class Start(msgspec.Struct):
    """`pem`: the file with key and certificate."""

    pem: str


class Started(msgspec.Struct):
    port: int
    http2_port: int
    token: str


class Servers(Child):
    """The parent's side."""

    module = "offhook_server.bench.line_servers"

    async def start(self, pem: str) -> Started:
        return await self.ask(Start(pem), Started)


class Stub:
    name = "stub"

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        begun_s = time.perf_counter()
        await asyncio.sleep(TTFT_MS / 1e3)
        front = request.grammar.split('"')[1] if request.grammar else INDENTATION
        yield Delta(request.id, f"{front}{(time.perf_counter() - begun_s) * 1e3:.3f}")
        yield Finished(request.id, "stop")


class NoCopies:
    """A copy model that never has anything to say."""

    def open(self, root: str) -> None: ...
    def document(self, name: str, text: str) -> None: ...
    def close_document(self, name: str) -> None: ...

    async def ask(self, *_: object, **__: object) -> None:
        return None


def services() -> Services:
    stub, limits = Stub(), Limits()
    parts = Parts(
        workspace=Workspace(NoCopies()),
        small_model=lambda: stub,
        fetch_model=lambda name: None,
        status=lambda: ServerStatus("ready", stub.name),
        clock=time.monotonic,
        limits=limits,
    )
    return Services(
        models={"fast": stub},
        token=token_hex(16),
        limits=limits,
        sessions=Sessions(parts),
        clock=time.monotonic,
        status=dict,
    )


class Http2Responses:
    """What gateway.responses_http does, for the HTTP/2 front; nothing is stored."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = ResponseStore()

    async def respond(self, body: bytes) -> AsyncIterator[bytes]:
        create = read_create(body)
        turn = begin(self._services, self._store, create, Response(create, new_id("resp"), wall_s()), None)
        for event in turn.response.started():
            yield _sse(event)
        async with aclosing(turn.events()) as events:
            async for event in events:
                yield _sse(event)
        yield b"data: [DONE]\n\n"


def _sse(event: dict[str, object]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (str(event["type"]).encode(), codec.encode(event))


def _tls(pem: str, protocol: str) -> ssl.SSLContext:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.minimum_version = ssl.TLSVersion.TLSv1_3
    tls.load_cert_chain(pem)
    tls.set_alpn_protocols([protocol])
    return tls


async def serve() -> None:
    async with AsyncExitStack() as running:

        async def start(asked: Start) -> Started:
            given = services()
            runner = app.runner(given)
            await runner.setup()
            running.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_tls(asked.pem, "http/1.1")).start()
            http2 = await http2_front.listen(Http2Responses(given).respond, _tls(asked.pem, "h2"))
            running.callback(http2.close)
            return Started(runner.addresses[0][1], http2.sockets[0].getsockname()[1], given.token)

        await answer_lines(msgspec.json.Decoder(Start), start)


if __name__ == "__main__":
    asyncio.run(serve())
