"""A real worker process with the null engine: streams, cancels, dies in every way, and never outlives its server."""

import asyncio
import os
import select
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.errors import BackendError
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

pytestmark = pytest.mark.loopback
LIMIT_S = 30
NULL = WorkerSpec("null")


def say(text: str, slot: int = 1) -> Generate:
    return Generate(0, messages=[{"role": "user", "content": text}], slot=slot)


async def read(client: WorkerClient, request: Generate) -> tuple[str, Finished]:
    text = ""
    async with aclosing(client.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Delta):
                text += piece.text
            if isinstance(piece, Finished):
                return text, piece
    raise AssertionError("a stream without an end")


async def first(client: WorkerClient, request: Generate, kind: type[Piece]) -> None:
    """Reads until a piece of this kind, then closes the stream."""
    async with aclosing(client.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, kind):
                return


async def gone(pid: int) -> None:
    """Waits until the process has ended, whoever's child it is."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    readable, _, _ = await asyncio.to_thread(select.select, [process], [], [], LIMIT_S)
    os.close(process)
    assert readable


class Watched(WorkerClient):
    """Keeps every state it went through."""

    def __init__(self, spec: WorkerSpec) -> None:
        self.states: list[str] = []
        self._came = asyncio.Event()
        super().__init__(spec, on_change=self._note)

    def _note(self) -> None:
        self.states.append(self.state)
        self._came.set()

    async def until(self, states: list[str]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while self.states[: len(states)] != states:
                self._came.clear()
                await self._came.wait()


@pytest.fixture
async def client() -> AsyncIterator[Watched]:
    client = Watched(NULL)
    await client.start()
    assert await client.settled() == "ready"
    yield client
    await client.close()


async def test_streams_and_says_what_it_cost(client: Watched) -> None:
    text, finished = await read(client, say("hello"))
    assert text == "This is the null engine. You said: hello"
    assert finished.reason == "stop"
    assert finished.output_tokens == 8
    assert client.ready is not None
    assert (client.ready.engine, client.ready.slots) == ("null", 16)


async def test_its_session_is_lowered_with_it(client: Watched) -> None:
    """Where the system shares the processor among sessions first; elsewhere there is no such file."""

    def group() -> str:
        file = Path(f"/proc/{client.pid}/autogroup")
        return file.read_text() if file.exists() else "none, nice 5"

    assert (await asyncio.to_thread(group)).split()[-1] == "5"


async def test_a_request_waits_while_the_worker_starts() -> None:
    client = WorkerClient(NULL)
    await client.start()
    assert (await read(client, say("[[say: early]]")))[0] == "early"
    await client.close()


async def test_two_at_once_do_not_wait_for_each_other(client: Watched) -> None:
    async with aclosing(client.stream(say("[[hang]]"))) as hanging:
        await anext(hanging)
        assert (await read(client, say("[[say: free]]")))[0] == "free"


async def test_closing_the_stream_cancels_in_prompt_and_in_text(client: Watched) -> None:
    await first(client, say("[[prefill_ms: 1000000]]"), Progress)
    await first(client, say("[[hang]]"), Delta)
    assert (await read(client, say("[[say: after]]")))[0] == "after"
    assert client.in_flight == 0


async def test_cancelling_the_reading_task_cancels_the_request(client: Watched) -> None:
    started = asyncio.Event()

    async def reader() -> None:
        async with aclosing(client.stream(say("[[hang]]"))) as pieces:
            async for _ in pieces:
                started.set()

    task = asyncio.create_task(reader())
    await started.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert client.in_flight == 0


async def test_a_failed_request_leaves_the_worker_running(client: Watched) -> None:
    with pytest.raises(BackendError, match="told to fail") as caught:
        await read(client, say("[[fail]]"))
    assert not caught.value.retryable
    assert (await read(client, say("[[say: on]]")))[0] == "on"
    assert client.counters["crashes"] == 0


async def test_a_crash_fails_what_was_in_flight_and_a_new_worker_comes(client: Watched) -> None:
    with pytest.raises(BackendError, match="ask again") as caught:
        await read(client, say("[[say: half]][[crash]]"))
    assert caught.value.retryable
    assert (await read(client, say("[[say: back]]")))[0] == "back"
    assert client.states == ["starting", "ready", "starting", "ready"]


async def test_a_killed_worker_is_noticed_without_a_request(client: Watched) -> None:
    assert client.pid is not None
    os.kill(client.pid, signal.SIGKILL)
    await client.until(["starting", "ready", "starting", "ready"])
    assert client.counters["crashes"] == 1


async def test_close_fails_what_is_in_flight_and_leaves_no_process() -> None:
    client = WorkerClient(NULL)
    await client.start()
    await client.settled()
    pid = client.pid
    assert pid is not None
    async with aclosing(client.stream(say("[[hang]]"))) as pieces:
        await anext(pieces)
        await client.close()
        with pytest.raises(BackendError, match="stopping"):
            async for _ in pieces:
                pass
    await gone(pid)
    assert client.state == "absent"
    assert client.counters["killed"] == 0


async def test_close_right_after_start_leaves_nothing_open() -> None:
    client = WorkerClient(NULL)
    await client.start()
    await asyncio.sleep(0)
    await client.close()
    assert (client.pid, client.state) == (None, "absent")


async def test_an_engine_that_cannot_load_is_not_tried_again(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"not a model")
    client = Watched(WorkerSpec("llama", model))
    await client.start()
    assert await client.settled() == "failed"
    assert "not a GGUF file" in client.detail
    assert client.counters["starts"] == 1
    with pytest.raises(BackendError, match="offhook models verify"):
        await read(client, say("hello"))
    await client.close()


async def test_a_worker_that_dies_before_it_is_ready_is_tried_twice() -> None:
    client = Watched(WorkerSpec("null", options={"no_such_option": 1}))
    await client.start()
    await client.until(["starting", "starting", "failed"])
    assert client.counters["starts"] == 2
    await client.close()


async def test_no_file_no_process_until_it_has_come(tmp_path: Path) -> None:
    client = Watched(WorkerSpec("llama", tmp_path / "model.gguf"))
    await client.start()
    assert (client.state, client.pid) == ("absent", None)
    assert "offhook models fetch" in client.detail
    (tmp_path / "model.gguf").touch()
    await client.start()
    assert await client.settled() == "failed"
    assert "empty" in client.detail
    await client.close()


PARENT = """
import asyncio, sys
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

async def main():
    client = WorkerClient(WorkerSpec("null"))
    await client.start()
    await client.settled()
    print(client.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_killed_server_leaves_no_worker() -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    await gone(pid)


@pytest.mark.parametrize("garbage", [b"\xff\xff\xff\xff", b"\x03\x00\x00\x00abc", b"\x02\x00\x00\x00\x92\x01"])
async def test_a_worker_that_hears_garbage_ends(garbage: bytes) -> None:
    ours, theirs = socket.socketpair()
    command = WorkerSpec("null").command(theirs.fileno())
    worker = await asyncio.create_subprocess_exec(*command, pass_fds=(theirs.fileno(),))
    theirs.close()
    with ours:
        await asyncio.to_thread(ours.recv, 4096)  # Ready
        ours.sendall(garbage)
        async with asyncio.timeout(LIMIT_S):
            assert await worker.wait() == 0
