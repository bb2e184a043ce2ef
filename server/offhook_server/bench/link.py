"""A network link in user space: TCP over loopback with a round trip and TCP's start. No loss, no rate limit, no jitter.

Every byte is delayed by half a round trip each way; a new connection carries nothing for one round trip (SYN,
SYN-ACK); each direction sends what its congestion window (`window.py`) lets it. Order is kept. The link is a process
of its own, so that it shares no interpreter with the ends it stands between, and it counts the bytes it carries.

    parent → link    {"rtt_ms": 50, "to_port": 4433}    {"count_port": 39211}
    link → parent    {"port": 39211}                    {"up": 61320, "down": 940, "connections": 1}

It ends when its standard input closes.
"""

import asyncio
import contextlib
import selectors
from collections import deque

import msgspec

from offhook_server.bench.process import Child, answer_lines
from offhook_server.bench.window import Window

READ_BYTES = 65_536


class Open(msgspec.Struct, tag=True):
    rtt_ms: float
    to_port: int


class Count(msgspec.Struct, tag=True):
    port: int


class Opened(msgspec.Struct):
    port: int


class Counted(msgspec.Struct):
    """What one port of the link carried since it was opened; `up` is towards the server."""

    up_bytes: int = 0
    down_bytes: int = 0
    connections: int = 0


class Link(Child):
    """The parent's side: starts the process and ends it."""

    module = "offhook_server.bench.link"

    async def open(self, rtt_ms: float, to_port: int) -> int:
        """A port of the link that leads to `to_port` of this machine."""
        return (await self.ask(Open(rtt_ms, to_port), Opened)).port

    async def counted(self, port: int) -> Counted:
        return await self.ask(Count(port), Counted)


class Direction:
    """Carries the bytes of one direction of one connection."""

    def __init__(self, rtt_s: float, writer: asyncio.StreamWriter) -> None:
        self._delay_s = rtt_s / 2
        self._window = Window(rtt_s)
        self._writer = writer
        self._travelling: deque[bytes] = deque()  # b"" is the end
        self.arrived = asyncio.Event()
        self.carried_bytes = 0

    async def carry(self, reader: asyncio.StreamReader) -> None:
        """Returns when the end of `reader` has reached the other side."""
        with contextlib.suppress(ConnectionError):  # a reset ends it too
            while data := await reader.read(READ_BYTES):
                await self._send(data)
        self._depart(b"")
        await self.arrived.wait()

    async def _send(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        while data:
            room = self._window.room(loop.time())
            if not room:
                await asyncio.sleep(self._window.deadline - loop.time())
                continue
            piece, data = data[:room], data[room:]
            self._window.send(len(piece), loop.time())
            self.carried_bytes += len(piece)
            self._depart(piece)

    def _depart(self, piece: bytes) -> None:
        self._travelling.append(piece)
        asyncio.get_running_loop().call_later(self._delay_s, self._arrive)

    def _arrive(self) -> None:
        piece = self._travelling.popleft()
        if piece:
            self._writer.write(piece)
            return
        self.arrived.set()
        with contextlib.suppress(OSError):  # the other end is gone already
            self._writer.write_eof()


class Port:
    """One listening port, its round trip, where it leads and what it carried."""

    def __init__(self, rtt_s: float, to_port: int) -> None:
        self._rtt_s = rtt_s
        self._to_port = to_port
        self._up: list[Direction] = []
        self._down: list[Direction] = []
        self._connections: set[asyncio.Task[None]] = set()

    async def listen(self) -> int:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port: int = server.sockets[0].getsockname()[1]
        return port

    def counted(self) -> Counted:
        up = sum(direction.carried_bytes for direction in self._up)
        down = sum(direction.carried_bytes for direction in self._down)
        return Counted(up, down, len(self._up))

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
        up, down = Direction(self._rtt_s, far_writer), Direction(self._rtt_s, writer)
        self._up.append(up)
        self._down.append(down)
        await asyncio.sleep(self._rtt_s)  # the handshake
        await asyncio.gather(up.carry(reader), down.carry(far_reader))
        for end in (writer, far_writer):
            end.close()


async def serve() -> None:
    ports: dict[int, Port] = {}

    async def answer(asked: Open | Count) -> msgspec.Struct:
        if isinstance(asked, Count):
            return ports[asked.port].counted()
        port = Port(asked.rtt_ms / 1e3, asked.to_port)
        number = await port.listen()
        ports[number] = port
        return Opened(number)

    await answer_lines(msgspec.json.Decoder(Open | Count), answer)


def main() -> None:
    """`select` waits to the microsecond where `epoll` rounds up to the next millisecond."""
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        runner.run(serve())


if __name__ == "__main__":
    main()
