"""The deep lane over the app's real line: asked for, beside the fast one, stopped by what stops a suggestion."""

import asyncio

import pytest

from offhook_wire.messages import Cancel, SuggestionStarted, TextDelta
from support.code_server import CodeServer, SayingModel
from support.line_client import LIMIT_S, LineClient

pytestmark = pytest.mark.loopback


def lanes(client: LineClient) -> list[str]:
    return [event.stream_id for event in client.events if isinstance(event, TextDelta)]


async def test_the_deep_model_answers_beside_the_small_one() -> None:
    small, deep = SayingModel("slow", pause_at=0), SayingModel("foo(", "1)")
    async with CodeServer(small, deep=deep) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1")
        async with asyncio.timeout(LIMIT_S):
            await small.paused.wait()
        client.ask("q_2", lane="deep")
        done = await client.until_done("q_2")
        assert (done.source, done.outcome, client.ghost) == ("deep", "finished", "foo(1)")
        assert set(lanes(client)) == {"deep"}
        small.go.set()
        assert (await client.until_done("q_1")).outcome == "finished"
        assert [e.source for e in client.events if isinstance(e, SuggestionStarted)] == ["small", "deep"]


async def test_typing_else_and_a_cancel_stop_it() -> None:
    deep = SayingModel("foo", "bar", pause_at=1)
    async with CodeServer(None, deep=deep) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1", lane="deep")
        await client.until(lambda: client.ghost == "foo")
        client.type("fo")
        client.type("X")
        assert (await client.until_done("q_1")).outcome == "stale"
        async with asyncio.timeout(LIMIT_S):
            await deep.stopped.wait()
        client.type(" + ")
        client.ask("q_2", lane="deep")
        await client.until(lambda: client.ghost == "foofoo")
        client.driver.send(Cancel("q_2"))
        assert (await client.until_done("q_2")).outcome == "cancelled"


async def test_without_a_deep_model_and_out_of_step_it_says_why() -> None:
    async with CodeServer(None) as server, LineClient(server) as client:
        client.open("x = ")
        await client.until_kind("open")
        client.ask("q_1", lane="deep")
        assert (await client.until_done("q_1")).outcome == "no_model"
        client.version += 7
        client.ask("q_2", lane="deep")
        assert (await client.until_done("q_2")).outcome == "out_of_step"
