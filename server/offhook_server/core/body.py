"""A JSON body becomes a typed request, or an error in OpenAI's form that names the field. Not what the request means."""

from typing import Any, TypeVar

import msgspec

from offhook_server.errors import PeerError

T = TypeVar("T")


def read(decoder: msgspec.json.Decoder[T], raw: bytes | str) -> T:
    """Raises PeerError: `invalid_json`, or `invalid_type` with the path of the field."""
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as e:
        what, _, path = str(e).partition(" - at `$")
        raise PeerError(f"{what}.", code="invalid_type", param=path.strip("`.") or None) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise PeerError("The body could not be read as JSON.", code="invalid_json") from None


def error(fault: PeerError) -> dict[str, Any]:
    """The body of an HTTP error, and of the chat stream's."""
    kind = "server_error" if fault.status >= 500 else "invalid_request_error"
    return {"error": {"message": str(fault), "type": kind, "code": fault.code, "param": fault.param}}


def error_event(fault: PeerError, stream_id: str | None) -> dict[str, Any]:
    """The WebSocket's nested shape; the default lane has no `stream_id`."""
    event: dict[str, Any] = {"type": "error", "status": fault.status, **error(fault)}
    return event if stream_id is None else {**event, "stream_id": stream_id}


def flat_error_event(fault: PeerError, sequence_number: int) -> dict[str, Any]:
    """The shape of an `error` event over SSE."""
    return {
        "type": "error",
        "code": fault.code,
        "message": str(fault),
        "param": fault.param,
        "sequence_number": sequence_number,
    }
