"""Builds the server from its parts and takes it down again. Decides nothing."""

import asyncio
import socket
from collections.abc import Callable
from time import monotonic
from typing import Any

from aiohttp import web

from offhook_server.errors import UserError
from offhook_server.gateway.app import runner
from offhook_server.gateway.attendance import Attendance
from offhook_server.gateway.presence import Presence
from offhook_server.gateway.services import Services
from offhook_server.gateway.session import Parts
from offhook_server.gateway.sessions import Sessions
from offhook_server.lanes.workspace import Workspace
from offhook_server.models.index_client import IndexClient
from offhook_server.models.local import LocalModel
from offhook_server.settings import Settings
from offhook_wire.messages import Limits, ServerStatus
from offhook_wire.version import PRODUCT

HOST = "127.0.0.1"


class Server:
    """`left` is called when the last client has been gone for the linger time."""

    def __init__(self, settings: Settings, left: Callable[[], None]) -> None:
        self._settings = settings
        self._left = left
        self._presence = Presence(settings.runtime)
        self._model = LocalModel(settings.engine, settings.model, settings.models, self._status_changed)
        self.token = ""
        self.base_url = ""
        self._sessions: Sessions | None = None
        self._index: IndexClient | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> str | None:
        """Starts everything; the address of the server that runs already, where that one is wanted. Raises UserError."""
        self.token = self._presence.token()
        if not self._presence.claim() and self._settings.unless_running:
            return await self._other()
        listener = self._listen()
        self.base_url = f"http://{HOST}:{listener.getsockname()[1]}/v1"
        self._index = await IndexClient.start(None, lambda _: self._status_changed())
        await self._model.start()
        self._sessions = Sessions(self._parts(Workspace(self._index)))
        self._runner = runner(self._services())
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()
        self._presence.announce(self.base_url)
        return None

    async def close(self) -> None:
        if self._sessions:
            self._sessions.go_away(0)
        if self._runner:
            await self._runner.cleanup()
        if self._sessions:
            await self._sessions.close()
        await self._model.close()
        if self._index:
            await self._index.close()
        self._presence.leave()

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, self._settings.port))
        except OSError:
            listener.close()
            raise UserError(f"Port {self._settings.port} is taken; choose another, or 0 for any free one.") from None
        return listener

    async def _other(self) -> str:
        """The server that holds the place says where it is as soon as it is up."""
        for _ in range(200):
            other = self._presence.other()
            if other:
                return other.base_url
            await asyncio.sleep(0.05)
        raise UserError("A server of yours is starting but does not answer; end it and try again.")

    def _parts(self, workspace: Workspace) -> Parts:
        return Parts(
            workspace=workspace,
            small_model=lambda: self._model.ready,
            fetch_model=self._model.fetch,
            status=self._status,
            clock=monotonic,
            limits=Limits(),
        )

    def _services(self) -> Services:
        worker = self._model.worker
        return Services(
            models={"fast": worker, "deep": worker, self._model.name: worker},
            token=self.token,
            limits=Limits(),
            sessions=self._sessions,
            clock=monotonic,
            status=self._health,
            attendance=Attendance(self._settings.linger_s, self._left),
        )

    def _status(self) -> ServerStatus:
        index = self._index.status if self._index else None
        return ServerStatus(
            model=self._model.state,
            model_name=self._model.name,
            share=self._model.share,
            detail=self._model.detail,
            index_files=index.files if index else 0,
            index_ready=index.ready if index else False,
        )

    def _status_changed(self) -> None:
        if self._sessions:
            self._sessions.broadcast(self._status())

    def _health(self) -> dict[str, Any]:
        return {"status": "ok", "version": PRODUCT, "model": {"name": self._model.name, "state": self._model.state}}
