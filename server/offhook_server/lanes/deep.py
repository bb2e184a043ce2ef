"""The deep lane of one session: a suggestion by the deep model, where the person asks for one. Decides nothing itself.

Performs the actions of core.opinions. One task a question; cancelling it reaches the engine (backends.base.Model).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from msgspec import Struct

from offhook_server.backends.base import Generate, Model
from offhook_server.core.answer_times import AnswerTimes
from offhook_server.core.documents import Document, Documents
from offhook_server.core.healing import Healing, lead_of
from offhook_server.core.opinions import Action, Begin, Opinions, Stop
from offhook_server.core.prompt import PromptWindow
from offhook_server.core.suggestions import Done, Rebased, Said, Started
from offhook_server.core.trim import Trim
from offhook_server.errors import BackendError
from offhook_server.lanes.answer import Answer
from offhook_server.lanes.fast import name_of
from offhook_wire.messages import Outcome, Suggest, SuggestionDone
from offhook_wire.text import Edit, Point

MORE_TOKENS = 160
MORE_LINES = 16


@dataclass(slots=True)
class Asked:
    uri: str
    document: Document
    answer: Answer
    task: asyncio.Task[None] | None = None


class DeepLane:
    def __init__(
        self,
        documents: Documents,
        model: Callable[[], Model | None],
        emit: Callable[[Struct], None],
        clock: Callable[[], float],
    ) -> None:
        self._documents = documents
        self._model = model
        self._emit = emit
        self._clock = clock
        self._machine = Opinions()
        self._asked: dict[str, Asked] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def suggest(self, message: Suggest, document: Document, at: Point, received_at: float) -> None:
        times = AnswerTimes(received_at, self._clock())
        answer = Answer(message, "deep", times, self._emit, self._clock)
        self._asked[message.request_id] = Asked(message.uri, document, answer)
        self._perform(self._machine.ask(message.request_id, message.uri, at))

    def refuse(self, message: Suggest, outcome: Outcome) -> None:
        """A request that can't be served, said so at once."""
        self._emit(SuggestionDone(message.request_id, "deep", outcome))

    def edited(self, uri: str, edits: list[Edit]) -> None:
        self._perform(self._machine.edited(uri, edits))

    def cancel(self, request_id: str) -> None:
        self._perform(self._machine.cancel(request_id))

    def closed(self, uri: str) -> None:
        self._perform(self._machine.closed(uri))

    async def close(self) -> None:
        self._perform(self._machine.close())
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            self._do(action)

    def _do(self, action: Action) -> None:
        asked = self._asked[action.request_id]
        match action:
            case Begin(at=at):
                asked.task = asyncio.create_task(self._ask(action.request_id, asked, at))
                self._tasks.add(asked.task)
                asked.task.add_done_callback(self._tasks.discard)
            case Stop():
                if asked.task:
                    asked.task.cancel()
            case Started(at=at, consumed=consumed):
                position = self._documents.position(asked.document.text, at)
                asked.answer.started(position, asked.document.version, consumed)
            case Said(text=text):
                asked.answer.said(text)
            case Rebased(consumed=consumed):
                asked.answer.rebased(asked.document.version, consumed)
            case Done(outcome=outcome):
                asked.answer.done(outcome)
                del self._asked[action.request_id]
            case _:
                assert_never(action)

    async def _ask(self, request_id: str, asked: Asked, at: Point) -> None:
        model = self._model()
        outcome: Outcome = "finished"
        if model is None:
            outcome = "no_model"
        else:
            try:
                await self._decode(model, request_id, asked, at)
            except BackendError:
                outcome = "failed"
        self._perform(self._machine.ended(request_id, outcome))

    async def _decode(self, model: Model, request_id: str, asked: Asked, at: Point) -> None:
        text = asked.document.text
        healing = Healing(lead_of(text, at))
        request = Generate(
            id=0,
            infill=PromptWindow(name_of(asked.uri)).infill(text, at),
            max_tokens=MORE_TOKENS,
            temperature=0.0,
            slot=0,
            grammar=healing.lead.grammar,
        )

        def say(words: str) -> None:
            if words:
                self._perform(self._machine.said(request_id, words))

        trim = Trim.at(text, at, name_of(asked.uri), most_lines=MORE_LINES)
        await asked.answer.decode(model, request, trim, healing, say)
