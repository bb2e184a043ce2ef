"""Server-sent events over one HTTP response. Knows nothing of what they say."""

from typing import Any

from aiohttp import web

from offhook_wire import codec

_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream:
    def __init__(self, response: web.StreamResponse) -> None:
        self.response = response

    @classmethod
    async def open(cls, request: web.Request) -> "EventStream":
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        return cls(response)

    async def send(self, event: dict[str, Any]) -> None:
        """An event under its own name. Waits while the client reads slowly."""
        await self.response.write(b"event: %b\ndata: %b\n\n" % (event["type"].encode(), codec.encode(event)))

    async def send_data(self, data: dict[str, Any]) -> None:
        """Data without a name, as chat completions want it."""
        await self.response.write(b"data: %b\n\n" % codec.encode(data))

    async def end(self) -> web.StreamResponse:
        await self.response.write(b"data: [DONE]\n\n")
        await self.response.write_eof()
        return self.response
