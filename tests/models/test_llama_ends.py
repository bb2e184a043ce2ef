"""The real engine in its worker, ended in every way: killed, short of memory, talking without end. One kill each."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.errors import BackendError
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

pytestmark = pytest.mark.models

PROMPT = "\n".join(f"def add_{n}(value):\n    return value + {n}\n" for n in range(12))
CRAMPED_BYTES = 400_000_000


@dataclass(frozen=True)
class Cramped(WorkerSpec):
    """A worker whose process may have only so much address space."""

    def command(self, fd: int) -> list[str]:
        program = (
            f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({CRAMPED_BYTES}, {CRAMPED_BYTES}));"
            "import runpy; runpy.run_module('offhook_server.models.worker', run_name='__main__')"
        )
        arguments = super().command(fd)
        return [sys.executable, "-P", "-c", program, *arguments[arguments.index("--fd") :]]


@pytest.fixture
async def client(model_path: Path) -> AsyncIterator[WorkerClient]:
    client = WorkerClient(WorkerSpec("llama", model_path))
    await client.start()
    yield client
    await client.close()


def going_on(max_tokens: int) -> Generate:
    return Generate(1, prompt=PROMPT, max_tokens=max_tokens, temperature=0.0)


async def read(client: WorkerClient, request: Generate, kill_at: type[Piece] | None = None) -> Finished:
    async with aclosing(client.stream(request)) as pieces:
        async for piece in pieces:
            if kill_at and isinstance(piece, kill_at):
                assert client.pid is not None
                os.kill(client.pid, signal.SIGKILL)
            if isinstance(piece, Finished):
                return piece
    raise AssertionError("a stream without an end")


async def test_killed_in_the_prompt_and_in_the_text_it_comes_back(client: WorkerClient) -> None:
    for kill_at in (Progress, Delta):
        with pytest.raises(BackendError, match="ask again") as caught:
            await read(client, going_on(16), kill_at)
        assert caught.value.retryable
    assert (await read(client, going_on(2))).output_tokens == 2


async def test_what_would_never_end_ends_at_the_most_tokens(client: WorkerClient) -> None:
    finished = await read(client, going_on(24))
    assert (finished.reason, finished.output_tokens) == ("length", 24)


async def test_without_enough_memory_the_load_fails_with_words(model_path: Path) -> None:
    client = WorkerClient(Cramped("llama", model_path))
    await client.start()
    assert await client.settled() == "failed"
    assert "memory" in client.detail
    assert client.detail.endswith(".")
    await client.close()
