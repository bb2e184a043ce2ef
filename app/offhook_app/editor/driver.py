"""Drives one document: facts from view, buffer and line into `state.editing`, its actions out again. Decides nothing."""

import time
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from offhook_app.editor.view import CodeView
from offhook_app.state.accepting import Amount
from offhook_app.state.breakdown import Key
from offhook_app.state.editing import Action, ClearGhost, Editing, Insert, Opened, Send, ShowGhost
from offhook_app.state.line_meter import LineFigures
from offhook_app.state.line_state import LineState
from offhook_app.state.measured import Measured
from offhook_app.state.status import suggestion_words
from offhook_wire.messages import ClientEvent, ServerEvent, Suggest, SuggestionDone, SuggestionFeedback
from offhook_wire.text import Edit, Point

_FRAME_MS = 16
_LOOK_AGAIN_MS = 200  # while something is asked for, its words change with time alone
_STEPS = {"next": 1, "previous": -1}
_AMOUNTS: dict[str, Amount] = {"accept": "all", "accept_word": "word", "accept_line": "line"}


class Line(Protocol):
    """What the window needs of the one connection; `transport` has the real one."""

    @property
    def received(self) -> SignalInstance: ...  # offhook_wire.messages.ServerEvent
    @property
    def state(self) -> SignalInstance: ...  # LineState
    @property
    def figures(self) -> LineFigures: ...  # as they are now
    def send(self, message: ClientEvent) -> None: ...


class Driver(QObject):
    standing = Signal(object)  # state.status.Standing, whenever it changed
    edited = Signal()

    def __init__(self, view: CodeView, line: Line, opened: Opened, measured: Measured) -> None:
        super().__init__(view)
        self._view, self._buffer, self._line = view, view.buffer, line
        self._editing = Editing(opened)
        self._measured = measured
        self._edits: list[Edit] = []
        self._ghost: ShowGhost | None = None
        self._arrived_at = 0.0
        self._announced = ""
        self._last_standing: object = None
        self._deadline = QTimer(self, singleShot=True)
        self._deadline.timeout.connect(lambda: self._perform(self._editing.tick(time.monotonic())))
        self._frame = QTimer(self, singleShot=True, interval=_FRAME_MS)
        self._frame.timeout.connect(self._lay_ghost)
        self._look_again = QTimer(self, singleShot=True, interval=_LOOK_AGAIN_MS)
        self._look_again.timeout.connect(self._tell)
        self._connect()

    def _connect(self) -> None:
        view = self._view
        self._buffer.edited.connect(self._edits.append)
        view.document().contentsChanged.connect(self._changed)
        view.cursorPositionChanged.connect(self._moved)
        view.selectionChanged.connect(self._moved)
        view.settled.connect(self._put_back)
        view.composing_changed.connect(lambda on: self._perform(self._editing.composing(on)))
        view.focus_changed.connect(lambda on: self._perform(self._editing.focus(on)))
        view.ghost_painted.connect(self._painted)
        view.key_painted.connect(self._measured.keystrokes.key_painted)
        view.ghost_key = self._key
        self._line.received.connect(self._received)
        self._line.state.connect(self._line_changed)

    def start(self, line: LineState) -> None:
        self._perform(self._editing.start())
        self._perform(self._editing.line(line))
        self._perform(self._editing.focus(self._view.hasFocus()))
        self._moved()

    def close(self) -> None:
        self._view.ghost_key = lambda _: False
        self._perform(self._editing.close())
        self._line.received.disconnect(self._received)
        self._line.state.disconnect(self._line_changed)

    def invoke(self) -> None:
        now = time.monotonic()
        self._ask("Suggest now", now, self._editing.invoke(now))

    def more(self) -> None:
        now = time.monotonic()
        self._ask("Complete more", now, self._editing.more(now))

    def _ask(self, name: str, key_at: float, actions: list[Action]) -> None:
        """By a key that changes nothing itself."""
        if actions:
            at = self._buffer.point(self._view.textCursor().position())
            self._measured.key(Key(name, at.line + 1, at.column + 1, key_at), paints=False)
        self._perform(actions, by_key=True)

    # -- facts ----------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """Qt has laid the change out; `contentsChange` came before and filled `_edits`."""
        if not self._edits:
            return
        edits = self._edits[:]
        self._edits.clear()
        caret = self._buffer.point(self._view.textCursor().position())
        key_at = self._view.key_at
        if key_at is not None:
            self._measured.key(Key(self._view.key_name, caret.line + 1, caret.column + 1, key_at))
            self._view.await_key_paint()
        actions = self._editing.edited(edits, self._view.origin, caret, time.monotonic())
        self._perform(actions, by_key=key_at is not None)
        self._put_back()
        self._measured.keystrokes.handled(time.monotonic())
        self.edited.emit()

    def _moved(self) -> None:
        if self._edits:  # inside a change: its caret comes with it
            return
        cursor = self._view.textCursor()
        point = self._buffer.point(cursor.position())
        self._perform(self._editing.caret(point, cursor.hasSelection(), time.monotonic()))

    def _key(self, name: str) -> bool:
        self._lay_ghost()
        if name == "dismiss":
            actions = self._editing.dismiss()
        elif name in _STEPS:
            actions = self._editing.turn(_STEPS[name], time.monotonic())
        else:
            actions = self._editing.accept(_AMOUNTS[name], time.monotonic())
        self._perform(actions)
        return bool(actions)

    def _received(self, event: ServerEvent) -> None:
        self._arrived_at = time.monotonic()
        actions = self._editing.received(event, self._arrived_at)
        self._perform(actions)
        if isinstance(event, SuggestionDone):
            self._measured.done(event, self._line.figures.server_ahead_ms)

    def _line_changed(self, state: LineState) -> None:
        self._perform(self._editing.line(state))

    def _painted(self, began: float, ended: float) -> None:
        self._editing.painted(ended)
        if self._ghost:
            self._measured.painted(self._ghost.request_id, began, ended)

    # -- actions --------------------------------------------------------------------------------------------------

    def _perform(self, actions: list[Action], *, by_key: bool = False) -> None:
        for action in actions:
            match action:
                case Send(message):
                    self._send(message, by_key=by_key)
                case ShowGhost():
                    self._show(action)
                case ClearGhost():
                    self._ghost = None
                    self._frame.stop()
                    self._view.ghost.clear()
                case Insert(text):
                    self._view.ghost.lift()
                    self._view.insert(text, "accept")
        self._set_deadline()
        self._tell()

    def _send(self, message: ClientEvent, *, by_key: bool) -> None:
        asked_at = time.monotonic()
        self._line.send(message)
        match message:
            case Suggest():
                self._measured.asked(message, asked_at, time.monotonic(), by_key=by_key)
            case SuggestionFeedback():
                self._measured.feedback(message.items)
            case _:
                pass

    def _show(self, ghost: ShowGhost) -> None:
        """The first words of a suggestion at once, further ones at most once a frame."""
        first, self._ghost = ghost.new or self._ghost is None or ghost.at != self._ghost.at, ghost
        if not first:
            if not self._frame.isActive():
                self._frame.start()
            return
        self._lay_ghost()
        if ghost.new:
            self._measured.keystrokes.shown(ghost.request_id, ghost.source, self._arrived_at, time.monotonic())

    def _lay_ghost(self) -> None:
        self._frame.stop()
        if self._ghost is None or self._view.composing:
            return
        at = self._ghost.at
        block = self._view.document().findBlockByNumber(at.line)
        column = self._buffer.position(Point(at.line, at.column)) - block.position()
        self._view.show_ghost(self._ghost.text, block, column, self._ghost.tail)
        self._announce()

    def _put_back(self) -> None:
        """The view lifted the ghost to let Qt work; it still holds."""
        if self._ghost and not self._view.ghost.text:
            self._lay_ghost()
        elif not self._ghost:
            self._view.ghost.clear()

    def _announce(self) -> None:
        ghost = self._ghost
        if ghost is None or ghost.tail == "arriving" or ghost.request_id == self._announced:
            return
        self._announced = ghost.request_id
        words = suggestion_words(self._editing.standing(time.monotonic()), None).replace(": ", ", ")
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._view, words))

    def _set_deadline(self) -> None:
        if (at := self._editing.deadline) is None:
            self._deadline.stop()
        else:
            self._deadline.start(max(0, round((at - time.monotonic()) * 1000)))

    def _tell(self) -> None:
        standing = self._editing.standing(time.monotonic())
        if standing.stage in ("waiting", "thinking"):
            self._look_again.start()
        if standing != self._last_standing:
            self._last_standing = standing
            self.standing.emit(standing)
        if standing.silence is not None:
            self._measured.keystrokes.silent(standing)
