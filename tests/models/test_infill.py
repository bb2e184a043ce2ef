"""An infill all the way into a worker: rendered there as its model was taught, and answered."""

from contextlib import aclosing
from pathlib import Path

import pytest

from offhook_server.backends.base import Delta, Finished, Generate
from offhook_server.backends.llama import check_file
from offhook_server.core.fim import QWEN, Infill
from offhook_server.core.neighbours import Neighbour
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

NEAR = Neighbour("shapes.py", "def area(w, h):\n    return w * h\n")


async def answer(client: WorkerClient, *infills: Infill) -> list[tuple[str, Finished]]:
    """Text and figures of each, one after the other."""
    await client.start()
    answers: list[tuple[str, Finished]] = []
    for infill in infills:
        request = Generate(1, infill=infill, max_tokens=6, temperature=0.0, stop=["\n"], slot=0)
        async with aclosing(client.stream(request)) as stream:
            pieces = [piece async for piece in stream]
        last = pieces[-1]
        assert isinstance(last, Finished)
        answers.append(("".join(piece.text for piece in pieces if isinstance(piece, Delta)), last))
    await client.close()
    return answers


@pytest.mark.loopback
async def test_an_infill_passes_the_workers_door() -> None:
    said, counted = (
        await answer(WorkerClient(WorkerSpec("null")), Infill("[[say: a + b]] x = f(", ")", "this.py", (NEAR,)))
    )[0]
    assert (said, counted.reason) == ("a + b", "stop")


@pytest.mark.models
async def test_the_built_in_model_is_known_by_its_vocabulary_and_stays_warm(model_path: Path) -> None:
    assert check_file(model_path) is QWEN
    prefix = "def area(width, height):\n    return"
    one, more = (Infill(f"{prefix}{key}", "\n\nprint(area(2, 3))\n", "this.py", (NEAR,), key) for key in (" ", " w"))
    (text, first), (_, second) = await answer(WorkerClient(WorkerSpec("llama", model_path)), one, more)
    assert text.startswith(" width * height")
    assert second.cached_tokens >= first.prompt_tokens - 1
