"""The driver of one WebSocket at /v1/responses: frames in and out, its age, its end. What an event means is elsewhere.

reader ─▶ `offhook:…` ─▶ session        ┐
       ─▶ anything else ─▶ Responses    ┴─▶ outbox ─▶ writer
the first `end()` decides how the connection ends: the client left, it is too old, too slow, the server goes down
"""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from msgspec import Struct

from offhook_server import metrics
from offhook_server.core import body, outbox
from offhook_server.core.response_store import ResponseStore
from offhook_server.errors import PeerError
from offhook_server.gateway.auth import SUBPROTOCOL, subprotocols
from offhook_server.gateway.responses_ws import WebSocketResponses
from offhook_server.gateway.services import Services, Session
from offhook_wire import codec

log = logging.getLogger(__name__)

CLOSE_S = 2.0  # for the last frames and the client's own close
PING_S = 20.0
WARNING_S = 60.0
EXTENSION = "offhook:"


class Connection:
    def __init__(self, services: Services, store: ResponseStore, request: web.Request) -> None:
        offered = subprotocols(request)
        limits = services.limits
        self._services = services
        self._store = store
        self._request = request
        self._socket = web.WebSocketResponse(
            protocols=[SUBPROTOCOL] if offered else [],
            compress=False,
            heartbeat=PING_S,
            timeout=CLOSE_S,
            # room to read a frame that is somewhat too long and say so; one over this just ends the connection
            max_msg_size=2 * limits.max_message_bytes,
            decode_text=False,
        )
        self._outbox = outbox.Outbox()
        self._to_write = asyncio.Event()
        self._session: Session | None = None
        self._ending: asyncio.Future[tuple[int, PeerError | None]] = asyncio.get_running_loop().create_future()

    async def run(self) -> web.WebSocketResponse:
        await self._socket.prepare(self._request)
        metrics.connections.inc()
        age_s, loop = self._services.limits.ttl_seconds, asyncio.get_running_loop()
        timers = [loop.call_later(age_s, self._too_old), loop.call_later(age_s - WARNING_S, self._warn)]
        try:
            async with asyncio.TaskGroup() as tasks:
                responses = WebSocketResponses(self._services, self._store, tasks, self.send)
                reader, writer = tasks.create_task(self._read(responses)), tasks.create_task(self._write())
                try:
                    code, fault = await self._ending
                finally:
                    responses.close()
                    reader.cancel()
                    if self._session:
                        self._session.detach()
                await self._close(writer, code, fault)
        finally:
            self.end(WSCloseCode.ABNORMAL_CLOSURE)
            metrics.closed_connections.labels(code=str(int(self._ending.result()[0]))).inc()
            metrics.connections.dec()
            metrics.merged_deltas.inc(self._outbox.merged)
            for timer in timers:
                timer.cancel()
        return self._socket

    def send(self, message: Struct | dict[str, Any] | bytes) -> None:
        """Never blocks. A client that reads too slowly loses the connection, never a part of what it reads."""
        if self._ending.done():
            return
        if not self._outbox.put(message):
            self.end(WSCloseCode.TRY_AGAIN_LATER)
        self._to_write.set()

    def end(self, code: int, fault: PeerError | None = None) -> None:
        """The first call decides; `fault` is the last event."""
        if not self._ending.done():
            self._ending.set_result((code, fault))

    def _too_old(self) -> None:
        minutes = self._services.limits.ttl_seconds // 60
        fault = PeerError(
            f"Responses websocket connection limit reached ({minutes} minutes). "
            "Create a new websocket connection to continue.",
            code="websocket_connection_limit_reached",
        )
        self.end(WSCloseCode.GOING_AWAY, fault)

    def _warn(self) -> None:
        if self._session:
            self._session.go_away(int(WARNING_S * 1000))

    async def _read(self, responses: WebSocketResponses) -> None:
        try:
            async for message in self._socket:
                received_at = self._services.clock()
                if message.type is WSMsgType.TEXT:
                    self._receive(message.data, received_at, responses)
                elif message.type is WSMsgType.BINARY:
                    self._answer(PeerError("Events are text frames; this one was binary.", code="invalid_event"))
        except Exception:
            log.exception("an event broke its connection")
            self.end(WSCloseCode.INTERNAL_ERROR)
        self.end(self._socket.close_code or WSCloseCode.ABNORMAL_CLOSURE)

    def _receive(self, frame: bytes, received_at: float, responses: WebSocketResponses) -> None:
        most_bytes = self._services.limits.max_message_bytes
        if len(frame) > most_bytes:
            fault = PeerError(f"An event has at most {most_bytes} bytes.", code="message_too_big", status=413)
            self.end(WSCloseCode.MESSAGE_TOO_BIG, fault)
            return
        try:
            kind = codec.kind(frame)
        except codec.BadFrame:
            self._answer(PeerError("An event is a JSON object with a 'type'.", code="invalid_event", param="type"))
            return
        if not kind.startswith(EXTENSION) or self._services.sessions is None:
            responses.receive(kind, frame, received_at)
            return
        self._session = self._session or self._services.sessions.attach(self)
        try:
            self._session.receive(frame, received_at)
        except PeerError as fault:
            self._answer(fault)

    def _answer(self, fault: PeerError) -> None:
        self.send(body.error_event(fault, None))

    async def _write(self) -> None:
        """Until the connection ends and nothing waits any more, or the client has gone."""
        with suppress(ConnectionResetError):
            while not self._ending.done() or self._outbox.size_bytes:
                await self._to_write.wait()
                self._to_write.clear()
                while (frame := self._outbox.take()) is not None:
                    await self._socket.send_frame(frame, WSMsgType.TEXT)

    async def _close(self, writer: asyncio.Task[None], code: int, fault: PeerError | None) -> None:
        if fault:
            self._outbox.put(body.error_event(fault, None))
        self._to_write.set()
        if not self._outbox.overflowed:
            await asyncio.wait([writer], timeout=CLOSE_S)
        writer.cancel()
        await self._socket.close(code=code, drain=False)
        if self._outbox.overflowed and self._request.transport:
            self._request.transport.abort()  # what it never read is not kept for it
