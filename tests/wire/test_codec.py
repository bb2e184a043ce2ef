"""Frames become messages or BadFrame, never anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_wire import codec
from offhook_wire.messages import Cancel, Ping, Pong

pytestmark = pytest.mark.pure

DEEP = b'{"type":"offhook:pong","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
BAD = [b"", b"{", b"[1]", b'"x"', b'{"type":7}', b"{}", b"\xff", b'{"type":"\xff"}', DEEP, '{"type":"\ud800"}']


@pytest.mark.parametrize("frame", BAD, ids=range(len(BAD)))
def test_what_is_no_event_is_a_bad_frame(frame: bytes | str) -> None:
    for decode in (codec.kind, codec.decode_client, codec.decode_server):
        with pytest.raises(codec.BadFrame):
            decode(frame)


@pytest.mark.parametrize("frame", [b"", b"[1]", b"\xff", DEEP])
def test_what_is_no_object_is_a_bad_frame(frame: bytes) -> None:
    with pytest.raises(codec.BadFrame):
        codec.decode_object(frame)


def test_a_known_type_of_another_shape_is_a_bad_frame() -> None:
    with pytest.raises(codec.BadFrame, match="t0"):
        codec.decode_client(b'{"type":"offhook:ping","id":1}')
    with pytest.raises(codec.BadFrame, match="id"):
        codec.decode_server(b'{"type":"offhook:pong","id":"one","t0":0,"t1":0,"t2":0}')


def test_a_client_ignores_types_it_does_not_know_and_a_server_does_not() -> None:
    frame = b'{"type":"offhook:tomorrow","sequence_number":1}'
    assert codec.decode_server(frame) is None
    assert codec.kind(frame) == "offhook:tomorrow"
    with pytest.raises(codec.BadFrame):
        codec.decode_client(frame)


def test_fields_nobody_knows_are_ignored() -> None:
    assert codec.decode_client(b'{"type":"offhook:cancel","requestId":"q_7","why":"x"}') == Cancel("q_7")


def test_text_and_bytes_say_the_same() -> None:
    ping = Ping(1, 2.5)
    assert codec.decode_client(codec.encode(ping)) == codec.decode_client(codec.encode(ping).decode()) == ping


def test_any_object_is_read_as_it_is() -> None:
    assert codec.decode_object(codec.encode({"a": [1, None]})) == {"a": [1, None]}


@given(st.binary(max_size=60) | st.binary(max_size=30).map(lambda b: codec.encode(Pong(1, 0, 0, 0))[:-9] + b))
def test_no_bytes_do_worse_than_a_bad_frame(frame: bytes) -> None:
    for decode in (codec.decode_client, codec.decode_server, codec.decode_object, codec.kind):
        try:
            decode(frame)
        except codec.BadFrame:
            pass
