"""The client's side of the suggest bench: one WebSocket as the app has it, and plain requests beside it. No window."""

import time
from typing import Any, Self

import aiohttp
import msgspec

from offhook_server.bench.suggest_engine import Started
from offhook_wire import codec
from offhook_wire.messages import (
    Cancel,
    Change,
    DocumentDidChange,
    DocumentDidClose,
    DocumentDidOpen,
    Position,
    Range,
    SessionHello,
    Suggest,
    SuggestionDone,
    SuggestionStarted,
    TextDelta,
)
from offhook_wire.text import Text

FOLDER = "file:///bench/"


class Client:
    """`async with` it. Documents are typed into at their ends; `ask` is for the end of one."""

    def __init__(self, started: Started) -> None:
        self._root = f"http://127.0.0.1:{started.port}/v1/responses"
        self._headers = {"Authorization": f"Bearer {started.token}"}
        self._texts: dict[str, Text] = {}
        self._versions: dict[str, int] = {}
        self._asked = 0

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(headers=self._headers)
        self._socket = await self._http.ws_connect(self._root.replace("http", "ws", 1), compress=0, max_msg_size=0)
        await self._send(SessionHello("bench"))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()
        await self._http.close()

    async def _send(self, message: msgspec.Struct) -> None:
        await self._socket.send_str(codec.encode(message).decode())

    async def open(self, name: str, text: str) -> None:
        """As if nobody had seen this document before."""
        if name in self._texts:
            await self._send(DocumentDidClose(FOLDER + name))
        self._texts[name], self._versions[name] = Text(text), 1
        await self._send(DocumentDidOpen(FOLDER + name, "python", 1, text, self._texts[name].hash))

    async def type(self, name: str, text: str) -> None:
        at = self._end(name)
        document = self._texts[name]
        document.replace(document.end, document.end, text)
        self._versions[name] += 1
        version = self._versions[name]
        await self._send(DocumentDidChange(FOLDER + name, version - 1, version, [Change(Range(at, at), text)]))

    def _end(self, name: str) -> Position:
        document = self._texts[name]
        return Position(document.end.line, document.units(document.end, "utf-16"))

    async def ask(self, name: str) -> float | None:
        """Milliseconds to the first text of the small model, which is then stopped. None where it showed nothing."""
        self._asked += 1
        request_id = f"q{self._asked}"
        began = time.perf_counter()
        await self._send(Suggest(request_id, FOLDER + name, self._versions[name], self._end(name), "invoked"))
        first_ms, item_id = None, ""
        async for frame in self._socket:
            match codec.decode_server(frame.data):
                case SuggestionStarted(request_id=of, source="small") as started if of == request_id:
                    item_id = started.item_id
                case TextDelta() as delta if delta.item_id == item_id and first_ms is None:
                    first_ms = (time.perf_counter() - began) * 1e3
                    await self._send(Cancel(request_id))
                case SuggestionDone(request_id=of, source="small") if of == request_id:
                    return first_ms
                case _:
                    pass
        raise RuntimeError("the server closed the socket")

    async def request(self, history: list[dict[str, Any]], output_tokens: int) -> str:
        """Without state: all that was said before is sent again. The answer's text."""
        body = {"model": "fast", "input": history, "max_output_tokens": output_tokens, "store": False, "temperature": 0}
        async with self._http.post(self._root, json=body) as response:
            response.raise_for_status()
            answer = await response.json()
        parts = [part for item in answer["output"] for part in item.get("content", [])]
        return "".join(part.get("text", "") for part in parts)
