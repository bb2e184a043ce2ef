"""/v1/responses over HTTP: one response as JSON or as server-sent events, fetched and deleted later. No lanes.

A client that goes away cancels its response: the server is run with `handler_cancellation`.
"""

import logging
from contextlib import aclosing

from aiohttp import web

from offhook_server import metrics
from offhook_server.core import body
from offhook_server.core.create import read_create
from offhook_server.core.response_store import ResponseStore, Stored
from offhook_server.core.responses import TERMINAL, Response
from offhook_server.errors import BackendError, PeerError
from offhook_server.gateway.services import Services
from offhook_server.gateway.sse import EventStream
from offhook_server.gateway.turn import Turn, begin, mistake, new_id, wall_s

log = logging.getLogger(__name__)


class HttpResponses:
    def __init__(self, services: Services, store: ResponseStore) -> None:
        self._services = services
        self._store = store

    async def create(self, request: web.Request) -> web.StreamResponse:
        received_at = self._services.clock()
        create = read_create(await request.read())
        response = Response(create, new_id("resp"), wall_s())
        turn = begin(self._services, self._store, create, response, None)
        try:
            return await (self._stream(request, turn, received_at) if create.stream else self._whole(turn))
        finally:
            status = response.status if response.ended else "abandoned"
            metrics.responses.labels(transport="http", status=status).inc()

    async def get(self, request: web.Request) -> web.Response:
        return web.json_response(self._find(request).response)

    async def delete(self, request: web.Request) -> web.Response:
        response_id = self._find(request).response["id"]
        self._store.delete(response_id)
        return web.json_response({"id": response_id, "object": "response", "deleted": True})

    def _find(self, request: web.Request) -> Stored:
        stored = self._store.get(request.match_info["response_id"])
        if stored is None:
            raise PeerError(
                "There is no such response: it was not stored, or it has left the memory.",
                code="response_not_found",
                param="response_id",
                status=404,
            )
        return stored

    async def _whole(self, turn: Turn) -> web.Response:
        turn.response.started()
        async with aclosing(turn.events()) as events:
            async for _ in events:
                pass
        turn.keep(self._store)
        return web.json_response(turn.response.resource())

    async def _stream(self, request: web.Request, turn: Turn, received_at: float) -> web.StreamResponse:
        stream = await EventStream.open(request)
        try:
            for event in turn.response.started():
                await stream.send(event)
            waits_for_output = True
            async with aclosing(turn.events()) as events:
                async for event in events:
                    if event["type"] in TERMINAL:
                        turn.keep(self._store)
                    await stream.send(event)
                    if waits_for_output:
                        waits_for_output = False
                        waited_s = self._services.clock() - received_at
                        metrics.first_output_seconds.labels(transport="sse").observe(waited_s)
        except BackendError as e:
            for event in turn.response.failed(str(e)):
                await stream.send(event)
        except ConnectionResetError:
            raise
        except Exception:
            log.exception("a response failed")
            await stream.send(body.flat_error_event(mistake(), turn.response.sequence_number))
        return await stream.end()
