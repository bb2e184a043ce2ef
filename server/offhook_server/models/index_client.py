"""The server's end of the index process: starts it, asks it, and starts it again when it dies. Never raises for that.

document, close ──▶ sent at once, and kept to be sent again to the next process
ask ──▶ answer within 50 ms, else None; a newer ask for the same document gives the older one None at once
"""

import asyncio
import contextlib
import logging
import socket
from collections import Counter
from collections.abc import Callable
from typing import Self, assert_never, cast

import msgspec

from offhook_server.core.copying import TAIL_CHARS, Guess
from offhook_server.core.tokens import MOST_CHARS
from offhook_server.models.index_messages import Answer, Ask, Close, Document, FromIndex, Open, Status
from offhook_wire import reentry
from offhook_wire.frames import FrameTooLong, Unpacker, pack
from offhook_wire.privacy import never_sent

ANSWER_LIMIT_S = 0.05
FIRST_BACKOFF_S = 0.1
MOST_BACKOFF_S = 5.0
HEALTHY_S = 10.0  # a process that lived as long starts the back-off anew
MOST_UNREAD_BYTES = 16_000_000  # a process that reads nothing is ended
END_LIMIT_S = 2.0
_log = logging.getLogger(__name__)


class IndexClient:
    def __init__(self, on_status: Callable[[Status], None] | None = None) -> None:
        self.status = Status()
        self.pid: int | None = None
        self.counts: Counter[str] = Counter()  # asked, answered, late, superseded, lost, restarts
        self._on_status = on_status
        self._root: str | None = None
        self._documents: dict[str, str] = {}
        self._pending: dict[int, asyncio.Future[Guess | None]] = {}
        self._newest: dict[str, int] = {}
        self._next_id = 0
        self._writer: asyncio.StreamWriter | None = None
        self._running: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, root: str | None, on_status: Callable[[Status], None] | None = None) -> Self:
        """Returns at once; until the process is up, answers are None."""
        client = cls(on_status)
        client._root = root
        client._running = asyncio.create_task(client._keep_running(), name="index process")
        return client

    def open(self, root: str | None) -> None:
        self._root = root
        self._send(Open(root))

    def document(self, name: str, text: str) -> None:
        """The text of an open editor; `name` relative to the root, with slashes, or any name outside of it."""
        if never_sent(name) or len(text) > MOST_CHARS:
            self.close_document(name)
            return
        self._documents[name] = text
        self._send(Document(name, text))

    def close_document(self, name: str) -> None:
        if self._documents.pop(name, None) is not None:
            self._send(Close(name))

    async def ask(
        self,
        name: str,
        line: int,
        before: str,
        after_line: str = "",
        *,
        more_lines: int = 0,
        prompt_from: int | None = None,
    ) -> Guess | None:
        """What the folder suggests at a caret of `line` (from zero); see Caret. None when it does not know in time."""
        self._give(self._newest.get(name), "superseded")
        if not self._writer or never_sent(name):
            return None
        self._next_id += 1
        id = self._next_id
        answer: asyncio.Future[Guess | None] = asyncio.get_running_loop().create_future()
        self._pending[id], self._newest[name] = answer, id
        self.counts["asked"] += 1
        self._send(Ask(id, name, line, before[-TAIL_CHARS:], after_line, more_lines, prompt_from))
        try:
            async with asyncio.timeout(ANSWER_LIMIT_S):
                return await answer
        except TimeoutError:
            self.counts["late"] += 1
            return None
        finally:
            self._pending.pop(id, None)
            if self._newest.get(name) == id:
                del self._newest[name]

    async def close(self) -> None:
        """The process has ended when this returns."""
        if self._running:
            self._running.cancel()
            await asyncio.wait([self._running])

    def _send(self, message: msgspec.Struct) -> None:
        if not self._writer:
            return
        self._writer.write(pack(message))
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            self._writer.transport.abort()

    def _give(self, id: int | None, why: str) -> None:
        """None to the ask `id`."""
        answer = self._pending.get(id) if id is not None else None
        if answer and not answer.done():
            self.counts[why] += 1
            answer.set_result(None)

    async def _keep_running(self) -> None:
        loop = asyncio.get_running_loop()
        backoff_s = FIRST_BACKOFF_S
        while True:
            began_s = loop.time()
            await self._run_once()
            if loop.time() - began_s > HEALTHY_S:
                backoff_s = FIRST_BACKOFF_S
            self.counts["restarts"] += 1
            _log.warning("the index process ended; a new one starts in %.1f s", backoff_s)
            await asyncio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, MOST_BACKOFF_S)

    async def _run_once(self) -> None:
        """From the start of a process to its end."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = await _spawn(theirs)
        except BaseException:
            ours.close()
            raise
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        self.pid, self._writer = process.pid, writer
        self._send(Open(self._root))
        for name, text in self._documents.items():
            self._send(Document(name, text))
        try:
            await self._read(reader)
        finally:
            self.pid = self._writer = None
            writer.transport.abort()
            for id in list(self._pending):
                self._give(id, "lost")
            await _ended(process)
            self._show(Status())

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Returns when the process is gone or speaks nonsense."""
        unpacker = Unpacker(cast("type[FromIndex]", FromIndex))
        try:
            while data := await reader.read(1 << 16):
                for message in unpacker.feed(data):
                    self._take(message)
        except (OSError, FrameTooLong, msgspec.DecodeError):
            return

    def _take(self, message: FromIndex) -> None:
        match message:
            case Answer():
                answer = self._pending.get(message.id)
                if answer and not answer.done():
                    self.counts["answered"] += 1
                    answer.set_result(message.guess)
            case Status():
                self._show(message)
            case _:
                assert_never(message)

    def _show(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            if self._on_status:
                self._on_status(status)


async def _spawn(theirs: socket.socket) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *reentry.command("offhook_server.models.index_worker", "--fd", str(theirs.fileno())),
        pass_fds=[theirs.fileno()],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Its socket is closed, so it ends; waits for that, with an end to the waiting."""
    try:
        async with asyncio.timeout(END_LIMIT_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
