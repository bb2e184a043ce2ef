"""Where a question is typed: the field, the chip with the lines that go along, the keys, the way to stop.

Enter sends and Shift Enter breaks the line, but not while an input method composes. Nothing is sent from here: it says
what was asked for, and keeps the text until it is told that it was taken.
"""

import math

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QFont, QFontMetricsF, QInputMethodEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from offhook_app.panels import fonts, style
from offhook_app.panels.chip import Chip
from offhook_app.state.keys import BY_ID
from offhook_app.state.theme import Theme

_LEAST_PX, _MOST_PX = 68, 200
_ROW_PX = 40  # with the space above and below
_TOP_PX = 10
_SPACE_PX = 8
_KEEP_AFTER_MS = 400
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Field(QPlainTextEdit):
    send_pressed = Signal()
    left = Signal()
    scroll_pressed = Signal(int)  # pages of the transcript, down positive
    focus_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.composing = False
        self.setFont(fonts.ui(14))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("Ask about the code, or paste some")
        self.setAccessibleName("Question. Enter sends, Shift Enter breaks the line, Esc goes back to the code")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setViewportMargins(12, _TOP_PX, 4, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self.composing:
            super().keyPressEvent(event)
        elif event.key() in _ENTER and not held:
            self.send_pressed.emit()
        elif event.key() in _ENTER and held == Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif event.key() == Qt.Key.Key_Escape and not held:
            self.left.emit()
        elif event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown) and not held:
            self.scroll_pressed.emit(1 if event.key() == Qt.Key.Key_PageDown else -1)
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self.composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


class Composer(QWidget):
    asked = Signal(str)
    stopped = Signal()
    draft_changed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("composer")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.field, self.chip = Field(), Chip(theme)
        self._frame = QFrame()
        self._frame.setObjectName("field")
        self._stop, self._send, self._cap = QPushButton("Stop"), QToolButton(), QLabel("Enter")
        self._build()
        self._keep_soon = QTimer(self, singleShot=True, interval=_KEEP_AFTER_MS)
        self._keep_soon.timeout.connect(lambda: self.draft_changed.emit(self.text))
        self.field.textChanged.connect(self._typed)
        self.field.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self.field.send_pressed.connect(self._send_pressed)
        self.field.focus_changed.connect(self._mark_focus)
        self._send.clicked.connect(self._send_pressed)
        self._stop.clicked.connect(self._stop_pressed)
        self.recolour(theme)
        self.show_running(False)
        self._send.setEnabled(False)
        self._fit()

    def _build(self) -> None:
        self._stop.setFont(fonts.ui(12, QFont.Weight.Medium))
        self._stop.setProperty("kind", "small")
        self._stop.setIconSize(QSize(14, 14))
        keys = " ".join(BY_ID["stop_answer"].caps)
        self._stop.setToolTip(f"Stop the answer ({keys})")
        self._stop.setAccessibleName(f"Stop the answer, {keys}")
        self._cap.setProperty("cap", True)
        self._cap.setFont(fonts.ui(11, QFont.Weight.Medium))
        self._cap.setFixedHeight(18)
        self._send.setObjectName("send")
        self._send.setIconSize(QSize(16, 16))
        self._send.setFixedSize(26, 26)
        self._send.setToolTip("Ask (Enter)")
        self._send.setAccessibleName("Ask, Enter")
        row = QHBoxLayout()
        row.setContentsMargins(8, 0, 6, 6)
        row.setSpacing(_SPACE_PX)
        row.addWidget(self.chip)
        row.addStretch(1)
        for widget in (self._stop, self._cap, self._send):
            row.addWidget(widget)
        inside = QVBoxLayout(self._frame)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.setSpacing(0)
        inside.addWidget(self.field, 1)
        inside.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 13, 16, 12)
        column.addWidget(self._frame)

    def recolour(self, theme: Theme) -> None:
        self.chip.recolour(theme)
        self._stop.setIcon(style.icon("stop", theme.t1))
        self._send.setIcon(style.icon("arrow-up", theme.onacc, disabled=theme.t3))

    @property
    def text(self) -> str:
        return self.field.toPlainText()

    def set_text(self, text: str) -> None:
        """In place of what is there; the caret stands behind it."""
        self.field.setPlainText(text)
        self.field.moveCursor(self.field.textCursor().MoveOperation.End)

    def taken(self) -> None:
        """What was typed is asked; the field is free, and its draft is gone."""
        self.field.clear()
        self.keep_now()

    def keep_now(self) -> None:
        self._keep_soon.stop()
        self.draft_changed.emit(self.text)

    def show_running(self, on: bool) -> None:
        if not on and self._stop.hasFocus():
            self.field.setFocus()
        self._stop.setVisible(on)
        self._cap.setVisible(not on)
        self._fit_chip()

    def _send_pressed(self) -> None:
        if self.text.strip():
            self.asked.emit(self.text.strip())

    def _stop_pressed(self) -> None:
        self.field.setFocus()
        self.stopped.emit()

    def _typed(self) -> None:
        self._send.setEnabled(bool(self.text.strip()))
        self._keep_soon.start()

    def _mark_focus(self, on: bool) -> None:
        self._frame.setProperty("active", on)
        self._frame.style().unpolish(self._frame)
        self._frame.style().polish(self._frame)

    def _fit(self) -> None:
        rows = self.field.document().size().height()  # of a plain text layout: lines
        wanted = _TOP_PX + math.ceil(rows * QFontMetricsF(self.field.font()).lineSpacing()) + _ROW_PX
        self._frame.setFixedHeight(max(_LEAST_PX, min(_MOST_PX, wanted)))

    def _fit_chip(self) -> None:
        beside = [part for part in (self._stop, self._cap, self._send) if not part.isHidden()]
        taken_px = sum(part.sizeHint().width() + _SPACE_PX for part in beside)
        self.chip.fit(self._frame.width() - taken_px - 2 * _SPACE_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_chip()
        self._fit()
