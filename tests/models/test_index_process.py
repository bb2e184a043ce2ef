"""The real index process: answers, follows the disk, is started again when killed, and never outlives its server."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from offhook_server.core.copying import Guess
from offhook_server.models.index_client import IndexClient
from offhook_server.models.index_messages import Status

pytestmark = pytest.mark.loopback
LIMIT_S = 30


class Watched:
    """A client, and what it says of itself as something to wait for."""

    def __init__(self) -> None:
        self.client: IndexClient
        self._said = asyncio.Event()

    def on_status(self, _status: Status) -> None:
        self._said.set()

    async def until(self, holds: Callable[[Status], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not holds(self.client.status):
                self._said.clear()
                await self._said.wait()

    async def ghost(self, before: str, expected: str | None) -> Guess | None:
        """Asks until the answer is the expected one."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                if self.client.pid is None:
                    await self.until(lambda status: status.ready)
                guess = await self.client.ask("here.py", 0, before)
                if (guess.text if guess else None) == expected:
                    return guess
                await asyncio.sleep(0)


@asynccontextmanager
async def started(root: Path | None) -> AsyncIterator[Watched]:
    watched = Watched()
    watched.client = await IndexClient.start(str(root) if root else None, watched.on_status)
    try:
        yield watched
    finally:
        await watched.client.close()


def ended(pid: int) -> bool:
    """Waits for the end of a process that may not be our child."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], LIMIT_S)[0])
    finally:
        os.close(fd)


async def test_it_answers_from_the_folder_and_ends_on_close(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("go(one, two)\n")
    async with started(tmp_path) as watched:
        await watched.until(lambda status: status.ready and status.files == 1)
        guess = await watched.ghost("go(one, ", "two)")
        assert guess is not None
        assert guess.match_tokens == 6
        assert watched.client.status.bytes > 0
        assert watched.client.counts["answered"] >= 1
        pid = watched.client.pid
        assert pid is not None
    assert watched.client.pid is None
    assert ended(pid)
    assert await watched.client.ask("here.py", 0, "go(") is None


async def test_an_open_document_overrides_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("go(disk)\n")
    async with started(tmp_path) as watched:
        await watched.ghost("go(", "disk)")
        watched.client.document("a.py", "go(editor)\n")
        await watched.ghost("go(", "editor)")
        watched.client.document("a.py", "x" * 1_000_001)  # too long to be of use
        await watched.ghost("go(", "disk)")
        watched.client.document(".env", "go(secret)\n")
        assert await watched.client.ask(".env", 0, "go(") is None
        await watched.ghost("go(", "disk)")


async def test_a_change_on_the_disk_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("go(one)\n")
    async with started(tmp_path) as watched:
        await watched.ghost("go(", "one)")
        (tmp_path / "ready.py").write_text("ready->yes\n")  # written until it is seen: the watcher is up
        async with asyncio.timeout(LIMIT_S):
            while await watched.client.ask("here.py", 0, "ready->") is None:
                (tmp_path / "ready.py").write_text("ready->yes\n")
                await asyncio.sleep(0)
        (tmp_path / "a.py").write_text("go(another)\n")
        await watched.ghost("go(", "another)")
        (tmp_path / "a.py").unlink()
        await watched.ghost("go(", None)
        other = tmp_path / "other"
        other.mkdir()
        (other / "b.py").write_text("to->other\n")
        watched.client.open(str(other))
        await watched.ghost("ready->", None)
        await watched.ghost("to->", "other")


async def test_a_killed_process_is_started_again_and_knows_all_it_knew(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("go(disk)\n")
    async with started(tmp_path) as watched:
        client = watched.client
        client.document("b.py", "to->editor\n")
        await watched.ghost("go(", "disk)")
        first = client.pid
        assert first is not None
        os.kill(first, signal.SIGSTOP)
        assert await client.ask("here.py", 0, "go(") is None
        assert client.counts["late"] >= 1
        asked = asyncio.create_task(client.ask("here.py", 0, "go("))
        await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)
        assert await asked is None
        await watched.until(lambda status: not status.ready)
        await watched.ghost("go(", "disk)")
        await watched.ghost("to->", "editor")
        assert client.pid not in (None, first)
        assert client.counts["restarts"] == 1


async def test_a_newer_ask_takes_the_place_of_the_older(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("go(disk)\n")
    async with started(tmp_path) as watched:
        await watched.ghost("go(", "disk)")
        before = watched.client.counts["superseded"]
        older = asyncio.create_task(watched.client.ask("here.py", 0, "go("))
        other = asyncio.create_task(watched.client.ask("there.py", 0, "go("))
        newer = asyncio.create_task(watched.client.ask("here.py", 0, "go(di"))
        answers = await asyncio.gather(older, newer, other)
        assert answers[0] is None
        assert watched.client.counts["superseded"] == before + 1


async def test_without_a_folder_the_documents_are_known() -> None:
    async with started(None) as watched:
        watched.client.document("a.py", "go(editor)\n")
        await watched.ghost("go(", "editor)")
        watched.client.close_document("a.py")
        watched.client.close_document("a.py")
        await watched.ghost("go(", None)


def test_it_ends_with_its_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-m", "offhook_server.models.index_worker", "--fd", str(theirs.fileno())]
        with subprocess.Popen(command, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE) as process:
            theirs.close()
            ours.close()
            assert process.stderr is not None
            assert process.stderr.read() == b""
            assert process.wait(LIMIT_S) == 0


PARENT = """
import asyncio, sys
from offhook_server.models.index_client import IndexClient
async def main():
    client = await IndexClient.start(sys.argv[1])
    while not client.status.ready:
        await asyncio.sleep(0.01)
    print(client.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


def test_the_process_goes_when_its_server_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        server.kill()
        assert ended(pid)
