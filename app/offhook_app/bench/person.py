"""Types the key trace into a view, with real key events. Knows nothing of suggestions and measures nothing.

Signs, Enter and Backspace are keys. Where the trace jumps, pastes or deletes more than one sign, that is done to the
document at once, as a mouse and a menu would do it; it is no key.
"""

import json
import time
from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QTextCursor

import offhook_resources
from offhook_app.editor.view import CodeView
from offhook_wire.text import Point

TRACE = "keytrace.jsonl"  # server: offhook_server.bench.trace says what it holds


class Key(NamedTuple):
    """One edit of the trace; lines count from where the typing began."""

    gap_ms: int
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def read_keys() -> list[Key]:
    lines = offhook_resources.path(TRACE).read_text(encoding="utf-8").splitlines()
    return [Key(*json.loads(line)) for line in lines[1:]]


def pause(ms: float) -> None:
    """Lets the window work."""
    loop = QEventLoop()
    timer = QTimer(loop, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(loop.quit)
    timer.start(round(ms))
    loop.exec()


class Person:
    """Begins at the line `first_line` of what is open, an empty one. At the trace's end it begins again below.

    `late_ms`: after each key, how much later than the trace's gap the window was ready for the next one.
    """

    def __init__(self, view: CodeView, first_line: int) -> None:
        self._view = view
        self._first_line = first_line
        self.late_ms: list[float] = []
        self._keys: Iterator[Key] = iter(read_keys())

    def presses(self, longest_gap_ms: float) -> bool:
        """The next edit of the trace and the gap after it; whether it was a key."""
        key = self._next()
        start = Point(self._first_line + key.line, key.column)
        end = Point(self._first_line + key.end_line, key.end_column)
        one_deleted = not key.text and (end.line, end.column) == (start.line, start.column + 1)
        pressed = True
        if start == end and len(key.text) == 1 and key.text != "\n":
            self._at(start)
            self._post(Qt.Key(ord(key.text.upper())), key.text)
        elif start == end and key.text.startswith("\n") and not key.text.strip():
            self._at(start)
            self._post(Qt.Key.Key_Return, "\r")
        elif one_deleted:
            self._at(end)
            self._post(Qt.Key.Key_Backspace, "\b")
        else:
            pressed = False
            self._replace(start, end, key.text)
        self._waits(min(key.gap_ms, longest_gap_ms))
        if pressed and key.text.startswith("\n"):
            self._indent(start.line + 1, key.text[1:])
        return pressed

    def _waits(self, gap_ms: float) -> None:
        began = time.monotonic()
        pause(gap_ms)
        self.late_ms.append((time.monotonic() - began) * 1e3 - gap_ms)

    def dismisses(self) -> None:
        """What is suggested; the next key asks again."""
        self._post(Qt.Key.Key_Escape, "")

    def _next(self) -> Key:
        key = next(self._keys, None)
        if key is None:  # the trace ends on an empty line
            self._first_line = self._view.textCursor().blockNumber()
            self._keys = iter(read_keys())
            key = next(self._keys)
        return key

    def _post(self, key: Qt.Key, text: str) -> None:
        none = Qt.KeyboardModifier.NoModifier
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QCoreApplication.postEvent(self._view, QKeyEvent(kind, key, none, text))

    def _at(self, point: Point) -> None:
        """The caret, where it is not there already."""
        cursor = self._view.textCursor()
        position = self._view.buffer.position(point)
        if cursor.position() != position or cursor.hasSelection():
            cursor.setPosition(position)
            self._view.setTextCursor(cursor)

    def _replace(self, start: Point, end: Point, text: str) -> None:
        cursor = self._view.textCursor()
        cursor.setPosition(self._view.buffer.position(start))
        cursor.setPosition(self._view.buffer.position(end), QTextCursor.MoveMode.KeepAnchor)
        self._view.setTextCursor(cursor)
        self._view.insert(text, "paste")

    def _indent(self, line: int, wanted: str) -> None:
        """The trace's indentation where the editor chose another."""
        found = self._view.buffer.text.lines[line]
        blanks = len(found) - len(found.lstrip())
        if found[:blanks] != wanted:
            self._replace(Point(line, 0), Point(line, blanks), wanted)
