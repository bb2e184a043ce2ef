"""Who may speak to this server: the holder of the token, from this machine, not led here by a web page.

Checked before anything else on every request and every upgrade: the Host against DNS rebinding, the Origin against
pages that open sockets to this machine, then the token. A page cannot set the Authorization header of a WebSocket, so
OpenAI's subprotocol form is taken too, beside `realtime`.
"""

import hmac
from urllib.parse import urlsplit

from aiohttp import hdrs, web

from offhook_server.errors import PeerError
from offhook_server.gateway.services import Services

SUBPROTOCOL = "realtime"
OPEN_PATHS = frozenset({"/healthz"})
_KEY_PREFIX = "openai-insecure-api-key."


def check(request: web.Request, services: Services) -> None:
    """Raises PeerError: 403 or 401."""
    if _host(f"//{request.headers.get(hdrs.HOST, '')}") not in services.hosts:
        raise PeerError(
            "This server answers to the names of this machine only. Use http://127.0.0.1.",
            code="forbidden_host",
            status=403,
        )
    origin = request.headers.get(hdrs.ORIGIN)
    if origin is not None and _host(origin) not in services.hosts:
        raise PeerError("Pages from other places may not use this server.", code="forbidden_origin", status=403)
    offered = subprotocols(request)
    if offered and SUBPROTOCOL not in offered:
        # the library would write the names that the client offered, a key maybe, to the log
        raise PeerError(f"The only subprotocol here is '{SUBPROTOCOL}'.", code="invalid_subprotocol")
    if request.path not in OPEN_PATHS and not _knows(services.token, request, offered):
        raise PeerError(
            "Incorrect or missing API key. Send the server's token as 'Authorization: Bearer …'.",
            code="invalid_api_key",
            status=401,
        )


def subprotocols(request: web.Request) -> list[str]:
    offered = request.headers.get(hdrs.SEC_WEBSOCKET_PROTOCOL, "")
    return [name.strip() for name in offered.split(",") if name.strip()]


def _host(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        return None if parts.port == 0 else parts.hostname
    except ValueError:  # a port or a bracket that is none
        return None


def _knows(token: str, request: web.Request, offered: list[str]) -> bool:
    scheme, _, given = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    keys = [given.strip()] if scheme.lower() == "bearer" else []
    keys += [name.removeprefix(_KEY_PREFIX) for name in offered if name.startswith(_KEY_PREFIX)]
    return any(hmac.compare_digest(key.encode("utf-8", "surrogatepass"), token.encode()) for key in keys)
