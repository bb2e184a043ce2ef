"""/v1/chat/completions: what is asked, checked, and the chunks or the completion that answer. Not the sending."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from offhook_server.core import body
from offhook_server.core.conversation import Message, text_of
from offhook_server.core.create import DEFAULT_MODEL, ToolChoice
from offhook_server.core.responses import Counted, Reason
from offhook_server.errors import PeerError

Chunk = dict[str, Any]
_FINISH: dict[Reason, str] = {"stop": "stop", "length": "length", "cancelled": "stop", "tool_calls": "tool_calls"}
_Tokens = Annotated[int, Meta(ge=1)]


class ToolFunction(Struct, frozen=True):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(Struct, frozen=True):
    type: Literal["function"]
    function: ToolFunction


class ChatMessage(Struct, frozen=True, omit_defaults=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


class StreamOptions(Struct, frozen=True):
    include_usage: bool | None = None


class Chat(Struct, frozen=True, kw_only=True):
    """The fields that count, under OpenAI's names; others are taken and ignored."""

    messages: Annotated[list[ChatMessage], Meta(min_length=1)]
    model: str = DEFAULT_MODEL
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    max_tokens: _Tokens | None = None
    max_completion_tokens: _Tokens | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    stop: str | list[str] | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None


_decoder = msgspec.json.Decoder(Chat)


def read_chat(raw: bytes) -> Chat:
    """Raises PeerError."""
    chat = body.read(_decoder, raw)
    if chat.n not in (None, 1):
        raise PeerError("Only one choice is made here: leave out 'n'.", code="unsupported_value", param="n")
    return chat


def messages(chat: Chat) -> list[Message]:
    """Raises PeerError for parts that are not text."""
    return [_message(message, f"messages[{index}]") for index, message in enumerate(chat.messages)]


def tools(chat: Chat) -> list[dict[str, Any]] | None:
    return msgspec.to_builtins(chat.tools) or None


def _message(message: ChatMessage, param: str) -> Message:
    plain: Message = msgspec.to_builtins(message)
    plain["role"] = "system" if message.role == "developer" else message.role
    plain["content"] = text_of(message.content or "", f"{param}.content")
    return plain


class Completion:
    """One answer, as chunks while it comes and as a whole at the end. `created_at`: wall-clock seconds."""

    def __init__(self, chat: Chat, completion_id: str, created_at: int) -> None:
        self._chat = chat
        self._head = {"id": completion_id, "created": created_at, "model": chat.model, "system_fingerprint": None}
        self._texts: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._counted = Counted()
        self._reason = "stop"

    def started(self) -> Chunk:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, text: str) -> list[Chunk]:
        self._texts.append(text)
        return [self._chunk({"content": text})]

    def call(self, index: int, call_id: str, name: str, arguments: str) -> list[Chunk]:
        """A piece of the `index`th tool call; the whole call grows beside it."""
        known = self._calls.get(index)
        if known is not None:
            known["function"]["arguments"] += arguments
            return [self._chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})]
        call: dict[str, Any] = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        self._calls[index] = call
        first = {"index": index, **call, "function": dict(call["function"])}
        return [self._chunk({"tool_calls": [first]})]

    def finish(self, reason: Reason, counted: Counted, now: int) -> list[Chunk]:
        """`now` is not told: a completion has no end time."""
        self._counted = counted
        self._reason = "tool_calls" if self._calls else _FINISH[reason]
        last = self._chunk({}, self._reason)
        options = self._chat.stream_options
        if options is None or not options.include_usage:
            return [last]
        return [last, {**last, "choices": [], "usage": self._usage()}]

    def whole(self) -> dict[str, Any]:
        """The completion; only after `finish`."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts) or None, "refusal": None}
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": self._usage()}

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}

    def _usage(self) -> dict[str, Any]:
        counted = self._counted
        return {
            "prompt_tokens": counted.prompt,
            "completion_tokens": counted.output,
            "total_tokens": counted.prompt + counted.output,
            "prompt_tokens_details": {"cached_tokens": counted.cached},
        }
