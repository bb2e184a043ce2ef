"""The sessions of this server, by token, and what a socket or a lone request sees of them. Not what a session does."""

import asyncio

from aiohttp import web
from msgspec import Struct

from offhook_server.errors import PeerError
from offhook_server.gateway.services import Outbox
from offhook_server.gateway.session import CodeSession, Parts
from offhook_server.gateway.suggest_http import HttpSuggest
from offhook_wire import codec
from offhook_wire.messages import SessionGoAway, SessionHello
from offhook_wire.text import ENCODINGS, Encoding

RESUME_S = 60.0
MOST_SESSIONS = 64


class Sessions:
    """The sessions of this server, by token. `attach` is what the WebSocket driver knows of them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._by_token: dict[str, CodeSession] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._over_http = HttpSuggest(parts)

    async def suggest(self, request: web.Request) -> web.StreamResponse:
        return await self._over_http.create(request)

    def attach(self, outbox: Outbox) -> "Connection":
        return Connection(self, outbox)

    def greet(self, hello: SessionHello, outbox: Outbox) -> CodeSession:
        """Takes up the session the client names, or begins one."""
        session = self._by_token.get(hello.resume.token) if hello.resume else None
        if session is None:
            while len(self._by_token) >= MOST_SESSIONS:
                self.end(next(iter(self._by_token.values())))
            session = CodeSession(self._parts, _agree(hello.capabilities.position_encodings))
            self._by_token[session.token] = session
            session.ready(outbox, None)
        else:
            if session.expiry:
                session.expiry.cancel()
            session.ready(outbox, hello.resume)
        session.open_folders(hello.workspace_folders)
        return session

    def detach(self, session: CodeSession, outbox: Outbox) -> None:
        """The socket went; the session waits for the client to come back."""
        if session.outbox is not outbox:
            return  # taken up on another socket already
        session.outbox = None
        session.expiry = asyncio.get_running_loop().call_later(RESUME_S, self.end, session)

    def end(self, session: CodeSession) -> None:
        self._by_token.pop(session.token, None)
        task = asyncio.create_task(session.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def broadcast(self, event: Struct) -> None:
        for session in self._by_token.values():
            session.emit(event)

    def go_away(self, time_left_ms: int) -> None:
        self.broadcast(SessionGoAway(time_left_ms, "shutdown"))

    async def close(self) -> None:
        for session in list(self._by_token.values()):
            if session.expiry:
                session.expiry.cancel()
            self.end(session)
        await asyncio.gather(*self._closing)


class Connection:
    """One socket's view of a session."""

    def __init__(self, sessions: Sessions, outbox: Outbox) -> None:
        self._sessions = sessions
        self._outbox = outbox
        self._session: CodeSession | None = None

    def receive(self, frame: bytes, received_at: float) -> None:
        """Raises PeerError; the connection goes on."""
        try:
            event = codec.decode_client(frame)
        except codec.BadFrame as e:
            raise PeerError(str(e), code="invalid_event") from None
        if self._session is None:
            if not isinstance(event, SessionHello):
                raise PeerError("Say offhook:session.hello first.", code="not_greeted", param="type")
            self._session = self._sessions.greet(event, self._outbox)
        else:
            self._session.receive(event, len(frame), received_at)

    def go_away(self, time_left_ms: int) -> None:
        """The connection is about to reach its greatest age."""
        if self._session:
            self._session.emit(SessionGoAway(time_left_ms, "max_age"))

    def detach(self) -> None:
        if self._session:
            self._sessions.detach(self._session, self._outbox)


def _agree(offered: list[str]) -> Encoding:
    """The client's first choice that is known here; utf-16 must always do (LSP 3.17)."""
    return next((known for name in offered for known in ENCODINGS if known == name), "utf-16")
