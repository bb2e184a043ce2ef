"""The index process: `python -m offhook_server.models.index_worker --fd N`, on a Unix socket it was born with.

It answers between two steps of its own work, follows the folder, and ends with the socket. It logs no name and no text.
"""

import argparse
import asyncio
import logging
import os
import signal
import socket
import time
from typing import assert_never, cast

import msgspec
from watchfiles import Change, awatch

from offhook_server.models.folder import SKIPPED_FOLDERS
from offhook_server.models.index_messages import Answer, Ask, Close, Document, Open, Status, ToIndex
from offhook_server.models.workspace import Workspace
from offhook_wire.frames import Unpacker, pack

NICENESS = 5
STATUS_EVERY_S = 0.25
_log = logging.getLogger(__name__)


class Connection(asyncio.Protocol):
    """Messages are answered as they are read, so one waits for one step of work at most."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._unpacker = Unpacker(cast("type[ToIndex]", ToIndex))
        self._workspace = Workspace()
        self._wake = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._said = Status()
        self._said_s = 0.0
        self.lost = self._loop.create_future()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)

    def data_received(self, data: bytes) -> None:
        for message in self._unpacker.feed(data):
            self._take(message)
        self._wake.set()

    async def work(self) -> None:
        """Indexes for ever."""
        while True:
            if self._workspace.step(self._loop.time()):
                self._tell()
                await asyncio.sleep(0)
                continue
            self._tell()
            self._wake.clear()
            deadline_s = self._workspace.deadline_s
            try:
                async with asyncio.timeout_at(deadline_s):
                    await self._wake.wait()
            except TimeoutError:
                pass

    def _take(self, message: ToIndex) -> None:
        match message:
            case Ask():
                began_ns = time.perf_counter_ns()
                guess = self._workspace.answer(message)
                self._send(Answer(message.id, guess, (time.perf_counter_ns() - began_ns) // 1000))
            case Document():
                self._workspace.document(message.name, message.text, self._loop.time())
            case Close():
                self._workspace.close(message.name)
            case Open():
                self._workspace.open(message.root)
                self._follow(self._workspace.root)
            case _:
                assert_never(message)

    def _tell(self) -> None:
        """Says how far it is, not too often."""
        now = self._loop.time()
        if self._workspace.ready != self._said.ready or now - self._said_s >= STATUS_EVERY_S:
            status, self._said_s = self._workspace.status, now
            if status != self._said:
                self._said = status
                self._send(status)

    def _send(self, message: msgspec.Struct) -> None:
        if self._transport:
            self._transport.write(pack(message))

    def _follow(self, root: str | None) -> None:
        if self._watching:
            self._watching.cancel()
        self._watching = self._loop.create_task(self._watch(root)) if root else None

    async def _watch(self, root: str) -> None:
        """The watcher waits in a thread of its own that runs no Python."""
        try:
            async for changes in awatch(
                root, watch_filter=_counts, debounce=200, step=50, ignore_permission_denied=True
            ):
                self._workspace.changed([path for _, path in changes])
                self._wake.set()
        except (OSError, RuntimeError) as e:
            _log.warning("cannot follow the folder (%s); the index shows it as it was opened", type(e).__name__)


def _counts(_change: Change, path: str) -> bool:
    return SKIPPED_FOLDERS.isdisjoint(path.split(os.sep))


async def serve(connection: socket.socket) -> None:
    """Returns when the other end has closed."""
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(Connection, sock=connection)
    work = loop.create_task(protocol.work())
    await asyncio.wait([work, protocol.lost], return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        work.result()


def main() -> None:
    parser = argparse.ArgumentParser(prog="offhook-index")
    parser.add_argument("--fd", type=int, required=True, help="an open Unix socket to the server")
    connection = socket.socket(fileno=parser.parse_args().fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server, whose end ends us
    os.nice(NICENESS)
    asyncio.run(_serve_and_end(connection))


async def _serve_and_end(connection: socket.socket) -> None:
    await serve(connection)
    os._exit(0)  # the watcher's thread would keep us a while


if __name__ == "__main__":
    main()
