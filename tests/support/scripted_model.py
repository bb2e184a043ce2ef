"""A model that does what the last user message says: `[[say: …]]`, `[[call: name {json}]]`, `[[hang]]`,
`[[fail]]`, `[[flood: deltas]]`, `[[bug]]`.

It speaks as the null engine does, without a process. `stopped` gets an entry for every stream that was ended early.
"""

import asyncio
import re
from collections.abc import AsyncGenerator
from queue import SimpleQueue
from typing import Any

from offhook_server.backends.base import Call, Delta, Finished, Generate, Piece, Progress
from offhook_server.errors import BackendError

_DIRECTIVE = re.compile(r"\[\[(?P<verb>\w+)(?:: ?(?P<rest>.*?))?\]\]", re.DOTALL)


class ScriptedModel:
    name = "scripted"

    def __init__(self) -> None:
        self.requests: list[Generate] = []
        self.stopped: SimpleQueue[Generate] = SimpleQueue()

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        self.requests.append(request)
        ended = False
        try:
            async for piece in self._pieces(request):
                ended = isinstance(piece, Finished)
                yield piece
        except BackendError:
            ended = True
            raise
        finally:
            if not ended:
                self.stopped.put(request)

    async def _pieces(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        last: dict[str, Any] = (request.messages or [{}])[-1]
        text = last.get("content", "")
        found = _DIRECTIVE.finditer(text) if last.get("role") == "user" else []
        prompt_tokens = sum(len(message["content"].split()) for message in request.messages or [])
        yield Progress(request.id, prompt_tokens, prompt_tokens, 0)
        heard = f"The tool said: {text}" if last.get("role") == "tool" else f"You said: {text}"
        said = calls = 0
        for verb, rest in [(match["verb"], match["rest"] or "") for match in found] or [("say", heard)]:
            if verb == "say":
                for word in re.findall(r"\s*\S+", rest):
                    if said == request.max_tokens:
                        yield Finished(request.id, "length", prompt_tokens, 0, said)
                        return
                    said += 1
                    yield Delta(request.id, word)
            elif verb == "call":
                name, _, arguments = rest.partition(" ")
                half = len(arguments) // 2
                yield Call(request.id, calls, f"call_{len(self.requests)}_{calls}", name, arguments[:half])
                yield Call(request.id, calls, "", "", arguments[half:])
                calls += 1
            elif verb == "flood":
                for _ in range(int(rest)):
                    said += 1
                    yield Delta(request.id, "x" * 1024)
                    await asyncio.sleep(0)
            elif verb == "hang":
                await asyncio.Event().wait()
            elif verb == "fail":
                raise BackendError("The engine went away. Ask again.", retryable=rest == "retryable")
            elif verb == "bug":
                raise ZeroDivisionError
        yield Finished(request.id, "tool_calls" if calls else "stop", prompt_tokens, 0, said)
