"""Builds the server from its parts and takes it down again. Decides nothing."""

import asyncio
import os
import socket
from collections.abc import Callable
from time import monotonic
from typing import Any

from aiohttp import web
from msgspec import to_builtins

from offhook_server.core.engines import ROLES
from offhook_server.core.engines import Engines as EngineRules
from offhook_server.errors import UserError
from offhook_server.gateway.app import runner
from offhook_server.gateway.attendance import Attendance
from offhook_server.gateway.presence import Presence
from offhook_server.gateway.services import Services
from offhook_server.gateway.session import Parts
from offhook_server.gateway.sessions import Sessions
from offhook_server.lanes.workspace import Workspace
from offhook_server.models.engines import Engines
from offhook_server.models.index_client import IndexClient
from offhook_server.models.seats import model, rules
from offhook_server.settings import Settings
from offhook_wire.messages import Limits, ServerStatus, Usage
from offhook_wire.version import PRODUCT

HOST = "127.0.0.1"


class Server:
    """`left` is called when the last client has been gone for the linger time."""

    def __init__(self, settings: Settings, left: Callable[[], None]) -> None:
        self._settings = settings
        self._left = left
        self._presence = Presence(settings.runtime)
        self._engines = Engines(
            EngineRules({role: rules(settings, role) for role in ROLES}, quiet=settings.quiet),
            lambda role, report: model(settings, role, report),
            self._status_changed,
        )
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
        self._engines.start()
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
        await self._engines.close()
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
            small_model=self._engines.small,
            fetch_model=self._engines.fetch,
            status=self._status,
            clock=monotonic,
            limits=Limits(),
            deep_model=lambda: self._engines.deep_lane,
            stop_model=self._engines.stop,
            warm=self._engines.warm,
            automatic=lambda: self._engines.automatic,
            quiet=self._engines.quiet,
            usage=self._usage,
        )

    def _services(self) -> Services:
        fast, deep = self._engines.fast, self._engines.deep
        return Services(
            models={"fast": fast, "deep": self._engines.deep_lane, fast.name: fast, deep.name: deep},
            token=self.token,
            limits=Limits(),
            sessions=self._sessions,
            clock=monotonic,
            status=self._health,
            attendance=Attendance(self._settings.linger_s, self._left),
        )

    def _status(self) -> ServerStatus:
        index = self._index.status if self._index else None
        fast = self._engines.status("fast")
        return ServerStatus(
            model="ready" if fast.state == "asleep" else fast.state,
            model_name=fast.name,
            share=fast.share,
            detail=fast.detail,
            index_files=index.files if index else 0,
            index_ready=index.ready if index else False,
            notice=self._engines.notice,
            models=[self._engines.status(role) for role in ROLES],
        )

    def _status_changed(self) -> None:
        if self._sessions:
            self._sessions.broadcast(self._status())

    def _usage(self) -> Usage:
        return self._engines.usage({"index": self._index.pid if self._index else None, "server": os.getpid()})

    def _health(self) -> dict[str, Any]:
        models = {role: {"name": self._engines.models[role].name, "state": self._engines.state(role)} for role in ROLES}
        return {"status": "ok", "version": PRODUCT, "models": models, "usage": to_builtins(self._usage())}
