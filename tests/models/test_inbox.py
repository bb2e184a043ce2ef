"""A reader that falls behind finds the same content in fewer pieces."""

import asyncio

import pytest

from offhook_server.backends.base import Call, Delta, Finished, Progress
from offhook_server.errors import BackendError
from offhook_server.models.inbox import Inbox

pytestmark = pytest.mark.loopback


async def test_joins_what_nobody_has_read() -> None:
    inbox = Inbox()
    for item in (
        Progress(1, 0, 9, 0),
        Progress(1, 9, 9, 0),
        Delta(1, "a"),
        Delta(1, "b"),
        Call(1, 0, "call_1", "find", '{"x"'),
        Call(1, 0, "", "", ":1}"),
        Call(1, 1, "call_2", "find", "{}"),
        Finished(1, "stop"),
    ):
        inbox.put(item)
    assert inbox.joined == 3
    assert [await inbox.get() for _ in range(5)] == [
        Progress(1, 9, 9, 0),
        Delta(1, "ab"),
        Call(1, 0, "call_1", "find", '{"x":1}'),
        Call(1, 1, "call_2", "find", "{}"),
        Finished(1, "stop"),
    ]


async def test_hands_over_at_once_to_a_reader_that_waits_and_raises_errors_in_turn() -> None:
    inbox = Inbox()
    reading = asyncio.create_task(inbox.get())
    await asyncio.sleep(0)
    inbox.put(Delta(1, "a"))
    inbox.put(BackendError("gone"))
    assert await reading == Delta(1, "a")
    with pytest.raises(BackendError, match="gone"):
        await inbox.get()
