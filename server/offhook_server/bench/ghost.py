"""What the fast lane shows at one caret: lane, prompt, stop rules and trimming are the product's. No gateway, no line."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol

from msgspec import Struct

from offhook_server.backends.base import Model
from offhook_server.core.copying import Guess
from offhook_server.core.documents import Documents
from offhook_server.errors import BackendError
from offhook_server.lanes.fast import FastLane
from offhook_wire.messages import DocumentDidOpen, Position, Suggest, SuggestionDone, SuggestionStarted, TextDelta
from offhook_wire.text import Text

FOLDER = "file:///project/"
REQUEST = "bench"


class CopyModel(Protocol):
    """What the lane asks at every key; see offhook_server.lanes.workspace."""

    async def ask(
        self, uri: str, line: int, before: str, after_line: str, *, prompt_from: int | None
    ) -> Guess | None: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A caret in file `name`; what `before` and `after` do not hold, nobody knows."""

    name: str
    before: str
    after: str = ""

    @property
    def uri(self) -> str:
        return FOLDER + self.name

    @property
    def line(self) -> int:
        return self.before.count("\n")


class NoCopyModel:
    """The small model alone: neither the copy model's text nor neighbours."""

    async def ask(self, uri: str, line: int, before: str, after_line: str, *, prompt_from: int | None) -> Guess | None:
        return None


class NeighboursOnly:
    """The small model with what resembles the place in the folder, but never the copy model's text."""

    def __init__(self, copy_model: CopyModel) -> None:
        self._copy_model = copy_model

    async def ask(self, uri: str, line: int, before: str, after_line: str, *, prompt_from: int | None) -> Guess | None:
        guess = await self._copy_model.ask(uri, line, before, after_line, prompt_from=prompt_from)
        return guess and replace(guess, text="")


@dataclass(slots=True)
class Ghost:
    """The ghost text of both models, as the lane said it."""

    given_up: Callable[[str], bool]  # on the small model's text so far: nothing that follows can matter
    texts: dict[str, str] = field(default_factory=dict)
    asked_small: bool = False
    _sources: dict[str, str] = field(default_factory=dict)
    _over: set[str] = field(default_factory=set)
    _end: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def text(self) -> str:
        """The small model's where it said something: it is asked only where the copy model is not sure."""
        return self.texts.get("small") or self.texts.get("copy", "")

    def take(self, event: Struct) -> None:
        match event:
            case SuggestionStarted(item_id=item_id, source=source):
                self._sources[item_id] = source
                self.asked_small |= source == "small"
            case TextDelta(item_id=item_id, delta=delta):
                said_by = self._sources[item_id]
                self.texts[said_by] = self.texts.get(said_by, "") + delta
                if said_by == "small" and self.given_up(self.texts[said_by]):
                    self._finish(None)
            case SuggestionDone(source=source, outcome=outcome):
                self._over.add(source)
                if outcome == "failed":
                    self._finish(BackendError("The model failed while it was measured; run the bench again."))
                elif self._over >= {"copy", "small"}:
                    self._finish(None)
            case _:
                pass

    def _finish(self, error: BackendError | None) -> None:
        if self._end.done():
            return
        if error:
            self._end.set_exception(error)
        else:
            self._end.set_result(None)

    async def ended(self) -> None:
        await self._end


async def ghost_at(
    place: Place, copy_model: CopyModel, model: Model, given_up: Callable[[str], bool] = lambda text: False
) -> Ghost:
    """As for the first key after a pause in a file just opened, so that nothing is left over from another place.

    Raises BackendError.
    """
    documents = Documents("utf-32")
    text, at = Text(place.before + place.after), Text(place.before).end
    documents.open(DocumentDidOpen(place.uri, "python", 1, str(text), text.hash))
    document = documents.current(place.uri, 1)
    assert document is not None  # it was just opened
    answer = Ghost(given_up)
    lane = FastLane(documents, copy_model, lambda: model, answer.take, perf_counter)
    lane.suggest(Suggest(REQUEST, place.uri, 1, Position(at.line, at.column)), document, at, perf_counter())
    try:
        await answer.ended()
    finally:
        await lane.close()
    return answer
