"""The real llama.cpp server with the built-in model, at another place: found out, asked to fill in and to chat, stopped."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.backends.remote import RemoteModel
from offhook_server.core.fim import Infill
from offhook_server.core.neighbours import Neighbour
from offhook_server.settings import Fim, Place

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def url(model_path: Path) -> Iterator[str]:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_path)
    params.n_ctx, params.n_parallel = 2048, 2
    params.n_batch = params.n_ubatch = 24
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.fit_params = params.ui = False
    params.endpoint_slots = True
    params.verbosity = 0
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
async def model(url: str) -> AsyncIterator[RemoteModel]:
    model = RemoteModel(Place(url))
    yield model
    await model.close()


async def answer(model: RemoteModel, request: Generate) -> tuple[str, Finished, list[Piece | Finished]]:
    async with aclosing(model.stream(request)) as stream:
        pieces = [piece async for piece in stream]
    last = pieces[-1]
    assert isinstance(last, Finished)
    return "".join(piece.text for piece in pieces if isinstance(piece, Delta)), last, pieces


NEAR = Neighbour("shapes.py", "def area(w, h):\n    return w * h\n")
HOLE = Infill("def area(width, height):\n    return ", "\n\nprint(area(2, 3))\n", "this.py", (NEAR,))


def greedy(infill: Infill, grammar: str | None = None) -> Generate:
    return Generate(1, infill=infill, max_tokens=6, temperature=0.0, stop=["\n"], slot=0, grammar=grammar)


async def test_fills_in_by_the_servers_own_form_and_keeps_its_cache(model: RemoteModel) -> None:
    text, first, pieces = await answer(model, greedy(HOLE))
    assert text.startswith("width * height")
    assert isinstance(pieces[0], Progress)
    _, second, _ = await answer(model, greedy(HOLE))
    assert second.cached_tokens > first.prompt_tokens // 2
    assert first.decode_ms > 0


async def test_is_held_to_half_a_word(model: RemoteModel) -> None:
    half = Infill(HOLE.prefix.rstrip() + " hei", HOLE.suffix, "this.py", (), lead=" hei")
    text, _, _ = await answer(model, greedy(half, 'root ::= " hei" .*'))
    assert text.startswith(" hei")


@pytest.mark.parametrize("fim", ["qwen", "none"])
async def test_fills_in_by_marks_and_in_words(url: str, fim: Fim) -> None:
    model = RemoteModel(Place(url, fim=fim))
    text, _, _ = await answer(model, greedy(HOLE))
    assert text.startswith("width * h")
    await model.close()


async def test_chats(model: RemoteModel) -> None:
    messages = [{"role": "user", "content": "Say only: yes"}]
    text, last, _ = await answer(model, Generate(1, messages=messages, max_tokens=8, temperature=0.0))
    assert "yes" in text.lower()
    assert last.prompt_tokens > last.output_tokens > 0


async def test_a_cancel_reaches_the_engine(model: RemoteModel, url: str) -> None:
    request = Generate(1, prompt="1 2 3 4 5 6 7 8", max_tokens=64, temperature=0.0, slot=1)
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Delta):
                break
    async with aiohttp.ClientSession() as session:
        while (slot := await _slot(session, url))["is_processing"]:
            pass
    assert 15 <= slot["n_prompt_tokens"] < 15 + 64  # what it was told and what it said until then


async def _slot(session: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    async with session.get(f"{url.removesuffix('/v1')}/slots") as response:
        slots: list[dict[str, Any]] = await response.json()
    return slots[1]
