"""What the gateway is given, and what it asks of a session. Built by the wiring; nothing is decided here."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web
from msgspec import Struct

from offhook_server.backends.base import Model
from offhook_server.errors import PeerError
from offhook_wire.messages import Limits

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Outbox(Protocol):
    def send(self, message: Struct | bytes) -> None:
        """Hands over one event, or one frame that was encoded before. Never blocks."""


class Session(Protocol):
    """The `offhook:` side of one connection."""

    def receive(self, frame: bytes, received_at: float) -> None:
        """Raises PeerError, which is answered; the connection goes on."""

    def go_away(self, time_left_ms: int) -> None:
        """The connection is about to reach its greatest age."""

    def detach(self) -> None:
        """The connection has ended."""


class SessionFactory(Protocol):
    def attach(self, outbox: Outbox) -> Session: ...

    async def suggest(self, request: web.Request) -> web.StreamResponse:
        """One suggestion without a WebSocket."""


@dataclass(frozen=True)
class Services:
    """`models` by the name a client asks for, in the order they are listed. `clock`: monotonic seconds.
    `attendance` is entered for the length of every request and WebSocket."""

    models: Mapping[str, Model]
    token: str
    limits: Limits
    sessions: SessionFactory | None
    clock: Callable[[], float]
    status: Callable[[], dict[str, Any]]
    attendance: AbstractContextManager[None] = field(default_factory=nullcontext)
    hosts: frozenset[str] = LOOPBACK_NAMES

    def model(self, name: str) -> Model:
        """Raises PeerError."""
        model = self.models.get(name)
        if model is None:
            raise PeerError(
                f"There is no such model here. Ask for one of: {', '.join(self.models)}.",
                code="model_not_found",
                param="model",
                status=404,
            )
        return model
