"""The only place where frames become messages and back. JSON in UTF-8, msgspec's tagged unions."""

from typing import Any, TypeVar

import msgspec

from offhook_wire.messages import ClientEvent, ServerEvent

M = TypeVar("M")
_client: msgspec.json.Decoder[ClientEvent] = msgspec.json.Decoder(ClientEvent)
_server: msgspec.json.Decoder[ServerEvent] = msgspec.json.Decoder(ServerEvent)
_encoder = msgspec.json.Encoder()
_object = msgspec.json.Decoder(dict[str, Any])


class Kind(msgspec.Struct):
    type: str


_kind = msgspec.json.Decoder(Kind)


class BadFrame(ValueError):
    """A frame that is not JSON, not an object with a `type`, or not of the shape its type has."""


def encode(message: msgspec.Struct | dict[str, Any]) -> bytes:
    return _encoder.encode(message)


def kind(frame: bytes | str) -> str:
    """The `type` of a frame. Raises BadFrame."""
    return _decode(_kind, frame).type


def decode_client(frame: bytes | str) -> ClientEvent:
    """An `offhook:` event from a client. Raises BadFrame."""
    return _decode(_client, frame)


def decode_server(frame: bytes | str) -> ServerEvent | None:
    """An event from the server; None for a type this side does not know, which is not a fault. Raises BadFrame."""
    return _decode(_server, frame) if kind(frame) in _known else None


def decode_object(frame: bytes | str) -> dict[str, Any]:
    """Any JSON object. Raises BadFrame."""
    return _decode(_object, frame)


def _decode(decoder: msgspec.json.Decoder[M], frame: bytes | str) -> M:
    try:
        return decoder.decode(frame)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as e:  # recursion: a hundred thousand brackets
        raise BadFrame(f"not an event: {e}") from None


_known = frozenset(str(t.__struct_config__.tag) for t in ServerEvent.__args__)
