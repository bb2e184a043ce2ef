"""What a place is, asked of it once: whether it is llama.cpp's server, which model it has, whose it is. Generates nothing."""

import msgspec
from msgspec import Struct, field

from offhook_server.backends.remote_errors import NO_MODEL, refusal
from offhook_server.backends.remote_http import Connection
from offhook_server.backends.remote_request import Found, found, is_loopback, root
from offhook_server.errors import BackendError
from offhook_server.settings import Place

MOST_BYTES = 4 * 1024 * 1024


class _Props(Struct):
    total_slots: int


class _Listed(Struct):
    id: str
    owned_by: str | None = None


class _List(Struct):
    data: list[_Listed] | None = field(default_factory=list)


async def look(place: Place, connection: Connection) -> Found:
    """A place on the net of which everything is told in the settings is not asked. Raises BackendError."""
    if place.model and place.fim not in (None, "infill") and not is_loopback(place):
        return Found(place.model, place.fim)
    slots = await _slots(place, connection)
    first = await _listed(place, connection)
    known = found(place, slots, first.id, first.owned_by or "")
    if not known.model:
        raise BackendError(NO_MODEL)
    return known


async def _slots(place: Place, connection: Connection) -> int:
    """Of a llama.cpp server, 0 of any other. Raises BackendError."""
    status, body = await _get(f"{root(place)}/props", connection)
    if status == 503:
        raise refusal(status, "loading")
    try:
        return msgspec.json.decode(body, type=_Props).total_slots if status == 200 else 0
    except msgspec.DecodeError:
        return 0


async def _listed(place: Place, connection: Connection) -> _Listed:
    """The model that the place lists first, or the chosen one. Raises BackendError."""
    status, body = await _get(f"{place.url}/models", connection)
    if status == 401:
        raise refusal(status, "")
    try:
        listed = (msgspec.json.decode(body, type=_List).data or []) if status == 200 else []
    except msgspec.DecodeError:
        listed = []
    chosen = (model for model in listed if model.id == place.model)
    return next(chosen, listed[0] if listed else _Listed(""))


async def _get(url: str, connection: Connection) -> tuple[int, bytes]:
    response = await connection.request("GET", url)
    try:
        return response.status, await connection.whole(response, MOST_BYTES)
    finally:
        response.close()
