"""A place that speaks HTTP as it is told to, and remembers what it was asked. Streams are the bytes real servers send."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
DONE = "[DONE]"


@dataclass(frozen=True)
class Asked:
    path: str
    body: dict[str, Any]
    authorization: str | None
    connection: tuple[str, int]


@dataclass
class FakePlace:
    """`async with` it. `routes`: answers by path, a list being used up one by one; all else is 404."""

    routes: Mapping[str, Handler | list[Handler]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    async def __aenter__(self) -> "FakePlace":
        app = web.Application(client_max_size=1 << 24)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Of what was posted."""
        return [asked.body for asked in self.asked if asked.body]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else {}
        assert request.transport
        peer = request.transport.get_extra_info("peername")
        self.asked.append(Asked(request.path, body, request.headers.get("Authorization"), peer))
        handler = self.routes.get(request.path)
        if isinstance(handler, list):
            handler = handler.pop(0) if handler else None
        return await handler(request) if handler else web.json_response({"detail": "Not Found"}, status=404)


def event(data: Any) -> bytes:
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def streams(*data: Any, raw: bytes = b"", cut: bool = False) -> Handler:
    """These events, then `raw`. `cut`: the connection ends where more should come."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await _begun(request)
        await response.write(b"".join(map(event, data)) + raw)
        if cut:
            assert request.transport
            request.transport.abort()
        return response

    return handler


class Endless:
    """The same event for ever; `gone` is set when the other end has hung up."""

    def __init__(self, data: Any) -> None:
        self.gone = asyncio.Event()
        self._data = event(data)

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        response = await _begun(request)
        try:
            while True:
                await response.write(self._data)
                await asyncio.sleep(0)
        except (ConnectionError, asyncio.CancelledError):
            self.gone.set()
            raise


class Silent:
    """Says `raw` and no more; without, not even the head of a response. `gone` as above."""

    def __init__(self, raw: bytes | None = None) -> None:
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()
        self._raw = raw

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        try:
            if self._raw is not None:
                response = await _begun(request)
                await response.write(self._raw)
            self.asked.set()
            await asyncio.Event().wait()
        finally:
            self.gone.set()
        raise AssertionError


def says(status: int, body: Any = None, **headers: str) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        if isinstance(body, str):
            return web.Response(status=status, text=body, headers=headers, content_type="text/html")
        return web.json_response(body, status=status, headers=headers)

    return handler


def chat(text: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk of OpenAI's chat completions, as Mistral's /fim/completions has them, too."""
    said = delta | ({"content": text} if text is not None else {})
    choice = {"index": 0, "delta": said, "logprobs": None, "finish_reason": finish}
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def text(text: str, finish: str | None = None) -> dict[str, Any]:
    """A chunk of OpenAI's completions."""
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
    return {"id": "c-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}


def usage(prompt: int, output: int, cached: int = 0) -> dict[str, Any]:
    counted = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return {"id": "c-1", "object": "chat.completion.chunk", "choices": [], "usage": counted}


async def _begun(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    return response
