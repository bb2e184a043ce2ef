"""The fast lane of one session: the copy model at every key, the small model after a pause. Decides nothing itself.

Performs the actions of core.suggestions: asks the two models, passes their text through core.trim, times every part,
and hands the events to the session. One task an ask; cancelling it reaches the engine (backends.base.Model).
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol, assert_never
from uuid import uuid4

from msgspec import Struct, structs

from offhook_server import metrics
from offhook_server.backends.base import Delta, Finished, Generate, Model, Progress
from offhook_server.core.copying import Guess, Neighbour, confident
from offhook_server.core.documents import Document, Documents
from offhook_server.core.healing import Healing, lead_of
from offhook_server.core.prompt import STOPS, PromptWindow
from offhook_server.core.suggestions import (
    Action,
    Ask,
    AskCopy,
    Done,
    Rebased,
    Said,
    Source,
    Started,
    StartSmall,
    StopSmall,
    Suggestions,
)
from offhook_server.core.trim import Trim
from offhook_server.errors import BackendError
from offhook_wire.messages import (
    Outcome,
    Suggest,
    SuggestionDone,
    SuggestionRebased,
    SuggestionStarted,
    TextDelta,
    Timing,
)
from offhook_wire.text import Edit, Point, Text

LANE = "fast"
LINE_TOKENS = 24
BLOCK_TOKENS = 64
COPY_CONTEXT_LINES = 80
COPY_CONTEXT_CHARS = 3000


class CopyModel(Protocol):
    async def ask(self, uri: str, line: int, before: str, after_line: str) -> Guess | None: ...


@dataclass(slots=True)
class Asked:
    """One request being served: what it was, when its parts happened (loop seconds), what its events are called."""

    message: Suggest
    document: Document
    received_at: float
    mirrored_at: float
    neighbour: Neighbour | None = None
    task: asyncio.Task[None] | None = None
    asked_at: float | None = None
    evaluating_at: float | None = None
    answered: bool = False
    first_at: dict[Source, float] = field(default_factory=dict)
    finished: Finished | None = None
    suggestion_ids: dict[Source, str] = field(default_factory=dict)
    sequence: dict[Source, int] = field(default_factory=dict)

    def item_id(self, source: Source) -> str:
        return f"msg_{self.suggestion_ids[source]}"


class FastLane:
    def __init__(
        self,
        documents: Documents,
        copy_model: CopyModel,
        small_model: Callable[[], Model | None],
        emit: Callable[[Struct], None],
        clock: Callable[[], float],
    ) -> None:
        self._documents = documents
        self._copy_model = copy_model
        self._small_model = small_model
        self._emit = emit
        self._clock = clock
        self._machine = Suggestions()
        self._asked: dict[str, Asked] = {}
        self._windows: dict[str, PromptWindow] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def queue_depth(self) -> int:
        return len(self._asked)

    # -- what happens to it -------------------------------------------------------------------------------------

    def suggest(self, message: Suggest, document: Document, at: Point, received_at: float) -> None:
        now = self._clock()
        self._asked[message.request_id] = Asked(message, document, received_at, now)
        ask = Ask(
            message.request_id,
            message.uri,
            at,
            wait=message.trigger_kind == "automatic",
            model_ready=self._small_model() is not None,
            deadline_s=message.deadline_ms and message.deadline_ms / 1e3,
        )
        self._perform(self._machine.suggest(ask, now))

    def refuse(self, message: Suggest, outcome: Outcome) -> None:
        """A request that can't be served, said so at once."""
        self._emit(SuggestionDone(message.request_id, "copy", outcome))
        self._emit(SuggestionDone(message.request_id, "small", outcome))

    def edited(self, uri: str, edits: list[Edit]) -> None:
        self._perform(self._machine.edited(uri, edits, self._clock()))

    def cancel(self, request_id: str) -> None:
        self._perform(self._machine.cancel(request_id))

    def closed(self, uri: str) -> None:
        self._windows.pop(uri, None)
        self._perform(self._machine.closed(uri))

    async def close(self) -> None:
        self._perform(self._machine.close())
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- the driver: perform all actions, then sleep until the deadline ---------------------------------------------

    def _perform(self, actions: list[Action]) -> None:
        actions = [*actions, *self._machine.tick(self._clock())]
        for action in sorted(actions, key=_begins_no_work):
            self._do(action)
        for action in actions:
            if not self._machine.is_live(action.request_id):
                self._asked.pop(action.request_id, None)
        if self._timer:
            self._timer.cancel()
            self._timer = None
        deadline = self._machine.deadline
        if deadline is not None:
            delay = max(0.0, deadline - self._clock())
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._perform([])

    def _do(self, action: Action) -> None:
        asked = self._asked[action.request_id]
        match action:
            case AskCopy(at=at):
                text = asked.document.text
                before = text.before(at, COPY_CONTEXT_LINES)[-COPY_CONTEXT_CHARS:]
                self._spawn(self._ask_copy(asked, at.line, before, text.lines[at.line][at.column :]))
            case StartSmall(at=at):
                asked.task = self._spawn(self._ask_small(asked, at))
            case StopSmall():
                if asked.task:
                    asked.task.cancel()
            case Started():
                self._started(asked, action)
            case Said(source=source, text=text):
                asked.first_at.setdefault(source, self._clock())
                number = asked.sequence[source] = asked.sequence.get(source, -1) + 1
                self._emit(TextDelta(asked.item_id(source), text, number, LANE))
            case Rebased(source=source, consumed=consumed):
                version = asked.document.version
                self._emit(SuggestionRebased(asked.suggestion_ids[source], version, consumed))
            case Done(source=source, outcome=outcome):
                self._done(asked, source, outcome)
            case _:
                assert_never(action)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _started(self, asked: Asked, started: Started) -> None:
        source, short = started.source, uuid4().hex[:12]
        asked.suggestion_ids[source] = short
        self._emit(
            SuggestionStarted(
                request_id=asked.message.request_id,
                suggestion_id=short,
                response_id=f"resp_{short}",
                item_id=asked.item_id(source),
                source=source,
                uri=asked.message.uri,
                version=asked.document.version,
                position=self._documents.position(asked.document.text, started.at),
                consumed=started.consumed,
                stream_id=LANE,
            )
        )

    def _done(self, asked: Asked, source: Source, outcome: Outcome) -> None:
        request_id = asked.message.request_id
        timing = self._timing(asked, source)
        metrics.suggestions.labels(source=source, outcome=outcome).inc()
        self._emit(SuggestionDone(request_id, source, outcome, asked.suggestion_ids.get(source), timing))

    def _timing(self, asked: Asked, source: Source) -> Timing:
        now = self._clock()
        first = asked.first_at.get(source, now)
        timing = Timing(
            mirrored_ms=_ms(asked.mirrored_at - asked.received_at),
            ttft_ms=_ms(first - asked.received_at),
            total_ms=_ms(now - asked.received_at),
        )
        if source == "copy" or asked.asked_at is None:
            return timing
        evaluating, counted = asked.evaluating_at or first, asked.finished
        return structs.replace(
            timing,
            waited_ms=_ms(asked.asked_at - asked.mirrored_at),
            queue_ms=_ms(evaluating - asked.asked_at),
            prefill_ms=_ms(first - evaluating),
            prompt_tokens=counted.prompt_tokens if counted else 0,
            cached_tokens=counted.cached_tokens if counted else 0,
            output_tokens=counted.output_tokens if counted else 0,
        )

    # -- the two models ---------------------------------------------------------------------------------------------

    async def _ask_copy(self, asked: Asked, line: int, before: str, after_line: str) -> None:
        guess = await self._copy_model.ask(asked.message.uri, line, before, after_line)
        asked.neighbour = guess.neighbour if guess else None
        text, sure = (guess.text, confident(guess)) if guess else (None, False)
        self._perform(self._machine.copied(asked.message.request_id, text, sure=sure))

    async def _ask_small(self, asked: Asked, at: Point) -> None:
        request_id = asked.message.request_id
        model = self._small_model()
        outcome: Outcome = "finished"
        if model is None:
            outcome = "no_model"
        else:
            try:
                await self._stream_small(model, asked, at)
            except BackendError:
                outcome = "failed"
        self._perform(self._machine.small_done(request_id, outcome))

    async def _stream_small(self, model: Model, asked: Asked, at: Point) -> None:
        text = asked.document.text
        trim, healing = trim_for(text, at), Healing(lead_of(text, at))
        window = self._windows.setdefault(asked.message.uri, PromptWindow(_name(asked.message.uri)))
        request = Generate(
            id=0,
            prompt=window.build(text, at, asked.neighbour),
            max_tokens=BLOCK_TOKENS if trim.block else LINE_TOKENS,
            temperature=0.0,
            stop=STOPS if trim.block else [*STOPS, "\n"],
            slot=0,
            grammar=healing.lead.grammar,
        )
        asked.asked_at = self._clock()
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case Progress():
                        asked.evaluating_at = asked.evaluating_at or self._clock()
                    case Delta(text=delta):
                        if not asked.answered:
                            asked.answered = True
                            self._machine.pacing.answered(self._clock() - asked.asked_at)
                        self._say(asked, trim.feed(healing.feed(delta)))
                    case Finished():
                        asked.finished = piece
                    case _:
                        pass
                if trim.ended or healing.failed:
                    break
        self._say(asked, trim.finish())

    def _say(self, asked: Asked, text: str) -> None:
        if text:
            self._perform(self._machine.said(asked.message.request_id, text))


def _begins_no_work(action: Action) -> bool:
    """For sorting: what takes time is begun before anything is said of it."""
    return not isinstance(action, (AskCopy, StartSmall, StopSmall))


def trim_for(text: Text, at: Point) -> Trim:
    """The shape the answer may have: a block where the line is empty so far, else the rest of the line."""
    line = text.lines[at.line]
    before, after = line[: at.column], line[at.column :]
    below = next((row for row in text.lines[at.line + 1 : at.line + 4] if row.strip()), "")
    return Trim(after, below, indent=len(before), block=not before.strip() and not after.strip())


def _name(uri: str) -> str:
    return uri.rsplit("/", 1)[-1]


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)
