"""What this server has and how it is: the models, its health, its figures. Changes nothing."""

from typing import Any

import prometheus_client
from aiohttp import web

from offhook_server import metrics
from offhook_server.gateway.services import Services
from offhook_server.gateway.turn import wall_s


class HttpStatus:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._started_s = wall_s()

    async def models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [self._model(name) for name in self._services.models]})

    async def model(self, request: web.Request) -> web.Response:
        name = request.match_info["model"]
        self._services.model(name)
        return web.json_response(self._model(name))

    async def health(self, request: web.Request) -> web.Response:
        return web.json_response(self._services.status())

    async def figures(self, request: web.Request) -> web.Response:
        figures = prometheus_client.generate_latest(metrics.registry)
        return web.Response(body=figures, headers={"Content-Type": prometheus_client.CONTENT_TYPE_LATEST})

    def _model(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": self._started_s, "owned_by": "offhook"}
