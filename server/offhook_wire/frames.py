"""Length-prefixed frames between our own processes: 4 bytes little-endian length, then msgpack of one tagged struct."""

from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

MAX_FRAME_BYTES = 16 * 1024 * 1024
_encoder = msgspec.msgpack.Encoder()
M = TypeVar("M")


class FrameTooLong(ValueError):
    """A length over MAX_FRAME_BYTES: the other end is not one of ours, or the stream lost step."""


def pack(message: msgspec.Struct) -> bytes:
    body = _encoder.encode(message)
    if len(body) > MAX_FRAME_BYTES:
        raise FrameTooLong(f"{len(body)} bytes")
    return len(body).to_bytes(4, "little") + body


class Unpacker(Generic[M]):
    """Bytes in, messages out. `kind` is the union of structs that may come."""

    def __init__(self, kind: type[M]) -> None:
        self._decoder: msgspec.msgpack.Decoder[M] = msgspec.msgpack.Decoder(kind)
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[M]:
        """Raises FrameTooLong and msgspec.DecodeError; either ends the connection."""
        self._buffer += data
        while len(self._buffer) >= 4:
            length = int.from_bytes(self._buffer[:4], "little")
            if length > MAX_FRAME_BYTES:
                raise FrameTooLong(f"{length} bytes")
            if len(self._buffer) < 4 + length:
                return
            body = bytes(self._buffer[4 : 4 + length])
            del self._buffer[: 4 + length]
            yield self._decoder.decode(body)
