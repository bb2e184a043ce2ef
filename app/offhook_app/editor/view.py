"""The code on the screen: a QPlainTextEdit that knows its ghost text. Thin: what keys and facts mean is decided elsewhere.

Qt takes any pre-edit text for an input method at work, and a ghost is one. So before Qt handles a key, a click or a
paste the ghost is lifted, and `settled` afterwards lets the driver put it back; no frame is painted in between.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QMimeData, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from offhook_app.editor import indent
from offhook_app.editor.buffer import Buffer
from offhook_app.editor.ghost import Ghost
from offhook_app.editor.gutter import Gutter
from offhook_app.state.editing import Origin
from offhook_app.state.keys import of_layer
from offhook_app.state.offers import Tail
from offhook_app.state.theme import Theme

_MODIFIERS = {Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr}
_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
_KEY_NAMES: dict[int, str] = {  # the others are signs, and which ones is nobody's business
    Qt.Key.Key_Return: "Enter",
    Qt.Key.Key_Enter: "Enter",
    Qt.Key.Key_Tab: "Tab",
    Qt.Key.Key_Space: "Space",
    Qt.Key.Key_Backspace: "Backspace",
    Qt.Key.Key_Delete: "Delete",
}
_GHOST_KEYS = [(QKeySequence(key.sequence), key.id) for key in of_layer("ghost")]


class CodeView(QPlainTextEdit):
    """`origin` says where the edit under way comes from; `key_at` and `key_name` are of the key that is being handled."""

    settled = Signal()
    composing_changed = Signal(bool)
    focus_changed = Signal(bool)
    ghost_painted = Signal(float, float)  # began, ended; once after each change of it
    key_painted = Signal(float, float)  # began, ended; the first frame after `await_key_paint`

    def __init__(self, theme: Theme, font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Code editor")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setCenterOnScroll(False)
        self.key_at: float | None = None
        self.key_name = ""
        self.origin: Origin = "typed"
        self.composing = False
        self.ghost_key: Callable[[str], bool] = lambda _: False
        self._unpainted = self._key_unpainted = False
        self._marked = QTextCursor()
        self.gutter = Gutter(self, theme)
        self.ghost = Ghost(self, theme)
        self.document().setDocumentMargin(0)
        self.setCursorWidth(2)
        self.buffer = Buffer(self.document())
        self.buffer.edited.connect(lambda _: self.ghost.lift())
        self.blockCountChanged.connect(lambda _: self._make_room())
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._mark_line)
        self.recolour(theme)
        self.set_code_font(font)

    # -- looks ----------------------------------------------------------------------------------------------------

    def recolour(self, theme: Theme) -> None:
        self._curline = QColor(theme.curline)
        self.gutter.recolour(theme)
        self.ghost.recolour(theme)
        self._marked = QTextCursor()
        self._mark_line()
        self.gutter.update()

    def set_code_font(self, font: QFont) -> None:
        self.setFont(font)
        number = QFont(font)
        number.setPixelSize(max(8, round(font.pixelSize() * 12 / 14)))
        self.gutter.setFont(number)
        self.setTabStopDistance(indent.UNIT * QFontMetricsF(font).horizontalAdvance(" "))
        self._make_room()

    def show_ghost(self, text: str, block: QTextBlock, column: int, tail: Tail) -> None:
        self.ghost.show(text, block, column, tail)
        self._unpainted = True

    def await_key_paint(self) -> None:
        self._key_unpainted = True

    def _mark_line(self) -> None:
        cursor = self.textCursor()
        cursor.clearSelection()
        if self._marked.block() == cursor.block():
            return
        self._marked = cursor
        mark = QTextEdit.ExtraSelection()
        mark.format.setBackground(self._curline)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = cursor
        self.setExtraSelections([mark])
        self.gutter.update()

    def visible_blocks(self, area: QRect) -> Iterator[tuple[QTextBlock, float, float]]:
        """The blocks in `area` of the viewport: block, top, height of its own first line."""
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= area.bottom():
            height = self.blockBoundingRect(block).height()
            if block.isVisible() and top + height >= area.top():
                yield block, top, block.layout().lineAt(0).height()
            top += height
            block = block.next()

    def ink_end_px(self) -> float:
        """Where the caret's line ends in the viewport, its ghost's first line included."""
        cursor = self.textCursor()
        block = cursor.block()
        line = block.layout().lineForTextPosition(cursor.positionInBlock())
        left = self.blockBoundingGeometry(block).translated(self.contentOffset()).left()
        return left + line.naturalTextRect().right() if line.isValid() else left

    def _make_room(self) -> None:
        width = self.gutter.width_for(self.blockCount())
        self.setViewportMargins(width, 0, 0, 0)
        inside = self.contentsRect()
        self.gutter.setGeometry(QRect(inside.left(), inside.top(), width, inside.height()))

    def _scroll_gutter(self, rect: QRect, dy: int) -> None:
        """An update that does not reach the bottom moves no line: the numbers stay as they are."""
        if dy:
            self.gutter.scroll(0, dy)
        elif rect.bottom() >= self.viewport().rect().bottom():
            self.gutter.update(0, rect.y(), self.gutter.width(), rect.height())

    # -- editing --------------------------------------------------------------------------------------------------

    @contextmanager
    def edits(self, origin: Origin) -> Iterator[None]:
        """What is edited inside comes from `origin`."""
        self.origin, before = origin, self.origin
        try:
            yield
        finally:
            self.origin = before

    @contextmanager
    def _key(self, name: str) -> Iterator[None]:
        """All that follows inside comes of this key."""
        self.key_at, self.key_name = time.monotonic(), name
        try:
            yield
        finally:
            self.key_at = None

    def insert(self, text: str, origin: Origin) -> None:
        """At the caret, as one undo step."""
        cursor = self.textCursor()
        with self.edits(origin):
            cursor.beginEditBlock()
            cursor.insertText(text)
            cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def before_caret(self) -> str:
        cursor = self.textCursor()
        cursor.setPosition(cursor.selectionStart())
        return cursor.block().text()[: cursor.positionInBlock()]

    def _own_key(self, event: QKeyEvent) -> bool:
        """Keys that Qt would do otherwise than a code editor does."""
        if event.matches(QKeySequence.StandardKey.Undo):
            with self.edits("undo"):
                self.undo()
        elif event.matches(QKeySequence.StandardKey.Redo):
            with self.edits("redo"):
                self.redo()
        elif self.isReadOnly():
            return False
        elif event.key() in _ENTER and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self.insert("\n" + indent.after_enter(self.before_caret()), "typed")
        elif event.key() == Qt.Key.Key_Tab and not event.modifiers():
            self._indent()
        else:
            return False
        return True

    def _indent(self) -> None:
        cursor = self.textCursor()
        if not cursor.hasSelection():
            self.insert(indent.for_tab(self.before_caret()), "typed")
            return
        document = self.document()
        first = document.findBlock(cursor.selectionStart()).blockNumber()
        last = document.findBlock(cursor.selectionEnd()).blockNumber()
        cursor.beginEditBlock()
        for number in range(first, last + 1):
            place = QTextCursor(document.findBlockByNumber(number))
            place.insertText(indent.for_tab(""))
        cursor.endEditBlock()

    # -- Qt's events ----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MODIFIERS:
            super().keyPressEvent(event)
            return
        with self._key(_KEY_NAMES.get(event.key(), "Key")):
            if self.ghost.text and not self.composing:
                pressed = QKeySequence(event.keyCombination())
                name = next((name for keys, name in _GHOST_KEYS if keys == pressed), None)
                if name and self.ghost_key(name):
                    event.accept()
                    return
            self.ghost.lift()
            if self._own_key(event):
                event.accept()
            else:
                super().keyPressEvent(event)
            self.settled.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        composing = bool(event.preeditString())
        if not composing and not event.commitString() and not self.composing:
            event.accept()  # nothing to do, and Qt would wipe the ghost
            return
        with self._key("Key"):
            if composing != self.composing:
                self.composing = composing
                self.composing_changed.emit(composing)
            self.ghost.lift()
            super().inputMethodEvent(event)
            self.settled.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.ghost.lift()
        super().mousePressEvent(event)
        self.settled.emit()

    def insertFromMimeData(self, source: QMimeData) -> None:
        self.ghost.lift()
        with self.edits("paste"):
            super().insertFromMimeData(source)
        self.settled.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.focus_changed.emit(False)
        super().focusOutEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        was_in_view = QRect(QPoint(), event.oldSize()).contains(self.cursorRect().topLeft())
        super().resizeEvent(event)
        self._make_room()
        if was_in_view:
            self.ensureCursorVisible()

    def paintEvent(self, event: QPaintEvent) -> None:
        began = time.monotonic()
        super().paintEvent(event)
        if self.ghost.text:
            block = self.ghost.block
            origin = self.blockBoundingGeometry(block).translated(self.contentOffset()).topLeft()
            painter = QPainter(self.viewport())
            self.ghost.paint_tail(painter, origin)
            painter.end()
        ended = time.monotonic()
        if self._key_unpainted:
            self._key_unpainted = False
            self.key_painted.emit(began, ended)
        if self._unpainted and self.ghost.text:
            self._unpainted = False
            self.ghost_painted.emit(began, ended)
