"""A model at another place, over real sockets: asked, cancelled, refused, cut off, and never told more than it should."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import trustme

from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.backends.remote import RemoteModel
from offhook_server.backends.remote_errors import (
    CERTIFICATE,
    CUT,
    ENDLESS,
    NO_KEY,
    NO_MODEL,
    NOBODY,
    NONSENSE,
    TALK,
)
from offhook_server.backends.remote_found import look
from offhook_server.backends.remote_http import PATIENCE, Connection, Patience
from offhook_server.backends.remote_request import Found
from offhook_server.core.fim import Infill
from offhook_server.errors import BackendError, UserError
from offhook_server.settings import Fim, Place
from support.fake_place import DONE, Endless, FakePlace, Handler, Silent, chat, event, says, streams, text, usage

pytestmark = pytest.mark.loopback

LIMIT_S = 20.0
IMPATIENT = Patience(first_byte_s=0.2, between_bytes_s=0.2)
HELLO = Generate(7, messages=[{"role": "user", "content": "MARKER hello"}])
GAP = Generate(7, infill=Infill("MARKER = (a", ")\n", "this.py", (), lead="a"), max_tokens=24, stop=["\n"])
CHAT = streams(chat("", role="assistant"), chat("Hel"), chat("lo"), chat(finish="stop"), usage(9, 2, 5), DONE)
MODELS = says(200, {"object": "list", "data": [{"id": "first", "owned_by": "x"}, {"id": "m", "owned_by": "vllm"}]})
SLOTS = says(200, {"total_slots": 2, "default_generation_settings": {}})


@asynccontextmanager
async def model(
    routes: Mapping[str, Handler | list[Handler]], *, patience: Patience | None = None, **settings: Any
) -> AsyncIterator[tuple[RemoteModel, FakePlace]]:
    async with FakePlace({"/v1/models": MODELS, **routes}) as place:
        remote = RemoteModel(Place(place.url, **({"model": "m"} | settings)), patience=patience or Patience())
        try:
            yield remote, place
        finally:
            await remote.close()


async def answer(remote: RemoteModel, request: Generate = HELLO) -> list[Piece | Finished]:
    async with asyncio.timeout(LIMIT_S), aclosing(remote.stream(request)) as pieces:
        return [piece async for piece in pieces]


async def fault(remote: RemoteModel, request: Generate = HELLO) -> BackendError:
    with pytest.raises(BackendError) as raised:
        await answer(remote, request)
    assert "MARKER" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert remote.detail == str(raised.value)
    return raised.value


def said(pieces: list[Piece | Finished]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Delta))


# -- asked


async def test_chats_over_one_kept_connection() -> None:
    async with model({"/v1/chat/completions": CHAT}, key_env="KEY", key="sk-1") as (remote, place):
        for _ in range(3):
            pieces = await answer(remote)
            assert said(pieces) == "Hello"
            last = pieces[-1]
            assert isinstance(last, Finished)
            assert (last.id, last.reason, last.prompt_tokens, last.cached_tokens, last.output_tokens) == (
                7,
                "stop",
                9,
                5,
                2,
            )
        assert [asked.path for asked in place.asked] == ["/props", "/v1/models", *["/v1/chat/completions"] * 3]
        assert {asked.authorization for asked in place.asked} == {"Bearer sk-1"}
        assert len({asked.connection for asked in place.asked}) == 1


async def test_the_first_model_listed_is_taken_when_none_is_chosen() -> None:
    async with model({"/v1/chat/completions": CHAT}, model="") as (remote, place):
        await answer(remote)
        assert place.bodies[0]["model"] == "first"
        assert place.asked[-1].authorization is None


async def test_a_place_that_lists_no_model_wants_to_be_told_one() -> None:
    async with model({"/v1/models": says(200, {"data": None})}, model="") as (remote, _):
        assert str(await fault(remote)) == NO_MODEL


@pytest.mark.parametrize(
    ("fim", "path", "stream"),
    [
        ("suffix", "/v1/completions", streams(text(" + "), text("b", "stop"), DONE)),
        ("mistral", "/v1/fim/completions", streams(chat(" + "), chat("b", "stop"), DONE)),
        ("starcoder", "/v1/completions", streams(text(" + b"), text("", "stop"), DONE)),
        (None, "/v1/chat/completions", streams(chat("```\na + b\n"), chat("```\nSo"), chat(" it is."))),
    ],
)
async def test_fills_in_as_the_place_can(fim: Fim | None, path: str, stream: Handler) -> None:
    async with model({path: stream}, fim=fim) as (remote, _):
        assert said(await answer(remote, GAP)) == "a + b"
        assert remote.detail == ""


async def test_llama_cpp_fills_in_by_itself() -> None:
    stream = streams(
        {"content": "", "stop": False, "prompt_progress": {"total": 5, "processed": 5, "cache": 2, "time_ms": 1}},
        {"content": "a + b", "stop": False},
        {"content": "", "stop": True, "stop_type": "eos"},
    )
    async with model({"/props": SLOTS, "/infill": stream}) as (remote, place):
        assert (await answer(remote, GAP))[:2] == [Progress(7, 5, 5, 2), Delta(7, "a + b")]
        assert place.bodies[0]["input_prefix"] == "MARKER = ("


async def test_what_a_place_refuses_is_left_out_from_then_on() -> None:
    refused = says(400, {"error": {"message": "Unsupported parameter: 'max_tokens'", "param": "max_tokens"}})
    async with model({"/v1/chat/completions": [refused, CHAT, CHAT]}) as (remote, place):
        assert said(await answer(remote)) == "Hello"
        assert said(await answer(remote)) == "Hello"
        assert ["max_tokens" in body for body in place.bodies] == [True, False, False]


async def test_a_model_that_cannot_insert_is_asked_in_words() -> None:
    insert = says(400, {"error": {"message": "registry.ollama.ai/library/x:latest does not support insert"}})
    listed = says(200, {"data": [{"id": "m", "owned_by": "library"}]})
    routes = {"/v1/models": listed, "/v1/completions": insert, "/v1/chat/completions": streams(chat("a + b", "stop"))}
    async with model(routes) as (remote, place):
        for _ in range(2):
            assert said(await answer(remote, GAP)) == "a + b"
        assert [asked.path for asked in place.asked][2:] == ["/v1/completions", *["/v1/chat/completions"] * 2]


async def test_a_kept_connection_that_was_closed_there_is_opened_again() -> None:
    body = b'{"data":[{"id":"m"}]}'
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")  # and without an answer to the second request the connection ends
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        if connections < 3:
            await reader.readuntil(b"\r\n\r\n")
        else:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        remote = RemoteModel(Place(f"http://{host}:{port}/v1"))
        assert str(await fault(remote)) == NONSENSE  # found, asked, and answered with what is no stream
        await remote.close()
    assert connections == 3


async def test_a_place_that_is_still_loading_or_wants_a_key_says_so_when_it_is_looked_at() -> None:
    async with model({"/props": [says(503, {"error": {"message": "Loading model"}}), SLOTS]}) as (remote, _):
        error = await fault(remote)
        assert ("loading its model" in str(error), error.retryable) == (True, True)
        assert "no such" in str(await fault(remote))  # it is looked at again
    async with model({"/v1/models": says(401, {})}) as (remote, _):
        assert "does not accept the key" in str(await fault(remote))
    async with model({"/props": says(200, "<html>"), "/v1/models": says(200, "<html>")}) as (remote, _):
        assert "no such" in str(await fault(remote))


async def test_a_place_on_the_net_that_is_told_everything_is_not_looked_at() -> None:
    place = Place("https://api.example.com/v1", model="m", fim="suffix")
    assert await look(place, Connection("", PATIENCE)) == Found("m", "suffix")


# -- cancelled


@pytest.mark.parametrize("request_", [HELLO, GAP], ids=["chat", "infill"])
async def test_to_close_the_stream_hangs_up_at_once(request_: Generate) -> None:
    endless = Endless(chat("a "))
    async with model({"/v1/chat/completions": endless}) as (remote, _):
        async with asyncio.timeout(LIMIT_S):
            async with aclosing(remote.stream(request_)) as pieces:
                assert isinstance(await anext(pieces), Delta)
            await endless.gone.wait()


@pytest.mark.parametrize("raw", [None, b": keep-alive\n\n", event(chat("", role="assistant"))])
async def test_a_cancel_before_the_first_word_hangs_up_too(raw: bytes | None) -> None:
    silent = Silent(raw)
    async with model({"/v1/chat/completions": silent}) as (remote, _):
        asking = asyncio.create_task(answer(remote))
        async with asyncio.timeout(LIMIT_S):
            await silent.asked.wait()
            asking.cancel()
            await silent.gone.wait()


# -- bad input


@pytest.mark.parametrize(
    ("handler", "sentence", "retryable"),
    [
        (says(401, {"error": {"message": "MARKER sk-1"}}), "does not accept the key", False),
        (says(404, {"error": {"message": "model MARKER not found"}}), "no such model", False),
        (says(500, "MARKER"), "fault of its own", True),
        (says(503, {"error": {"message": "Loading model", "code": 503}}), "loading its model", True),
        (says(307, None, Location="http://127.0.0.1:9/v1"), "moved", False),
        (says(200, "<html>MARKER</html>"), NONSENSE, False),
        (says(200, {"choices": [{"message": {"content": "MARKER"}}]}), NONSENSE, False),
        (streams(raw=b"data: {MARKER\n\n"), NONSENSE, False),
        (streams(raw=b"\x00\xff" * 4096), NONSENSE, False),
        (streams(raw=b"x" * 3_000_000), "without end", False),
        (streams(chat("x"), {"error": {"message": "MARKER", "code": 500}}), "fault of its own", True),
        (streams(chat("x")), CUT, True),
        (streams(chat("x"), raw=b'data: {"choices": [{"del', cut=True), CUT, True),
        (streams(cut=True), CUT, True),
        (Silent(), "silent for 0 s", True),
        (Silent(b": keep-alive\n\n"), "silent for 0 s", True),
        (Silent(event(chat("x"))), "silent for 0 s", True),
    ],
)
async def test_bad_answers(handler: Handler, sentence: str, retryable: bool) -> None:
    async with model({"/v1/chat/completions": handler}, patience=IMPATIENT) as (remote, _):
        error = await fault(remote)
        assert sentence in str(error)
        assert error.retryable is retryable


@pytest.mark.parametrize(
    "data", [chat("again "), chat(reasoning_content="hm " * 2000), {"choices": [], "filler": "x" * 4000}]
)
async def test_endless_output_is_ended_here(data: dict[str, Any]) -> None:
    endless = Endless(data)
    async with model({"/v1/chat/completions": endless}) as (remote, _):
        short = Generate(7, messages=HELLO.messages, max_tokens=8)
        assert str(await fault(remote, short)) == ENDLESS
        async with asyncio.timeout(LIMIT_S):
            await endless.gone.wait()


async def test_a_stream_that_stays_open_after_its_end_is_not_waited_for() -> None:
    silent = Silent(event(chat("x", finish="stop")))
    async with model({"/v1/chat/completions": silent}, patience=replace(Patience(), after_end_s=0.05)) as (remote, _):
        assert said(await answer(remote)) == "x"
        async with asyncio.timeout(LIMIT_S):
            await silent.gone.wait()


async def test_a_model_that_chats_instead_of_completing() -> None:
    talk = streams(text("Sure! I can help"), text(" you with that code.", "stop"), DONE)
    async with model({"/v1/completions": talk}, fim="suffix") as (remote, _):
        assert str(await fault(remote, GAP)) == TALK


async def test_a_busy_place_is_left_alone_as_long_as_it_wants() -> None:
    changes: list[str] = []
    async with FakePlace({"/v1/chat/completions": says(429, {}, **{"Retry-After": "30"})}) as place:
        remote = RemoteModel(Place(place.url, model="m"), on_change=lambda: changes.append(remote.detail))
        for _ in range(3):
            error = await fault(remote)
            assert "takes no more requests for now; ask again in" in str(error)
            assert error.retryable
        assert len(place.bodies) == 1
        assert changes[0].endswith("in 30 s.")
        await remote.close()


async def test_nobody_there() -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    remote = RemoteModel(Place(f"http://127.0.0.1:{port}/v1", model="m"))
    error = await fault(remote)
    assert (str(error), error.retryable) == (NOBODY, True)
    await remote.close()


# -- what may not leave


@pytest.mark.parametrize("url", ["http://10.0.0.2:8000/v1", "http://api.example.com/v1", "ftp://api.example.com", "x"])
def test_nothing_goes_to_another_machine_unencrypted(url: str) -> None:
    with pytest.raises(UserError, match="insecure"):
        RemoteModel(Place(url, model="m"))
    RemoteModel(Place(url, model="m", insecure=True))


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        remote = RemoteModel(Place(f"https://127.0.0.1:{port}/v1", model="m", key="sk-1"))
        error = await fault(remote)
        assert (str(error), error.retryable) == (CERTIFICATE, False)
        await remote.close()
    assert received in ([], [b""])


async def test_a_key_that_is_not_set_is_missed_before_anything_is_asked() -> None:
    async with model({}, key_env="KEY") as (remote, place):
        assert str(await fault(remote)) == NO_KEY
        assert place.asked == []


async def test_the_key_is_in_no_word_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with model({"/v1/chat/completions": says(401, {})}, key_env="KEY", key="sk-secret") as (remote, _):
        await fault(remote)
        assert "sk-secret" not in repr(Place("x", key="sk-secret")) + caplog.text
        assert "MARKER" not in caplog.text
