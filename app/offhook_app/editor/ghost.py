"""Ghost text in the layout of the caret's line: seen, never in the document. Not the decision what to show.

The text goes into the layout's pre-edit area (where input methods draw), line breaks as U+2028, so Qt itself lays out
the extra lines and pushes the following ones down. What comes with that:
- formats right of the caret move by the ghost's length in UTF-16 units, and back when it goes;
- at the document's end the scroll range follows only when `documentSizeChanged` is sent by hand;
- the highlighter hands its formats to `set_formats` instead of the layout while a ghost is in the line;
- before the document changes, `lift` takes the ghost out of the layout, or Qt would lay the line out with both.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker
from PySide6.QtGui import QColor, QPainter, QPen, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from offhook_app.state.offers import Tail
from offhook_app.state.theme import Theme

if TYPE_CHECKING:
    from offhook_app.editor.view import CodeView

_LINE_SEPARATOR = "\u2028"
_HAN = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+")
_BLOCK_WIDTH = 7


def drawn(text: str) -> str:
    """`text` as the layout gets it; white space alone is made visible."""
    if not text.strip():
        text = text.replace(" ", "·").replace("\t", "→")
    return text.replace("\t", "    ").replace("\n", _LINE_SEPARATOR)


def units(text: str) -> int:
    """UTF-16 units, in which Qt counts."""
    return len(text.encode("utf-16-le")) // 2


def lay_again(document: QTextDocument, block: QTextBlock) -> None:
    """Lays `block` out anew and paints nothing: Qt by itself would paint the whole view."""
    with QSignalBlocker(document.documentLayout()):
        document.markContentsDirty(block.position(), block.length())


def _range(start: int, length: int, format_: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, length, format_
    return made


def shifted(formats: Sequence[QTextLayout.FormatRange], column: int, by: int) -> list[QTextLayout.FormatRange]:
    """Formats of a line with `by` units put in at `column`; one that spans the place is split."""
    out: list[QTextLayout.FormatRange] = []
    for f in formats:
        if f.start >= column:
            out.append(_range(f.start + by, f.length, f.format))
        elif f.start + f.length > column:
            head = column - f.start
            out += [_range(f.start, head, f.format), _range(column + by, f.length - head, f.format)]
        else:
            out.append(f)
    return out


class Ghost:
    """At most one, in one view. `text` is empty when none is shown."""

    def __init__(self, view: "CodeView", theme: Theme) -> None:
        self._view = view
        self._block = QTextBlock()
        self._own_formats: list[QTextLayout.FormatRange] = []
        self._column = 0
        self._drawn = ""
        self._stale = False
        self._rows = 0  # that the ghost on the screen adds below its line
        self.text = ""
        self.tail: Tail = "complete"
        self.recolour(theme)

    def recolour(self, theme: Theme) -> None:
        self._colour = QColor(theme.ghost)
        self._latin = QTextCharFormat()
        self._latin.setForeground(self._colour)
        self._latin.setFontItalic(True)
        self._han = QTextCharFormat()  # Han has no italics
        self._han.setFontItalic(False)
        self._han.setForeground(self._colour)
        self._han.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)

    @property
    def block(self) -> QTextBlock:
        return self._block

    def show(self, text: str, block: QTextBlock, column: int, tail: Tail) -> None:
        """`column` is in UTF-16 units of `block`'s own text."""
        if self._block != block:
            self.clear()
        self.lift()
        self._stale = False
        self._block, self._column = block, column
        self.text, self.tail, self._drawn = text, tail, drawn(text)
        self._own_formats = list(block.layout().formats())
        block.layout().setPreeditArea(column, self._drawn)
        self._lay_formats()
        self._relayout()

    def clear(self) -> None:
        self.lift()
        if self._stale:
            self._stale = False
            if self._block.isValid():
                self._relayout()
            else:
                self._rows = 0  # they went with their line

    def lift(self) -> None:
        """Takes the ghost out of the layout; who lifts it shows it again or clears it before the next frame."""
        if not self._drawn:
            return
        layout = self._block.layout() if self._block.isValid() else None
        if layout is not None and layout.preeditAreaText() == self._drawn:
            layout.setPreeditArea(-1, "")
            layout.setFormats(self._own_formats)
            lay_again(self._view.document(), self._block)  # Qt asks it for lines when the caret moves
        self.text = self._drawn = ""
        self._stale = True

    def set_formats(self, formats: list[QTextLayout.FormatRange]) -> bool:
        """The highlighter's formats for the ghost's own line; whether anything changed."""
        if formats == self._own_formats:
            return False
        self._own_formats = formats
        self._lay_formats()
        return True

    def _lay_formats(self) -> None:
        length = units(self._drawn)
        spans = [_range(self._column, length, self._latin)]
        for han in _HAN.finditer(self._drawn):
            begin = self._column + units(self._drawn[: han.start()])
            spans.append(_range(begin, units(han.group()), self._han))
        self._block.layout().setFormats([*shifted(self._own_formats, self._column, length), *spans])

    def _relayout(self) -> None:
        """Paints the line anew; all that is below only where it moves."""
        document = self._view.document()
        lay_again(document, self._block)
        layout = document.documentLayout()
        layout.documentSizeChanged.emit(layout.documentSize())
        rows, self._rows = self._rows, self._drawn.count(_LINE_SEPARATOR)
        if rows == self._rows:
            layout.updateBlock.emit(self._block)
        else:
            self._view.viewport().update()
            self._view.gutter.update()

    def paint_tail(self, painter: QPainter, origin: QPointF) -> None:
        """The block at the end of a suggestion that is still arriving; hollow where it was cut off.

        `origin` is where the block's layout begins in the viewport.
        """
        if self.tail == "complete" or not self._drawn:
            return
        end = self._column + units(self._drawn)
        line = self._block.layout().lineForTextPosition(end)
        if not line.isValid():
            return
        x, _ = cast("tuple[float, int]", line.cursorToX(end))  # the stubs say object
        box = QRectF(origin.x() + x + 1, origin.y() + line.y() + 3, _BLOCK_WIDTH, line.height() - 6)
        if self.tail == "arriving":
            painter.fillRect(box, self._colour)
        else:
            painter.setPen(QPen(self._colour, 1))
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
