"""The link delays, sets up and starts as its model says; measured through real sockets, against that model."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from offhook_server.bench.link import Link
from offhook_server.bench.stats import median

pytestmark = pytest.mark.loopback

RTT_S = 0.05
SLACK_S = 0.02  # what a busy machine may add to the median of several; a round trip is far more
LIMIT_S = 30.0


@pytest.fixture
async def link() -> AsyncIterator[Link]:
    async with Link() as running:
        yield running


@pytest.fixture
async def echo_port() -> AsyncIterator[int]:
    """Answers every message of `size\\n` + bytes with one byte, once it is there whole."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            await reader.readexactly(int(line))
            writer.write(b".")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port: int = server.sockets[0].getsockname()[1]
        yield port


class Near:
    """The client's end."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def exchange(self, size: int) -> float:
        """Seconds from handing over a message to its answer."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        head = f"{size}\n".encode()
        self._writer.write(head + b"x" * size)
        assert await asyncio.wait_for(self._reader.readexactly(1), LIMIT_S) == b"."
        return loop.time() - begun

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


async def first_exchange(port: int, size: int) -> float:
    """Seconds from connecting to the answer."""
    near = Near(port)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await near.connect()
    await near.exchange(size)
    taken_s = loop.time() - begun
    await near.close()
    return taken_s


async def test_a_round_trip_takes_the_round_trip(link: Link, echo_port: int) -> None:
    near = Near(await link.open(RTT_S * 1e3, echo_port))
    await near.connect()
    await near.exchange(10)
    taken = [await near.exchange(10) for _ in range(9)]
    await near.close()
    assert min(taken) >= RTT_S
    assert median(taken) < RTT_S + SLACK_S


@pytest.mark.parametrize(
    ("size", "round_trips"),
    [
        (10, 2),  # the handshake, then there and back
        (14_000, 2),
        (20_000, 3),
        (60_000, 4),  # 14,600 + 29,200 + the rest
    ],
)
async def test_a_new_connection_pays_for_its_handshake_and_slow_start(
    link: Link, echo_port: int, size: int, round_trips: int
) -> None:
    port = await link.open(RTT_S * 1e3, echo_port)
    taken = [await first_exchange(port, size) for _ in range(5)]
    assert min(taken) >= RTT_S * round_trips
    assert median(taken) < RTT_S * round_trips + SLACK_S


async def test_a_warm_connection_sends_at_once(link: Link, echo_port: int) -> None:
    near = Near(await link.open(RTT_S * 1e3, echo_port))
    await near.connect()
    await near.exchange(60_000)
    taken = [await near.exchange(60_000) for _ in range(5)]
    await near.close()
    assert min(taken) >= RTT_S
    assert median(taken) < RTT_S + SLACK_S


async def test_it_counts_what_it_carries(link: Link, echo_port: int) -> None:
    port = await link.open(0, echo_port)
    await first_exchange(port, 1000)
    await first_exchange(port, 1000)
    counted = await link.counted(port)
    assert (counted.up_bytes, counted.down_bytes, counted.connections) == (2 * 1005, 2, 2)


async def test_order_and_end_are_kept(link: Link) -> None:
    received: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.set_result(await reader.read(-1))
        writer.close()

    sent = b"".join(i.to_bytes(4, "big") for i in range(50_000))
    async with await asyncio.start_server(keep, "127.0.0.1", 0) as server:
        port = await link.open(10, server.sockets[0].getsockname()[1])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        for start in range(0, len(sent), 7_000):
            writer.write(sent[start : start + 7_000])
        writer.write_eof()
        assert await asyncio.wait_for(received, LIMIT_S) == sent
        writer.close()
        await writer.wait_closed()
