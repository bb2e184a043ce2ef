"""The fast lane of one session: the copy model at every key, the small model after a pause. Decides nothing itself.

Performs the actions of core.suggestions: asks the two models, passes their text through core.trim, times every part,
and hands the events to the session. One task an ask; cancelling it reaches the engine (backends.base.Model).
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, assert_never

from msgspec import Struct

from offhook_server.backends.base import Generate, Model
from offhook_server.core.answer_times import AnswerTimes
from offhook_server.core.copying import Guess, confident
from offhook_server.core.documents import Document, Documents
from offhook_server.core.healing import Healing, lead_of
from offhook_server.core.prompt import PromptWindow
from offhook_server.core.slots import Slots
from offhook_server.core.suggestions import (
    Action,
    Ask,
    AskCopy,
    Done,
    Rebased,
    Said,
    Started,
    StartSmall,
    StopSmall,
    Suggestions,
)
from offhook_server.core.trim import Trim
from offhook_server.errors import BackendError
from offhook_server.lanes.answer import Answer
from offhook_wire.messages import (
    Outcome,
    Source,
    Suggest,
    SuggestionDone,
)
from offhook_wire.text import Edit, Point

LANE = "fast"
SOURCES: tuple[Source, ...] = ("copy", "small")
LINE_TOKENS = 24
BLOCK_TOKENS = 64
COPY_CONTEXT_LINES = 80
COPY_CONTEXT_CHARS = 3000


class CopyModel(Protocol):
    async def ask(
        self, uri: str, line: int, before: str, after_line: str, *, prompt_from: int | None
    ) -> Guess | None: ...


@dataclass(slots=True)
class Asked:
    """One request being served, and what its two models answer."""

    message: Suggest
    document: Document
    answers: dict[Source, Answer]
    decode: bool
    task: asyncio.Task[None] | None = None
    paced: bool = False


class FastLane:
    def __init__(
        self,
        documents: Documents,
        copy_model: CopyModel,
        small_model: Callable[[], Model | None],
        emit: Callable[[Struct], None],
        clock: Callable[[], float],
        slots: Slots | None = None,
    ) -> None:
        """`slots` are the engine's, shared by all sessions."""
        self._documents = documents
        self._copy_model = copy_model
        self._small_model = small_model
        self._emit = emit
        self._clock = clock
        self._slots = slots or Slots()
        self._machine = Suggestions()
        self._asked: dict[str, Asked] = {}
        self._windows: dict[str, PromptWindow] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def queue_depth(self) -> int:
        return len(self._asked)

    # -- what happens to it -------------------------------------------------------------------------------------

    def suggest(
        self, message: Suggest, document: Document, at: Point, received_at: float, *, decode: bool = True
    ) -> None:
        """`decode` False: the copy model alone."""
        now = self._clock()
        answers = {
            source: Answer(message, source, AnswerTimes(received_at, now), self._emit, self._clock)
            for source in SOURCES
        }
        decode = decode and self._small_model() is not None
        self._asked[message.request_id] = Asked(message, document, answers, decode)
        ask = Ask(
            message.request_id,
            message.uri,
            at,
            wait=message.trigger_kind == "automatic",
            model_ready=decode,
            deadline_s=message.deadline_ms and message.deadline_ms / 1e3,
            cold_tokens=self._window(message.uri).cold_tokens(document.text, at),
        )
        self._perform(self._machine.suggest(ask, now))

    def refuse(self, message: Suggest, outcome: Outcome) -> None:
        """A request that can't be served, said so at once."""
        for source in SOURCES:
            self._emit(SuggestionDone(message.request_id, source, outcome))

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
                self._spawn(self._ask_copy(asked, at, before, text.lines[at.line][at.column :]))
            case StartSmall(at=at):
                asked.task = self._spawn(self._ask_small(asked, at))
            case StopSmall():
                if asked.task:
                    asked.task.cancel()
            case Started(source=source, at=at, consumed=consumed):
                position = self._documents.position(asked.document.text, at)
                asked.answers[source].started(position, asked.document.version, consumed)
            case Said(source=source, text=text):
                asked.answers[source].said(text)
            case Rebased(source=source, consumed=consumed):
                asked.answers[source].rebased(asked.document.version, consumed)
            case Done(source=source, outcome=outcome):
                asked.answers[source].done(outcome)
            case _:
                assert_never(action)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- the two models ---------------------------------------------------------------------------------------------

    async def _ask_copy(self, asked: Asked, at: Point, before: str, after_line: str) -> None:
        uri = asked.message.uri
        window = self._window(uri)
        prompt_from = window.wants_neighbours(asked.document.text, at) if asked.decode else None
        guess = await self._copy_model.ask(uri, at.line, before, after_line, prompt_from=prompt_from)
        asked.answers["copy"].times.copied_at = self._clock()
        if guess and guess.neighbours:
            window.choose(at, guess.neighbours)
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
        trim, healing = Trim.at(text, at, name_of(asked.message.uri)), Healing(lead_of(text, at))
        request = Generate(
            id=0,
            infill=self._window(asked.message.uri).infill(text, at),
            max_tokens=BLOCK_TOKENS if trim.block else LINE_TOKENS,
            temperature=0.0,
            stop=[] if trim.block else ["\n"],
            slot=self._slots.of(asked.message.uri),
            grammar=healing.lead.grammar,
        )
        await asked.answers["small"].decode(model, request, trim, healing, lambda text: self._say(asked, text))

    def _window(self, uri: str) -> PromptWindow:
        return self._windows.setdefault(uri, PromptWindow(name_of(uri)))

    def _say(self, asked: Asked, text: str) -> None:
        times = asked.answers["small"].times
        took_s = times.first_token_s
        if took_s is not None and not asked.paced:
            asked.paced = True
            self._machine.pacing.answered(took_s, times.prompt_tokens - times.cached_tokens)
        if text:
            self._perform(self._machine.said(asked.message.request_id, text))


def _begins_no_work(action: Action) -> bool:
    """For sorting: what takes time is begun before anything is said of it."""
    return not isinstance(action, (AskCopy, StartSmall, StopSmall))


def name_of(uri: str) -> str:
    return uri.rsplit("/", 1)[-1]
