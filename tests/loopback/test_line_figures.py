"""What the overlay is told of a real line: bytes, clocks, and the server's parts of an answer."""

import pytest

from support.code_server import CodeServer, SayingModel
from support.line_client import LineClient

pytestmark = pytest.mark.loopback


async def test_bytes_are_counted_and_the_servers_clock_is_known() -> None:
    async with CodeServer(SayingModel("x")) as server, LineClient(server) as client:
        assert client.driver.figures.bytes_up == 0
        client.open("é" * 1000)
        await client.until_kind("open")
        await client.until(lambda: client.driver.figures.server_ahead_ms is not None)
        before = client.driver.figures
        assert before.bytes_up > 2000
        assert before.bytes_down > 100
        client.ask("q_1")
        await client.until_done("q_1")
        after = client.driver.figures
        assert after.bytes_up > before.bytes_up
        assert after.bytes_down > before.bytes_down


async def test_the_parts_of_an_answer_add_up() -> None:
    async with CodeServer(SayingModel("ret", "urn ", "x")) as server, LineClient(server) as client:
        client.open("def f(x): ")
        await client.until_kind("open")
        client.ask("q_1")
        timing = (await client.until_done("q_1")).timing
        engine_ms = timing.queue_ms + timing.prefill_ms + timing.first_token_ms + timing.first_words_ms
        parts_ms = timing.mirrored_ms + timing.waited_ms + engine_ms + timing.handed_ms
        assert round(parts_ms, 3) == timing.ttft_ms > 0
        assert timing.copied_ms == 0
        assert timing.read_at_ms is not None
        assert timing.total_ms >= timing.ttft_ms
