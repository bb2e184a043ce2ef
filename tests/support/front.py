"""Something that stands before a server and takes no WebSocket, as a proxy may. HTTP it passes on."""

import asyncio

import aiohttp
from aiohttp import web

from offhook_app.transport.line_driver import Server
from offhook_app.transport.server_process import Endpoint


class Front:
    """`async with` it. Answers the first upgrade with `status`, or with nothing."""

    def __init__(self, server: Server, status: int | None) -> None:
        self._server = server
        self._status = status
        self.upgrades = 0
        self.base_url = ""

    async def __aenter__(self) -> "Front":
        app = web.Application()
        app.router.add_get("/v1/responses", self._upgrade)
        app.router.add_post("/v1/{path:.+}", self._pass_on)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def endpoint(self) -> Endpoint:
        return Endpoint(self.base_url, (await self._server.endpoint()).token)

    async def _upgrade(self, request: web.Request) -> web.StreamResponse:
        self.upgrades += 1
        if self._status is None:
            await asyncio.Event().wait()
        return web.Response(status=self._status or 500)

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        endpoint = await self._server.endpoint()
        headers = {"Authorization": request.headers["Authorization"]}
        url = f"{endpoint.base_url}/{request.match_info['path']}"
        response = web.StreamResponse()
        async with (
            aiohttp.ClientSession() as http,
            http.post(url, data=await request.read(), headers=headers) as answer,
        ):
            response.set_status(answer.status)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
        return response
