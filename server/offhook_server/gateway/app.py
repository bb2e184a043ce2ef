"""The one port: routes, the check on every request, and errors in OpenAI's form. No route decides anything here."""

import logging

from aiohttp import WSCloseCode, hdrs, web
from aiohttp.typedefs import Handler, Middleware

from offhook_server import metrics
from offhook_server.core import body
from offhook_server.core.response_store import ResponseStore
from offhook_server.errors import BackendError, PeerError
from offhook_server.gateway import auth, turn
from offhook_server.gateway.chat_http import HttpChat
from offhook_server.gateway.responses_http import HttpResponses
from offhook_server.gateway.services import Services
from offhook_server.gateway.status_http import HttpStatus
from offhook_server.gateway.websocket import CLOSE_S, Connection

log = logging.getLogger(__name__)

_FAULTS = {
    404: PeerError("Nothing is served at this path.", code="unknown_url", status=404),
    405: PeerError("This path does not take this method.", code="method_not_allowed", status=405),
    413: PeerError("The body is too long.", code="message_too_big", status=413),
}


def build(services: Services) -> web.Application:
    app = web.Application(middlewares=[_guard(services)], client_max_size=services.limits.max_message_bytes)
    store, connections = ResponseStore(), set[Connection]()
    responses, chat, status = HttpResponses(services, store), HttpChat(services), HttpStatus(services)

    async def connect(request: web.Request) -> web.StreamResponse:
        connection = Connection(services, store, request)
        connections.add(connection)
        try:
            return await connection.run()
        finally:
            connections.discard(connection)

    async def close_all(app: web.Application) -> None:
        for connection in connections:
            connection.end(WSCloseCode.SERVICE_RESTART)

    app.on_shutdown.append(close_all)
    app.router.add_get("/v1/responses", connect, allow_head=False)
    app.router.add_post("/v1/responses", responses.create)
    app.router.add_get("/v1/responses/{response_id}", responses.get, allow_head=False)
    app.router.add_delete("/v1/responses/{response_id}", responses.delete)
    app.router.add_post("/v1/chat/completions", chat.create)
    app.router.add_get("/v1/models", status.models, allow_head=False)
    app.router.add_get("/v1/models/{model}", status.model, allow_head=False)
    if services.sessions:
        app.router.add_post("/v1/offhook/suggest", services.sessions.suggest)
    app.router.add_get("/healthz", status.health)
    app.router.add_get("/metrics", status.figures, allow_head=False)
    return app


def runner(services: Services) -> web.AppRunner:
    """Runs `build(services)`: a client that goes away cancels what it asked for."""
    return web.AppRunner(build(services), handler_cancellation=True, access_log=None, shutdown_timeout=2 * CLOSE_S)


def _guard(services: Services) -> Middleware:
    """Lets in who may come in, and puts everything that is raised into an error body."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            auth.check(request, services)
            with services.attendance:
                response = await handler(request)
        except PeerError as fault:
            response = _error(fault)
        except BackendError as e:
            response = _error(turn.backend_fault(e))
            response.headers["x-should-retry"] = str(e.retryable).lower()  # the SDKs ask again by themselves
        except ConnectionResetError:
            raise  # the client left; there is nobody to tell
        except web.HTTPException as e:
            response = _error(_FAULTS.get(e.status) or PeerError(f"{e.reason}.", status=e.status))
            if hdrs.ALLOW in e.headers:
                response.headers[hdrs.ALLOW] = e.headers[hdrs.ALLOW]
        except Exception:
            log.exception("a request failed")
            response = _error(turn.mistake())
        resource = request.match_info.route.resource
        route = resource.canonical if resource else "none"
        metrics.http_requests.labels(route=route, status=str(response.status)).inc()
        return response

    return guard


def _error(fault: PeerError) -> web.Response:
    return web.json_response(body.error(fault), status=fault.status)
