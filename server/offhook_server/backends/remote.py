"""A model at another place: llama.cpp's server, Ollama, vLLM, or whatever speaks OpenAI's HTTP. In the server's process.

    request ─▶ remote_request ─▶ remote_http ─▶ remote_sse ─▶ remote_answer ─▶ pieces
                    ▲ remote_found: asked of the place once, at the first request

Closing the iterator closes the connection, which is how such servers are told to stop. Nothing here logs, and no error
holds what was sent, what came, or the key.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from urllib.parse import urlsplit

import aiohttp

from offhook_server.backends.base import Finished, Generate, Piece
from offhook_server.backends.remote_answer import Answer
from offhook_server.backends.remote_errors import (
    ENDLESS,
    NO_KEY,
    UNSAFE,
    Busy,
    CannotFillIn,
    refusal,
    unknown_field,
)
from offhook_server.backends.remote_found import look
from offhook_server.backends.remote_http import PATIENCE, Connection, Patience
from offhook_server.backends.remote_request import Found, Sending, is_loopback, sending, without_filling_in
from offhook_server.backends.remote_sse import EventStream
from offhook_server.core.code_only import CodeOnly
from offhook_server.errors import BackendError, UserError
from offhook_server.settings import Place

MOST_ERROR_BYTES = 64 * 1024
BYTES_A_TOKEN = 4000  # of a stream, with thinking that is not shown
SPARE_BYTES = 2_000_000


class RemoteModel:
    """Implements base.Model. `detail`: what went wrong the last time, empty after a success; `on_change` tells of it.

    Raises UserError for a place that would be spoken to without encryption.
    """

    def __init__(
        self, place: Place, *, on_change: Callable[[], None] = lambda: None, patience: Patience = PATIENCE
    ) -> None:
        if urlsplit(place.url).scheme != "https" and not is_loopback(place) and not place.insecure:
            raise UserError(UNSAFE)
        self.name = place.model or "remote"
        self.detail = ""
        self._place = place
        self._on_change = on_change
        self._connection = Connection(place.key, patience)
        self._looking = asyncio.Lock()
        self._found: Found | None = None
        self._left_out: frozenset[str] = frozenset()  # fields the place does not want
        self._not_before = 0.0  # loop seconds; the place said so

    async def close(self) -> None:
        await self._connection.close()

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        try:
            self._check()
            async with aclosing(self._pieces(request)) as pieces:
                async for piece in pieces:
                    yield piece
        except BackendError as e:
            self._tell(str(e))
            raise
        self._tell("")

    def _check(self) -> None:
        pause_s = self._not_before - asyncio.get_running_loop().time()
        if pause_s > 0:
            raise Busy(pause_s)
        if self._place.key_env and not self._place.key:
            raise BackendError(NO_KEY)

    def _tell(self, detail: str) -> None:
        if detail != self.detail:
            self.detail = detail
            self._on_change()

    async def _pieces(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        clock = asyncio.get_running_loop().time
        asked_at, first_at = clock(), None
        async with self._opened(request) as (response, sent):
            code = CodeOnly.of(request.infill, asked_in_words=sent.in_words) if request.infill else None
            answer = Answer(request.id, request.max_tokens, code, sent.lead)
            most_bytes = SPARE_BYTES + BYTES_A_TOKEN * request.max_tokens
            async with aclosing(self._events(response, answer, most_bytes)) as events:
                async for data in events:
                    for piece in answer.take(data):
                        first_at = first_at or clock()
                        yield piece
        ended_at = clock()
        first_at = first_at or ended_at
        for last in answer.end((first_at - asked_at) * 1e3, (ended_at - first_at) * 1e3):
            yield last

    async def _events(self, response: aiohttp.ClientResponse, answer: Answer, most_bytes: int) -> AsyncGenerator[str]:
        """Until the answer is done or the stream ends. What may follow the last text is not waited for long."""
        stream, received = EventStream(), 0
        while not answer.done:
            read = self._connection.chunk if answer.reason is None else self._connection.last_chunk
            chunk = await read(response)
            received += len(chunk)
            if received > most_bytes:
                raise BackendError(ENDLESS)
            for data in stream.feed(chunk) if chunk else stream.finish():
                yield data
            if not chunk:
                return
        if not answer.cut_off:
            await self._connection.last_chunk(response)

    @asynccontextmanager
    async def _opened(self, request: Generate) -> AsyncIterator[tuple[aiohttp.ClientResponse, Sending]]:
        """The answer's head, and what was asked: again without what the place refuses, as far as that can be left out."""
        async with self._looking:
            self._found = self._found or await look(self._place, self._connection)
        known = self._found
        while True:
            sent = sending(self._place, known, request, self._left_out)
            response = await self._connection.request("POST", sent.url, sent.body)
            try:
                if response.status == 200:
                    yield response, sent
                    return
                body = await self._connection.whole(response, MOST_ERROR_BYTES)
            finally:
                response.close()
            known = self._learnt(known, request, response, body.decode("utf-8", "replace"))

    def _learnt(self, known: Found, request: Generate, response: aiohttp.ClientResponse, body: str) -> Found:
        """What to ask with the next time. Raises BackendError when nothing can be learnt from a refusal."""
        field = unknown_field(response.status, body)
        if field and field not in self._left_out:
            self._left_out |= {field}
            return known
        retry_after = response.headers.get("Retry-After", "")
        fault = refusal(response.status, body, retry_after=retry_after, filling_in=request.infill is not None)
        if isinstance(fault, Busy):
            self._not_before = asyncio.get_running_loop().time() + fault.pause_s
        if not isinstance(fault, CannotFillIn) or self._place.fim is not None or known.fim == "none":
            raise fault
        self._found = without_filling_in(known)
        return self._found
