"""Messages between our own processes come out as they went in, however the stream is cut."""

from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_wire import frames
from offhook_wire.frames import MAX_FRAME_BYTES, FrameTooLong, Unpacker, pack

pytestmark = pytest.mark.pure


class Say(msgspec.Struct, tag=True):
    text: str


class Stop(msgspec.Struct, tag=True):
    id: int


Message = Say | Stop
MESSAGES = st.lists(st.builds(Say, st.text(st.characters(exclude_categories=["Cs"]))) | st.builds(Stop, st.integers(0)))


def unpacker() -> Unpacker[Message]:
    return Unpacker(cast("type[Message]", Message))


@given(MESSAGES.filter(lambda m: all(not isinstance(x, Stop) or x.id < 2**63 for x in m)), st.integers(1, 9))
def test_messages_survive_any_cutting_of_the_stream(messages: list[Message], size: int) -> None:
    stream = b"".join(pack(m) for m in messages)
    unpack = unpacker()
    pieces = [stream[i : i + size] for i in range(0, len(stream), size)]
    assert [m for piece in pieces for m in unpack.feed(piece)] == messages


def test_a_frame_is_its_length_and_then_msgpack() -> None:
    frame = pack(Stop(7))
    assert frame[:4] == (len(frame) - 4).to_bytes(4, "little")
    assert msgspec.msgpack.decode(frame[4:]) == {"type": "Stop", "id": 7}


def test_a_length_over_the_limit_is_refused_before_its_bytes_come() -> None:
    with pytest.raises(FrameTooLong):
        list(unpacker().feed((MAX_FRAME_BYTES + 1).to_bytes(4, "little")))


def test_what_the_other_end_would_refuse_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_FRAME_BYTES", 16)
    with pytest.raises(FrameTooLong):
        pack(Say("x" * 17))


def test_a_frame_that_is_no_message_ends_the_connection() -> None:
    with pytest.raises(msgspec.DecodeError):
        list(unpacker().feed(b"\x01\x00\x00\x00\xc1"))
