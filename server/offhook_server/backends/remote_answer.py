"""A place's answer: the data of its events in, pieces out. Knows OpenAI's chunks, llama.cpp's own and Mistral's. Pure."""

from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from offhook_server.backends.base import Call, Delta, Finished, Piece, Progress
from offhook_server.backends.remote_errors import CUT, ENDLESS, NONSENSE, TALK, refusal
from offhook_server.core.code_only import CodeOnly
from offhook_server.errors import BackendError

CHARACTERS_A_TOKEN = 40  # more than any model gives for long
SPARE_CHARACTERS = 2000

Reason = Literal["stop", "length", "cancelled", "tool_calls"]
LENGTHS = ("length", "limit", "model_length", "max_tokens")


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(Struct):
    function: _Function
    index: int | None = None
    id: str | None = None


class _Said(Struct):
    content: str | list[Any] | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(Struct):
    delta: _Said | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Cached(Struct):
    cached_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek's word


class _Timings(Struct):
    cache_n: int = 0
    prompt_n: int = 0
    predicted_n: int = 0
    prompt_ms: float = 0.0
    predicted_ms: float = 0.0


class _PromptProgress(Struct):
    processed: int
    total: int
    cache: int = 0


class _Chunk(Struct):
    """`content`, `stop` and `stop_type` are of llama.cpp's /infill."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None
    content: str | None = None
    stop: bool = False
    stop_type: str = ""
    timings: _Timings | None = None
    prompt_progress: _PromptProgress | None = None


class Answer:
    """`code`: picks the code out of the answer to an infill, which then begins with `lead`. `most_tokens`: after far more
    than that the model is taken for endless."""

    def __init__(self, request_id: int, most_tokens: int, code: CodeOnly | None = None, lead: str = "") -> None:
        self.reason: Reason | None = None  # set: all the text is there, only figures may follow
        self.done = False
        self.cut_off = False  # done by us: the model would go on
        self._id = request_id
        self._most_tokens = most_tokens
        self._code = code
        self._lead = lead
        self._events = self._deltas = self._characters = self._calls = 0
        self._said = False
        self._progress = Progress(request_id, 0, 0, 0)
        self._usage = _Usage()
        self._timings: _Timings | None = None

    def take(self, data: str) -> list[Piece]:
        """Raises BackendError."""
        if data.strip() == "[DONE]":
            self.done = True
            return []
        try:
            chunk = msgspec.json.decode(data, type=_Chunk)
        except msgspec.DecodeError:
            raise BackendError(NONSENSE) from None
        if chunk.error is not None:
            raise _failed(chunk.error)
        self._usage = chunk.usage or self._usage
        self._timings = chunk.timings or self._timings
        self._events += 1
        pieces: list[Piece] = []
        if chunk.prompt_progress:
            told = chunk.prompt_progress
            self._progress = Progress(self._id, told.processed, told.total, told.cache)
            pieces.append(self._progress)
        for choice in chunk.choices or ():
            pieces += self._choice(choice)
        pieces += self._text(chunk.content)
        if chunk.stop:
            self._ended_by(chunk.stop_type)
            self.done = True
        return pieces

    def end(self, prefill_ms: float, decode_ms: float) -> list[Piece | Finished]:
        """After the last event: the text held back until now, and Finished. Raises BackendError when the stream was cut
        short, or was nothing that can be used."""
        if self.reason is None and not self.done:
            raise BackendError(CUT, retryable=True) if self._events else BackendError(NONSENSE)
        pieces: list[Piece | Finished] = []
        if self._code:
            pieces += self._delta(self._code.finish())
            if self._code.only_talk:
                raise BackendError(TALK)
        return [*pieces, self._finished(prefill_ms, decode_ms)]

    def _choice(self, choice: _Choice) -> list[Piece]:
        said = choice.delta or _Said()
        content = choice.text if choice.text is not None else said.content
        pieces = self._text(content if isinstance(content, str) else None)
        pieces += [self._call(call) for call in said.tool_calls or ()]
        if choice.finish_reason:
            self._ended_by(choice.finish_reason)
        return pieces

    def _text(self, text: str | None) -> list[Piece]:
        if not text or self.done:
            return []
        self._deltas += 1
        self._characters += len(text)
        if self._characters > CHARACTERS_A_TOKEN * self._most_tokens + SPARE_CHARACTERS:
            raise BackendError(ENDLESS)
        if self._code is None:
            return self._delta(text)
        pieces = self._delta(self._code.feed(text))
        if self._code.ended:
            self.reason, self.done, self.cut_off = "stop", True, True
        return pieces

    def _delta(self, text: str) -> list[Piece]:
        if not text:
            return []
        lead = "" if self._said else self._lead
        self._said = True
        return [Delta(self._id, lead + text)]

    def _call(self, call: _ToolCall) -> Call:
        if call.function.name:
            self._calls += 1
        index = call.index if call.index is not None else max(0, self._calls - 1)
        return Call(self._id, index, call.id or "", call.function.name or "", call.function.arguments or "")

    def _ended_by(self, word: str) -> None:
        if word in LENGTHS:
            self.reason = "length"
        else:
            self.reason = "tool_calls" if self._calls else "stop"

    def _finished(self, prefill_ms: float, decode_ms: float) -> Finished:
        usage, timings = self._usage, self._timings
        details = usage.prompt_tokens_details or _Cached()
        cached = details.cached_tokens or usage.prompt_cache_hit_tokens or self._progress.cached
        finished = Finished(
            self._id,
            self.reason or "stop",
            prompt_tokens=usage.prompt_tokens or self._progress.total,
            cached_tokens=cached,
            output_tokens=usage.completion_tokens or self._deltas,
            prefill_ms=prefill_ms,
            decode_ms=decode_ms,
        )
        if timings is None:
            return finished
        return structs.replace(
            finished,
            prompt_tokens=timings.cache_n + timings.prompt_n,
            cached_tokens=timings.cache_n,
            output_tokens=timings.predicted_n,
            prefill_ms=timings.prompt_ms,
            decode_ms=timings.predicted_ms,
        )


def _failed(error: Any) -> BackendError:
    """An error in the middle of a stream that began well."""
    status = error.get("code") if isinstance(error, dict) else None
    return refusal(status if isinstance(status, int) else 500, msgspec.json.encode(error).decode())
