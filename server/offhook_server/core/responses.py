"""One response: what the engine says in, OpenAI's events and the Response object out. Not the sending, nor the engine.

    started() ─▶ in_progress ── text() · call() ─▶ in_progress, one item open at a time
                      │ finish(stop, tool_calls) ─▶ completed
                      │ finish(length) ───────────▶ incomplete (max_output_tokens)
                      │ cancelled() ──────────────▶ cancelled (event `response.incomplete`: clients wait for a
                      │ failed() ─────────────────▶ failed     terminal event they know)

What clients insist on is kept by construction: created first, one id, an item and its part are added before their first
delta, every item that is added is done before the end. Events of a named lane carry its `stream_id`.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from offhook_server.core.create import Create, Item

Event = dict[str, Any]
Reason = Literal["stop", "length", "cancelled", "tool_calls"]
_END = {
    "completed": "response.completed",
    "incomplete": "response.incomplete",
    "cancelled": "response.incomplete",
    "failed": "response.failed",
}
TERMINAL = frozenset(_END.values())


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens, as the engine counted them."""

    prompt: int = 0
    cached: int = 0
    output: int = 0


@dataclass(slots=True)
class _Open:
    """The item that is being written: a message, or the call of that `call_index`."""

    item: Item
    call_index: int | None = None
    pieces: list[str] = field(default_factory=list)


class Response:
    """Times are wall-clock seconds, as OpenAI's `created_at`."""

    def __init__(self, create: Create, response_id: str, created_at: int, lane: str | None = None) -> None:
        self.id = response_id
        self.status = "in_progress"
        self.output: list[Item] = []
        self._create = create
        self._lane = lane
        self._created_at = created_at
        self._completed_at: int | None = None
        self._error: dict[str, str] | None = None
        self._counted: Counted | None = None
        self._open: _Open | None = None
        self.sequence_number = 0

    @property
    def ended(self) -> bool:
        return self.status != "in_progress"

    @property
    def kept_items(self) -> tuple[Item, ...]:
        """What a continuation goes on from: all but a call that was cut short."""
        return tuple(i for i in self.output if i["type"] == "message" or i["status"] == "completed")

    def started(self) -> list[Event]:
        return [self._event(f"response.{name}", response=self.resource()) for name in ("created", "in_progress")]

    def text(self, text: str) -> list[Event]:
        return [] if self._create.warm_up else self._text(text)

    def call(self, index: int, call_id: str, name: str, arguments: str) -> list[Event]:
        """A piece of the `index`th tool call; `call_id` and `name` count with its first piece."""
        if self._create.warm_up:
            return []
        opened = self._open
        events: list[Event] = []
        if opened is None or opened.call_index != index:
            names = {"call_id": call_id, "name": name, "arguments": ""}
            opened, events = self._add({"type": "function_call", "id": self._item_id("fc"), **names}, index)
        if arguments:
            opened.pieces.append(arguments)
            events.append(self._item_event(opened, "response.function_call_arguments.delta", delta=arguments))
        return events

    def finish(self, reason: Reason, counted: Counted, now: int) -> list[Event]:
        self._counted = counted
        if reason == "cancelled":
            return self.cancelled()
        if reason == "length" and not self._create.warm_up:
            return [*self._close("incomplete"), self._end("incomplete")]
        self._completed_at = now
        # a model that says nothing has said an empty message: clients look for one
        said_nothing = not self._create.warm_up and not self.output and self._open is None
        events = self._text("") if said_nothing else []
        return [*events, *self._close("completed"), self._end("completed")]

    def cancelled(self) -> list[Event]:
        return [*self._close("incomplete"), self._end("cancelled")]

    def failed(self, message: str) -> list[Event]:
        self._error = {"code": "server_error", "message": message}
        return [self._end("failed")]

    # -- items

    def _text(self, text: str) -> list[Event]:
        opened = self._open
        events: list[Event] = []
        if opened is None or opened.call_index is not None:
            item = {"type": "message", "id": self._item_id("msg"), "role": "assistant", "content": []}
            opened, events = self._add(item, None)
            events.append(self._item_event(opened, "response.content_part.added", content_index=0, part=_part("")))
        if text:
            opened.pieces.append(text)
            delta = self._item_event(opened, "response.output_text.delta", content_index=0, delta=text, logprobs=[])
            events.append(delta)
        return events

    def _add(self, item: Item, call_index: int | None) -> tuple[_Open, list[Event]]:
        events = self._close("completed")
        opened = self._open = _Open({**item, "status": "in_progress"}, call_index)
        added = self._event("response.output_item.added", output_index=len(self.output), item=opened.item)
        return opened, [*events, added]

    def _close(self, status: str) -> list[Event]:
        """Ends the open item, if there is one."""
        opened = self._open
        if opened is None:
            return []
        item, text = {**opened.item, "status": status}, "".join(opened.pieces)
        if opened.call_index is None:
            item["content"] = [_part(text)]
            events = [
                self._item_event(opened, "response.output_text.done", content_index=0, text=text, logprobs=[]),
                self._item_event(opened, "response.content_part.done", content_index=0, part=_part(text)),
            ]
        else:
            item["arguments"] = text
            kind = "response.function_call_arguments.done"
            events = [self._item_event(opened, kind, name=item["name"], arguments=text)]
        events.append(self._event("response.output_item.done", output_index=len(self.output), item=item))
        self.output.append(item)
        self._open = None
        return events

    def _item_id(self, prefix: str) -> str:
        number = len(self.output) + (self._open is not None)
        return f"{prefix}_{self.id.removeprefix('resp_')}_{number}"

    # -- events

    def _item_event(self, opened: _Open, kind: str, **fields: Any) -> Event:
        return self._event(kind, item_id=opened.item["id"], output_index=len(self.output), **fields)

    def _event(self, kind: str, **fields: Any) -> Event:
        event = {"type": kind, "sequence_number": self.sequence_number, **fields}
        self.sequence_number += 1
        return event if self._lane is None else {**event, "stream_id": self._lane}

    def _end(self, status: str) -> Event:
        self.status = status
        return self._event(_END[status], response=self.resource())

    def resource(self) -> dict[str, Any]:
        """The Response object: all keys that Open Responses requires, and those the SDKs type."""
        asked = self._create
        return {
            "id": self.id,
            "object": "response",
            "created_at": self._created_at,
            "completed_at": self._completed_at,
            "status": self.status,
            "incomplete_details": {"reason": "max_output_tokens"} if self.status == "incomplete" else None,
            "model": asked.model,
            "previous_response_id": asked.previous_response_id,
            "instructions": asked.instructions,
            "output": list(self.output),
            "error": self._error,
            "tools": asked.tools or [],
            "tool_choice": asked.tool_choice or "auto",
            "truncation": asked.truncation or "disabled",
            "parallel_tool_calls": asked.parallel_tool_calls is not False,
            "text": {"format": {"type": "text"}, **(asked.text or {})},
            "top_p": 1.0 if asked.top_p is None else asked.top_p,
            "presence_penalty": asked.presence_penalty or 0.0,
            "frequency_penalty": asked.frequency_penalty or 0.0,
            "top_logprobs": asked.top_logprobs or 0,
            "temperature": 1.0 if asked.temperature is None else asked.temperature,
            "reasoning": {"effort": None, "summary": None, **(asked.reasoning or {})},
            "user": asked.user,
            "usage": self._usage(),
            "max_output_tokens": asked.max_output_tokens,
            "max_tool_calls": asked.max_tool_calls,
            "store": asked.stored,
            "background": False,
            "service_tier": asked.service_tier or "default",
            "metadata": asked.metadata or {},
            "safety_identifier": asked.safety_identifier,
            "prompt_cache_key": asked.prompt_cache_key,
        }

    def _usage(self) -> dict[str, Any] | None:
        """None until the engine has counted."""
        counted = self._counted
        if counted is None:
            return None
        output_tokens = 0 if self._create.warm_up else counted.output
        return {
            "input_tokens": counted.prompt,
            "input_tokens_details": {"cached_tokens": counted.cached, "cache_write_tokens": 0},
            "output_tokens": output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counted.prompt + output_tokens,
        }


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
