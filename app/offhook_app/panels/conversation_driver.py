"""Drives the conversation of one folder: facts from line and panel into `state.conversation`, its actions out again.

Decides nothing. A disk that does not keep what was said is told once, and the conversation goes on without it.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, assert_never

from PySide6.QtCore import QObject, QTimer, Signal

from offhook_app.editor.driver import Line
from offhook_app.panels.history import History, NotKept
from offhook_app.state.context import Context
from offhook_app.state.conversation import Action, Conversation, Forget, Keep, Send, Show
from offhook_app.state.exchange import Exchange
from offhook_app.state.line_state import LineState
from offhook_wire.messages import ServerEvent

T = TypeVar("T")


class ConversationDriver(QObject):
    shown = Signal(object)  # Exchange, whenever it changed
    refilled = Signal()  # another folder, or everything forgotten
    not_kept = Signal(str)

    def __init__(self, line: Line, history_file: Path | None) -> None:
        super().__init__()
        self._line = line
        self._line_state = LineState("connecting")
        self._folder = ""
        self._closed = False
        self._conversation = Conversation()
        self._deadline = QTimer(self, singleShot=True)
        self._deadline.timeout.connect(lambda: self._perform(self._conversation.tick(time.monotonic())))
        self.trouble = ""
        try:
            self._history = History(history_file)
        except NotKept as e:
            self._history, self.trouble = History(None), str(e)
        line.received.connect(self._received)
        line.state.connect(self._line_changed)
        self._load()

    @property
    def exchanges(self) -> list[Exchange]:
        return self._conversation.exchanges

    @property
    def running(self) -> bool:
        return self._conversation.running is not None

    @property
    def reads_from(self) -> int:
        return self._conversation.reads_from

    def open_folder(self, folder: str) -> bool:
        """Whether another conversation is shown now. One with an answer on its way stays until that has ended."""
        if folder == self._folder or self.running:
            return False
        self._folder = folder
        self._load()
        self.refilled.emit()
        return True

    def close(self) -> None:
        """Once or again."""
        if self._closed:
            return
        self._closed = True
        self._line.received.disconnect(self._received)
        self._line.state.disconnect(self._line_changed)
        self._perform(self._conversation.stop(time.monotonic()))
        self._history.close()

    # -- the person -----------------------------------------------------------------------------------------------

    def ask(self, question: str, context: Context | None) -> None:
        self._perform(self._conversation.ask(question, context, time.monotonic()))

    def ask_again(self) -> None:
        self._perform(self._conversation.ask_again(time.monotonic()))

    def stop(self) -> None:
        self._perform(self._conversation.stop(time.monotonic()))

    def clear(self) -> None:
        self._perform(self._conversation.clear())

    def draft(self) -> str:
        return self._told(lambda: self._history.draft(self._folder)) or ""

    def keep_draft(self, text: str) -> None:
        self._told(lambda: self._history.keep_draft(self._folder, text))

    def place(self) -> tuple[int, bool] | None:
        """Width in pixels and whether it was shown, as it was left in this folder."""
        return self._told(lambda: self._history.place(self._folder))

    def keep_place(self, width_px: int, *, shown: bool) -> None:
        self._told(lambda: self._history.keep_place(self._folder, width_px, shown=shown))

    # -- facts and actions ----------------------------------------------------------------------------------------

    def _load(self) -> None:
        self._conversation = Conversation(self._told(lambda: self._history.of(self._folder)) or [])
        self._perform(self._conversation.line(self._line_state, time.monotonic()))

    def _received(self, event: ServerEvent) -> None:
        self._perform(self._conversation.received(event, time.monotonic()))

    def _line_changed(self, state: LineState) -> None:
        self._line_state = state
        self._perform(self._conversation.line(state, time.monotonic()))

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            self._do(action)
        if (at := self._conversation.deadline) is None:
            self._deadline.stop()
        else:
            self._deadline.start(max(0, round((at - time.monotonic()) * 1000)))

    def _do(self, action: Action) -> None:
        match action:
            case Send(message):
                self._line.send(message)
            case Keep(exchange):
                self._told(lambda: self._history.keep(self._folder, exchange))
            case Show(exchange):
                self.shown.emit(exchange)
            case Forget():
                self._told(lambda: self._history.forget(self._folder))
                self.refilled.emit()
            case _:
                assert_never(action)

    def _told(self, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except NotKept as e:
            if not self.trouble:
                self.trouble = str(e)
                self.not_kept.emit(self.trouble)
            return None
