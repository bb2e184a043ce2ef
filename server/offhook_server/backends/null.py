"""An engine without a model: answers by script, the same on every machine. Not a mock: it keeps every promise of `base`.

It says a fixed sentence and the last user message; after a raw prompt it goes on with a line of code. Directives in the
last user message (or anywhere in a raw prompt; the last one of a kind counts) ask for something else:

    [[say: text]]           this text, with \\n for a line end
    [[call: name {"a":1}]]  a tool call (several make several); tool_choice that forces one does the same with {}
    [[tokens: 500]]         the text cut or repeated to so many tokens
    [[prefill_ms: 200]]     time for the whole prompt, less what is cached
    [[token_ms: 5]]         time before each token
    [[fail]]                a BackendError after the text
    [[crash]]               the worker's process ends after the text
    [[hang]]                nothing more after the text, until cancelled

A token is a word with the space before it. Each slot remembers its last prompt, as a prefix cache would.
"""

import json
import os
import re
import threading
import zlib
from collections.abc import Iterator
from time import perf_counter
from typing import Any, Literal, NamedTuple

from offhook_server.backends.base import Call, Delta, Emit, Finished, Generate, Progress
from offhook_server.core.fim import QWEN
from offhook_server.errors import BackendError

Reason = Literal["stop", "length", "cancelled", "tool_calls"]

BATCH_TOKENS = 16
CRASH_EXIT_CODE = 70
_CANCELLED: Reason = "cancelled"
_TOKEN = re.compile(r"\s*\S+|\s+")
_DIRECTIVE = re.compile(r"\[\[(say|call|tokens|prefill_ms|token_ms|fail|crash|hang)(?::\s*(.*?))?\]\]", re.DOTALL)
_CONTINUATIONS = (
    "return [item for item in items if item is not None]\n",
    'raise ValueError(f"unknown name: {name!r}")\n',
    "for index, line in enumerate(lines):\n    print(index, line)\n",
    "self.total += amount\n",
)


class Script(NamedTuple):
    """What a request asks for: `calls` are (name, arguments) pairs."""

    text: str
    calls: list[tuple[str, str]]
    prefill_ms: float
    token_ms: float
    ending: str | None


class NullEngine:
    name = "null"
    model = "null"
    slots = 16

    def __init__(self, *, load_ms: float = 0.0, ttft_ms: float = 0.0, token_ms: float = 0.0) -> None:
        threading.Event().wait(load_ms / 1000)
        self._ttft_ms = ttft_ms
        self._token_ms = token_ms
        self._cache: dict[int, list[str]] = {}

    def generate(self, request: Generate, emit: Emit) -> Finished:
        request = request.as_prompt(QWEN)
        script = self._script(request)
        started = perf_counter()
        prompt = _TOKEN.findall(_prompt_text(request))
        cached = self._cached(request.slot, prompt)
        stopped = self._prefill(request, prompt, cached, script.prefill_ms, emit)
        prefilled = perf_counter()
        sent, reason = (0, _CANCELLED) if stopped else _decode(request, script, emit)
        return Finished(
            request.id,
            reason,
            prompt_tokens=len(prompt),
            cached_tokens=cached,
            output_tokens=sent,
            prefill_ms=(prefilled - started) * 1000,
            decode_ms=(perf_counter() - prefilled) * 1000,
        )

    def _script(self, request: Generate) -> Script:
        source = _directed(request)
        found = _DIRECTIVE.findall(source)
        said = dict(found)
        calls = [_call(argument) for kind, argument in found if kind == "call"] or _forced_call(request)
        text = said["say"].replace("\\n", "\n") if "say" in said else "" if calls else _default_text(request, source)
        text = _cut_at_stop(text, request.stop)
        if "tokens" in said:
            text = _to_length(text, int(said["tokens"]))
        return Script(
            text,
            calls,
            float(said.get("prefill_ms", self._ttft_ms)),
            float(said.get("token_ms", self._token_ms)),
            next((kind for kind in ("fail", "crash", "hang") if kind in said), None),
        )

    def _cached(self, slot: int, prompt: list[str]) -> int:
        """Tokens at the head that the slot's last prompt had too; the last token is always evaluated again."""
        before = self._cache.get(slot, [])
        same = 0
        while same < min(len(before), len(prompt) - 1) and before[same] == prompt[same]:
            same += 1
        return same

    def _prefill(self, request: Generate, prompt: list[str], cached: int, prefill_ms: float, emit: Emit) -> bool:
        done = cached
        stopped = emit(Progress(request.id, done, len(prompt), cached))
        while not stopped and done < len(prompt):
            batch = min(BATCH_TOKENS, len(prompt) - done)
            stopped = emit.wait(prefill_ms / 1000 * batch / len(prompt))
            if not stopped:
                done += batch
                stopped = emit(Progress(request.id, done, len(prompt), cached))
        self._cache[request.slot] = prompt[:done]
        return stopped


def _decode(request: Generate, script: Script, emit: Emit) -> tuple[int, Reason]:
    """Tokens sent, and why no more."""
    pieces = list(_pieces(request.id, script))
    allowed = pieces[: request.max_tokens]
    for sent, piece in enumerate(allowed):
        if emit.wait(script.token_ms / 1000) or emit(piece):
            return sent, _CANCELLED
    match script.ending:
        case "fail":
            raise BackendError("The null engine was told to fail; take [[fail]] out of the text.")
        case "crash":
            os._exit(CRASH_EXIT_CODE)
        case "hang":
            emit.wait(None)
            return len(allowed), _CANCELLED
        case _:
            pass
    if len(allowed) < len(pieces):
        return len(allowed), "length"
    return len(allowed), "tool_calls" if script.calls else "stop"


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _prompt_text(request: Generate) -> str:
    if request.prompt is not None:
        return request.prompt
    return "\n".join(f"{message['role']}: {_content(message)}" for message in request.messages or [])


def _directed(request: Generate) -> str:
    """The text whose directives count: nothing when a tool has answered, else that would call the tool for ever."""
    if request.prompt is not None:
        return request.prompt
    last = (request.messages or [{"role": "user"}])[-1]
    return _content(last) if last["role"] == "user" else ""


def _default_text(request: Generate, source: str) -> str:
    if request.prompt is not None:
        return _CONTINUATIONS[zlib.crc32(source.encode()) % len(_CONTINUATIONS)]
    last = (request.messages or [{"role": "user"}])[-1]
    if last["role"] == "tool":
        return f"The tool said: {_content(last)}"
    return f"This is the null engine. You said: {_DIRECTIVE.sub('', source).strip()}".rstrip()


def _call(argument: str) -> tuple[str, str]:
    name, _, arguments = argument.strip().partition(" ")
    return name, arguments.strip() or "{}"


def _forced_call(request: Generate) -> list[tuple[str, str]]:
    """The call that `tool_choice` demands, in either of OpenAI's two shapes for a named function."""
    if request.messages and request.messages[-1]["role"] == "tool":
        return []
    choice = request.tool_choice
    if isinstance(choice, dict):
        return [(choice.get("function", choice)["name"], "{}")]
    if choice == "required" and request.tools:
        return [(request.tools[0].get("function", request.tools[0])["name"], "{}")]
    return []


def _cut_at_stop(text: str, stop: list[str]) -> str:
    return text[: min((place for word in stop if (place := text.find(word)) >= 0), default=len(text))]


def _to_length(text: str, tokens: int) -> str:
    words = _TOKEN.findall(text.rstrip()) or ["more"]
    return "".join(words[i] if i < len(words) else f" {words[i % len(words)].lstrip()}" for i in range(tokens))


def _pieces(request_id: int, script: Script) -> Iterator[Delta | Call]:
    for token in _TOKEN.findall(script.text):
        yield Delta(request_id, token)
    for index, (name, arguments) in enumerate(script.calls):
        half = len(arguments) // 2
        call_id = f"call_{zlib.crc32(json.dumps([index, name, arguments]).encode()):08x}"
        yield Call(request_id, index, call_id, name, arguments[:half])
        yield Call(request_id, index, "", "", arguments[half:])
