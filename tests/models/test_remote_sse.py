"""Server-sent events come out the same wherever their bytes were cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.backends.remote_sse import MOST_EVENT_BYTES, EventStream
from offhook_server.errors import BackendError

pytestmark = pytest.mark.pure


def read(*chunks: bytes) -> list[str]:
    stream = EventStream()
    return [data for chunk in chunks for data in stream.feed(chunk)] + stream.finish()


@pytest.mark.parametrize(
    ("sent", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data:a\r\n\r\ndata: b\r\rdata: c", ["a", "b", "c"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b": keep-alive\n\n: keep-alive\n\ndata: a\n\n", ["a"]),
        (b": OPENROUTER PROCESSING\n\nevent: x\nid: 7\nretry: 9\ndata: a\n\n", ["a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b"data:  a \n\n", [" a "]),
        (b"\n\n\ndata: a\n\n\n", ["a"]),
        ("data: 日本語 🦊\n\n".encode(), ["日本語 🦊"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b'{"error": "x"}', []),
        (b"", []),
    ],
)
def test_each_event_once_at_every_cut(sent: bytes, events: list[str]) -> None:
    assert read(sent) == events
    for cut in range(len(sent) + 1):
        assert read(sent[:cut], sent[cut:]) == events
    assert read(*(sent[n : n + 1] for n in range(len(sent)))) == events


@given(
    st.lists(st.text('a:{}"é🦊 \t', max_size=9), max_size=5),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.data(),
)
def test_data_arrive_as_they_were_sent(said: list[str], end: bytes, data: st.DataObject) -> None:
    sent = b"".join(b"data: " + text.encode() + end + b": still here" + end + end for text in said)
    cuts = data.draw(st.sets(st.integers(0, len(sent))))
    chunks = [sent[a:b] for a, b in pairwise(sorted({0, len(sent), *cuts}))]
    assert read(*chunks) == said


@pytest.mark.parametrize("chunk", [b"x" * 4096, b"data: " + b"x" * 4096 + b"\n"])
def test_what_never_ends_is_not_kept(chunk: bytes) -> None:
    with pytest.raises(BackendError, match="without end"):
        read(*[chunk] * (MOST_EVENT_BYTES // 4096 + 1))
