"""The processes a bench measures between: JSON lines on standard input and output. Not the server's model workers.

Such a process answers each question with one line, and ends when its standard input closes.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import ClassVar, Self, TypeVar

import msgspec

from offhook_wire import reentry

END_S = 10.0
Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Child:
    """The parent's side: `async with` starts `python -m module` and ends it."""

    module: ClassVar[str]
    _process: asyncio.subprocess.Process

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*reentry.command(self.module), stdin=pipe, stdout=pipe)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), END_S)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def ask(self, question: msgspec.Struct, answer: type[Answer]) -> Answer:
        """One at a time. Raises msgspec.DecodeError when the process died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(question) + b"\n")
        return msgspec.json.decode(await self._process.stdout.readline(), type=answer)


async def answer_lines(
    questions: msgspec.json.Decoder[Question], answer: Callable[[Question], Awaitable[msgspec.Struct]]
) -> None:
    """The process's side: returns when standard input ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        answered = msgspec.json.encode(await answer(questions.decode(line)))
        sys.stdout.buffer.write(answered + b"\n")
        sys.stdout.buffer.flush()
