"""A person at one document, without a window: keys become edits, actions are carried out, ghosts are written down."""

from typing import TypeVar

from offhook_app.state.accepting import Amount
from offhook_app.state.editing import Action, ClearGhost, Editing, Insert, Opened, Origin, Send, ShowGhost
from offhook_app.state.line_state import LineState
from offhook_wire.messages import (
    ClientEvent,
    DocumentDidChange,
    FeedbackItem,
    Outcome,
    ServerEvent,
    Source,
    Suggest,
    SuggestionDone,
    SuggestionFeedback,
    SuggestionStarted,
    TextDelta,
)
from offhook_wire.text import Edit, Point, Text, advance

M = TypeVar("M")
FRAME_S = 0.016


class Story:
    """`text` is what the buffer holds, `ghosts` every frame of ghost text, "" where it was cleared."""

    def __init__(
        self, text: str = "", caret: Point | None = None, *, never_sent: bool = False, read_only: bool = False
    ) -> None:
        self.now = 100.0
        self.text = Text(text)
        self.at = caret or self.text.end
        self.editing = Editing(
            Opened("file:///a.py", "a.py", "python", text, never_sent=never_sent, read_only=read_only)
        )
        self.sent: list[ClientEvent] = []
        self.ghosts: list[str] = []
        self.paint = True
        self.deltas = 0
        self.do(self.editing.start())
        self.do(self.editing.line(LineState("open", 1.0)))
        self.move(self.at)
        self.editing.focus(True)

    # -- what happens ---------------------------------------------------------------------------------------------

    def do(self, actions: list[Action]) -> bool:
        for action in actions:
            match action:
                case Send(message):
                    self.sent.append(message)
                case ShowGhost(text):
                    if self.ghosts[-1:] != [text]:  # only its tail changed
                        self.ghosts.append(text)
                    if self.paint:
                        self.editing.painted(self.now)
                case ClearGhost():
                    self.ghosts.append("")
                case Insert(text):
                    self.edit(self.at, self.at, text, "accept")
        return bool(actions)

    def wait(self, seconds: float) -> None:
        """Time passes, and the deadline is kept."""
        until = self.now + seconds
        while (deadline := self.editing.deadline) is not None and deadline <= until:
            self.now = deadline
            self.do(self.editing.tick(self.now))
        self.now = until

    def edit(self, start: Point, end: Point, text: str, origin: Origin = "typed") -> None:
        self.now += FRAME_S
        edit = self.text.replace(start, end, text)
        self.at = edit.new_end
        self.do(self.editing.edited([edit], origin, self.at, self.now))

    def types(self, text: str) -> None:
        for character in text:
            self.edit(self.at, self.at, character)

    def backspace(self, times: int = 1) -> None:
        for _ in range(times):
            self.edit(Point(self.at.line, self.at.column - 1), self.at, "")

    def insert_above(self, text: str) -> None:
        """By somebody else than the keyboard."""
        edit = Edit(Point(0, 0), Point(0, 0), text, "")
        self.text.replace(edit.start, edit.end, edit.text)
        end = advance(Point(0, 0), text)
        self.at = Point(self.at.line + end.line, self.at.column + (end.column if self.at.line == 0 else 0))
        self.do(self.editing.edited([edit], "typed", self.at, self.now))

    def move(self, point: Point, *, selection: bool = False) -> None:
        self.at = point
        self.do(self.editing.caret(point, selection, self.now))

    def accept(self, amount: Amount = "all") -> bool:
        return self.do(self.editing.accept(amount, self.now))

    # -- the server's side ----------------------------------------------------------------------------------------

    def hears(self, event: ServerEvent) -> None:
        self.do(self.editing.received(event, self.now))

    def starts(self, asked: Suggest, source: Source = "copy", consumed: int = 0) -> str:
        item_id = f"{asked.request_id}.{source}"
        at, version = asked.position, asked.version + consumed
        self.hears(
            SuggestionStarted(
                asked.request_id, f"s.{item_id}", "resp", item_id, source, asked.uri, version, at, consumed=consumed
            )
        )
        return item_id

    def done(self, asked: Suggest, source: Source, outcome: Outcome = "finished") -> None:
        named = f"s.{asked.request_id}.{source}" if outcome == "finished" else None
        self.hears(SuggestionDone(asked.request_id, source, outcome, named))

    def answer(self, text: str, source: Source = "copy", asked: Suggest | None = None, *, done: bool = True) -> str:
        asked = asked or self.suggests[-1]
        item_id = self.starts(asked, source)
        self.hears(TextDelta(item_id, text, 0))
        if done:
            self.done(asked, source)
        return item_id

    def hears_more(self, item_id: str, text: str) -> None:
        self.deltas += 1
        self.hears(TextDelta(item_id, text, self.deltas))

    # -- what was seen and sent -----------------------------------------------------------------------------------

    def all(self, kind: type[M]) -> list[M]:
        return [message for message in self.sent if isinstance(message, kind)]

    @property
    def suggests(self) -> list[Suggest]:
        return self.all(Suggest)

    @property
    def changes(self) -> list[DocumentDidChange]:
        return self.all(DocumentDidChange)

    @property
    def feedback(self) -> list[FeedbackItem]:
        return [item for message in self.all(SuggestionFeedback) for item in message.items]

    @property
    def ghost(self) -> str:
        return self.editing.ghost

    @property
    def stage(self) -> str:
        standing = self.editing.standing(self.now)
        return standing.silence or standing.stage
