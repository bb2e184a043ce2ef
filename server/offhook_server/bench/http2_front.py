"""HTTP/2 for one kind of request: a POST body in, a text/event-stream out. For the bench; the gateway has none.

Its flow-control windows hold any request whole, so that no request waits for a WINDOW_UPDATE (RFC 9113 6.9): with the
default of 64 kB, 60 kB of context pays one more round trip for nearly every request.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamEnded
from h2.settings import SettingCodes, Settings

WINDOW_BYTES = 16 * 1024 * 1024
DEFAULT_WINDOW_BYTES = 65_535
HEADERS = [(":status", "200"), ("content-type", "text/event-stream")]
Respond = Callable[[bytes], AsyncIterator[bytes]]


class Http2Connection(asyncio.Protocol):
    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._h2 = H2Connection(H2Configuration(client_side=False))
        self._h2.local_settings = Settings(
            client=False, initial_values={SettingCodes.INITIAL_WINDOW_SIZE: WINDOW_BYTES}
        )
        self._bodies: dict[int, bytearray] = {}
        self._answers: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(WINDOW_BYTES - DEFAULT_WINDOW_BYTES)
        self._flush()

    def data_received(self, data: bytes) -> None:
        for event in self._h2.receive_data(data):
            self._received(event)
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        for answer in self._answers:
            answer.cancel()

    def _received(self, event: Event) -> None:
        match event:
            case RequestReceived(stream_id=stream):
                self._bodies[stream] = bytearray()
            case DataReceived(stream_id=stream, data=data, flow_controlled_length=length):
                self._bodies[stream] += data
                self._h2.acknowledge_received_data(length, stream)
            case StreamEnded(stream_id=stream):
                answer = asyncio.create_task(self._answer(stream, bytes(self._bodies.pop(stream))))
                self._answers.add(answer)
                answer.add_done_callback(self._answers.discard)
            case _:
                pass

    async def _answer(self, stream: int, body: bytes) -> None:
        self._h2.send_headers(stream, HEADERS)
        async for chunk in self._respond(body):
            self._h2.send_data(stream, chunk)
            self._flush()
        self._h2.end_stream(stream)
        self._flush()

    def _flush(self) -> None:
        self._transport.write(self._h2.data_to_send())


async def listen(respond: Respond, tls: ssl.SSLContext) -> asyncio.Server:
    """`tls` must offer `h2` by ALPN."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Http2Connection(respond), "127.0.0.1", 0, ssl=tls)
