"""One suggestion over plain HTTP, for a client whose WebSocket is refused: a document and a question in, its events out.

POST /v1/offhook/suggest {"document": didOpen, "suggest": suggest}; the answer is SSE with the same events as on the line.
A session of its own serves it and ends with it; a client that goes away cancels.
"""

import asyncio

import msgspec
from aiohttp import web
from msgspec import Struct

from offhook_server.errors import PeerError
from offhook_server.gateway.session import CodeSession, Parts
from offhook_server.gateway.sse import EventStream
from offhook_wire.messages import DocumentDesync, DocumentDidOpen, Lane, Suggest, SuggestionDone

SOURCES: dict[Lane, int] = {"fast": 2, "deep": 1}  # each ends with a `suggestion.done` of its own


class Question(Struct, frozen=True):
    document: DocumentDidOpen
    suggest: Suggest


class _Queue:
    """The outbox of a session that lives for one request."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[Struct] = asyncio.Queue()

    def send(self, message: Struct | bytes) -> None:
        if isinstance(message, Struct):
            self.events.put_nowait(message)


class HttpSuggest:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def create(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        try:
            question = msgspec.json.decode(body, type=Question)
        except (msgspec.DecodeError, UnicodeDecodeError) as e:
            raise PeerError(f"The body is not a document and a question: {e}", code="invalid_event") from None
        session, outbox = CodeSession(self._parts, "utf-16"), _Queue()
        session.outbox = outbox
        try:
            received_at = self._parts.clock()
            session.receive(question.document, 0, received_at)
            session.receive(question.suggest, len(body), received_at)
            return await _stream(await EventStream.open(request), outbox, SOURCES[question.suggest.lane])
        finally:
            await session.close()


async def _stream(stream: EventStream, outbox: _Queue, open_sources: int) -> web.StreamResponse:
    while open_sources:
        event = await outbox.events.get()
        await stream.send(msgspec.to_builtins(event))
        if isinstance(event, SuggestionDone):
            open_sources -= 1
        elif isinstance(event, DocumentDesync):
            break
    return await stream.end()
