"""Typed questions and their answers in one folder: what to ask the server, what to keep, what to show. Not the line.

    ask ──▶ kept ──▶ response.create ──▶ created, deltas, the end ──▶ kept, shown
     │                                         │
     └─ stops the one that runs                └─ line lost: asked again by itself, where nothing had come; else cut off

Facts come in as method calls with `now` (loop seconds), frozen actions go out, `deadline` says when to call `tick`.
The lane answers in order, so what the server says is always of the oldest question that it has not ended.
What was seen is what counts: after an answer that did not end by itself the history is sent again as it stands here.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from offhook_app.state.context import Context
from offhook_app.state.exchange import Exchange, Stage
from offhook_app.state.line_state import LineState
from offhook_wire.line import KEPT_ITEMS
from offhook_wire.messages import ClientEvent, ErrorEvent, ServerEvent, SuggestionStarted, TextDelta
from offhook_wire.responses import (
    ResponseCancel,
    ResponseCompleted,
    ResponseCreate,
    ResponseCreated,
    ResponseFailed,
    ResponseIncomplete,
)

LANE = "deep"
MODEL = "deep"
SAVE_EVERY_S = 1.0
MOST_OUTPUT_TOKENS = 768
MOST_CHARACTERS = 4000  # of what was said before; grown longer, the newer half is kept
INSTRUCTIONS = (
    "You are Offhook, a pair programmer inside a code editor. Answer briefly, in Markdown, in the language of the "
    "question. Put code into fenced blocks that name their language, without line numbers, ready to be inserted."
)

_LINE_LOST = "The line was lost. What had come is kept."
_APP_ENDED = "Offhook ended before this was written. What had come is kept."
_SERVER_STOPPED = "The server stopped this answer. What had come is kept."
_TOO_LONG = f"It reached its limit of {MOST_OUTPUT_TOKENS} tokens. Ask it to go on for more."
_NOTHING_CAME = "The model had nothing to say. Ask again, in other words."


@dataclass(frozen=True, slots=True)
class Send:
    message: ClientEvent


@dataclass(frozen=True, slots=True)
class Keep:
    """On the disk before the next action."""

    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Show:
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Forget:
    """Everything, from the screen and from the disk."""


Action = Send | Keep | Show | Forget


@dataclass(slots=True)
class _Asked:
    """A `response.create` whose end has not come. `previous` is what it continues."""

    exchange_id: int
    previous: str | None
    response_id: str | None = None


class Conversation:
    def __init__(self, kept: Sequence[Exchange] = ()) -> None:
        self._exchanges = {exchange.id: _left_behind(exchange) for exchange in kept}
        self._next_id = max(self._exchanges, default=0) + 1
        self._carried = False  # by a line that can carry questions
        self._asked: deque[_Asked] = deque()
        self._suggestions: deque[str] = deque(maxlen=KEPT_ITEMS)  # whose words come on this lane too
        self._previous: str | None = None  # the response the next question continues
        self._reads_from = self._next_id
        self._retried = 0  # the exchange that was asked again by itself
        self._kept_at = 0.0
        self._unkept: int | None = None  # the exchange that has grown since

    @property
    def exchanges(self) -> list[Exchange]:
        return list(self._exchanges.values())

    @property
    def running(self) -> Exchange | None:
        last = self._last
        return last if last and last.running else None

    @property
    def reads_from(self) -> int:
        """The id of the oldest exchange the model still reads with the next answer."""
        return self._reads_from

    @property
    def deadline(self) -> float | None:
        return None if self._unkept is None else self._kept_at + SAVE_EVERY_S

    @property
    def _last(self) -> Exchange | None:
        return next(reversed(self._exchanges.values()), None)

    # -- the person -----------------------------------------------------------------------------------------------

    def ask(self, question: str, context: Context | None, now: float) -> list[Action]:
        """A question typed while another runs takes its place, as cutting in does."""
        actions = self.stop(now)
        exchange = Exchange(self._next_id, question, context)
        self._next_id += 1
        self._exchanges[exchange.id] = exchange
        return actions + (self._submit(exchange, now) if self._carried else self._settle(exchange, now))

    def ask_again(self, now: float) -> list[Action]:
        """The last question, where its answer did not come to its end."""
        last = self._last
        if last is None or not last.may_be_asked_again:
            return []
        old = self._settle(structs.replace(last, superseded=True), now)
        return old + self.ask(last.question, last.context, now)

    def stop(self, now: float) -> list[Action]:
        running = self.running
        if running is None:
            return []
        cancel = [Send(self._cancel())] if running.stage != "queued" else []
        return [*cancel, *self._end(running, "stopped", "", now)]

    def clear(self) -> list[Action]:
        actions: list[Action] = [Send(self._cancel())] if self._asked and self.running else []
        self._exchanges.clear()
        self._previous = self._unkept = None
        self._reads_from = self._next_id
        return [*actions, Forget()]

    # -- the line -------------------------------------------------------------------------------------------------

    def line(self, state: LineState, now: float) -> list[Action]:
        carried, self._carried = self._carried, state.up
        if carried == self._carried:
            return []
        running = self.running
        if self._carried:
            return self._submit(running, now) if running else []
        self._asked.clear()
        self._previous = None  # the server's memory of it went with the connection
        if running is None:
            return []
        if running.answer or self._retried == running.id:
            return self._end(running, "cut", _LINE_LOST, now)
        self._retried = running.id
        return self._settle(structs.replace(running, stage="queued"), now)

    def tick(self, now: float) -> list[Action]:
        deadline = self.deadline
        if self._unkept is None or deadline is None or now < deadline:
            return []
        return [self._keep(self._exchanges[self._unkept], now)]

    def received(self, event: ServerEvent, now: float) -> list[Action]:
        if isinstance(event, SuggestionStarted):
            self._suggestions.append(event.item_id)
        return self._heard(event, now) if self._asked else []

    def _heard(self, event: ServerEvent, now: float) -> list[Action]:
        match event:
            case ResponseCreated(stream_id=lane) if lane == LANE:
                self._asked[0].response_id = event.response.id
            case TextDelta(stream_id=lane) if lane == LANE and self._asked[0].response_id:
                return self._grow(event.delta, now) if event.item_id not in self._suggestions else []
            case ResponseCompleted(stream_id=lane) | ResponseIncomplete(stream_id=lane) if lane == LANE:
                return self._ended(event.response.status, now)
            case ResponseFailed(stream_id=lane) if lane == LANE:
                error = event.response.error
                return self._failed(error.message if error else _SERVER_STOPPED, now)
            case ErrorEvent(stream_id=lane) if lane == LANE:
                return self._refused(event, now)
            case _:
                pass
        return []

    def _grow(self, text: str, now: float) -> list[Action]:
        exchange = self._of(self._asked[0])
        if exchange is None:
            return []
        grown = structs.replace(exchange, answer=exchange.answer + text, stage="writing")
        self._exchanges[grown.id] = grown
        if now < self._kept_at + SAVE_EVERY_S:
            self._unkept = grown.id
            return [Show(grown)]
        return [self._keep(grown, now), Show(grown)]

    def _ended(self, status: str, now: float) -> list[Action]:
        asked = self._asked.popleft()
        exchange = self._of(asked)
        if exchange is None:
            return []
        if status == "cancelled":
            return self._end(exchange, "cut", _SERVER_STOPPED, now)
        if not exchange.answer:
            return self._end(exchange, "failed", _NOTHING_CAME, now)
        if status == "incomplete":
            actions = self._end(exchange, "long", _TOO_LONG, now)
        else:
            actions = self._end(exchange, "done", "", now)
        self._previous = asked.response_id
        return actions

    def _failed(self, message: str, now: float) -> list[Action]:
        exchange = self._of(self._asked.popleft())
        return self._end(exchange, "failed", message, now) if exchange else []

    def _refused(self, event: ErrorEvent, now: float) -> list[Action]:
        """The server has no such response any more: it is told all again."""
        asked = self._asked[0]
        exchange = self._of(asked)
        if event.error.code != "previous_response_not_found" or asked.previous is None or exchange is None:
            return self._failed(event.error.message, now)
        self._asked.popleft()
        self._previous = None
        return self._submit(exchange, now)

    def _of(self, asked: _Asked) -> Exchange | None:
        """The exchange, while it still waits for what the server says."""
        exchange = self._exchanges.get(asked.exchange_id)
        return exchange if exchange and exchange.running else None

    # -- what follows ---------------------------------------------------------------------------------------------

    def _submit(self, exchange: Exchange, now: float) -> list[Action]:
        sent = structs.replace(exchange, stage="sent")
        said = self._said_before(sent)
        if self._previous is None:
            items = [item for index, earlier in enumerate(said) for item in _both(earlier, said[:index])]
        else:
            items = []
        items.append(_item("user", _question(sent, said)))
        self._asked.append(_Asked(sent.id, self._previous))
        create = ResponseCreate(
            input=items,
            model=MODEL,
            stream_id=LANE,
            previous_response_id=self._previous,
            instructions=INSTRUCTIONS,
            max_output_tokens=MOST_OUTPUT_TOKENS,
            store=False,
        )
        return [*self._settle(sent, now), Send(create)]

    def _said_before(self, exchange: Exchange) -> list[Exchange]:
        """What the model knows or is told before `exchange`. Grown too long, the older half is left behind."""
        answered = [e for e in self._exchanges.values() if e.answered and e.id != exchange.id]
        said = [e for e in answered if e.id >= self._reads_from]
        if self._previous is None:
            said = _newest(answered, MOST_CHARACTERS)
        elif _size(said) > MOST_CHARACTERS:
            said = _newest(said, MOST_CHARACTERS // 2)
            self._previous = None
        self._reads_from = said[0].id if said else exchange.id
        return said

    def _cancel(self) -> ResponseCancel:
        return ResponseCancel(stream_id=LANE, response_id=self._asked[-1].response_id)

    def _end(self, exchange: Exchange, stage: Stage, note: str, now: float) -> list[Action]:
        self._previous = None
        return self._settle(structs.replace(exchange, stage=stage, note=note), now)

    def _settle(self, exchange: Exchange, now: float) -> list[Action]:
        self._exchanges[exchange.id] = exchange
        return [self._keep(exchange, now), Show(exchange)]

    def _keep(self, exchange: Exchange, now: float) -> Keep:
        self._kept_at, self._unkept = now, None
        return Keep(exchange)


def _left_behind(exchange: Exchange) -> Exchange:
    """As it is found after the app has ended in the middle of it."""
    return structs.replace(exchange, stage="cut", note=_APP_ENDED) if exchange.running else exchange


def _item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _question(exchange: Exchange, before: Sequence[Exchange]) -> str:
    """Lines that the model has been shown already are not shown again."""
    context = exchange.context
    if context is None or any(earlier.context == context for earlier in before):
        return exchange.question
    return context.before(exchange.question)


def _both(exchange: Exchange, before: Sequence[Exchange]) -> list[dict[str, Any]]:
    return [_item("user", _question(exchange, before)), _item("assistant", exchange.answer)]


def _size(exchanges: Sequence[Exchange]) -> int:
    """In characters."""
    return sum(len(e.question) + len(e.answer) + len(e.context.text if e.context else "") for e in exchanges)


def _newest(exchanges: Sequence[Exchange], most_characters: int) -> list[Exchange]:
    """The last ones that fit together."""
    first = len(exchanges)
    while first and _size(exchanges[first - 1 :]) <= most_characters:
        first -= 1
    return list(exchanges[first:])
