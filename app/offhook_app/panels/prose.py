"""Prose of a turn on the screen: one text document, selectable as a whole, as high as its text. Code blocks are not here.

Inline code stands on a rounded ground that is painted here. The last block may be taken back and written anew while the
text streams in.
"""

from typing import cast

from PySide6.QtCore import QMimeData, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextBlock, QTextCursor, QTextLine, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit

from offhook_app.panels.markdown import Block
from offhook_app.panels.page import CODE, THIN, Looks, write

_GROUND_PX = 19  # under inline code
_COPIED = {ord(THIN): None, ord("\u2028"): "\n", ord("\u2029"): "\n"}


class Prose(QTextEdit):
    def __init__(self, looks: Looks) -> None:
        super().__init__()
        self._looks = looks
        self._open_at: int | None = None
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(
            lambda size: self.setFixedHeight(round(size.height()))
        )

    def put(self, block: Block, *, still_open: bool) -> None:
        """At the end; in place of the block that was open."""
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()  # laid out once, at the end
        self._take_back(cursor)
        at = cursor.position()
        write(cursor, block, self._looks)
        cursor.endEditBlock()
        self._open_at = at if still_open else None

    def take_back(self) -> None:
        """The open block, with the paragraph that it began."""
        self._take_back(QTextCursor(self.document()))

    def _take_back(self, cursor: QTextCursor) -> None:
        """Leaves the cursor at the end."""
        if self._open_at is None:
            cursor.movePosition(QTextCursor.MoveOperation.End)
            return
        cursor.setPosition(self._open_at)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._open_at = None

    @property
    def empty(self) -> bool:
        return self.document().isEmpty()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Plain, without what was put in for the looks."""
        made = QMimeData()
        made.setText(self.textCursor().selectedText().translate(_COPIED))
        return made

    # -- Qt's events ----------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the transcript scrolls

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(round(self.document().size().height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._looks.ground)
        block = self.document().firstBlock()
        while block.isValid():
            if self.document().documentLayout().blockBoundingRect(block).intersects(QRectF(event.rect())):
                self._paint_grounds(painter, block)
            block = block.next()
        painter.end()
        super().paintEvent(event)

    def _paint_grounds(self, painter: QPainter, block: QTextBlock) -> None:
        """One for each run of inline code, of however many pieces it is made."""
        begin = end = 0
        pieces = block.begin()
        while not pieces.atEnd():
            piece = pieces.fragment()
            if piece.charFormat().hasProperty(CODE):
                at = piece.position() - block.position()
                if at != end:
                    self._paint_ground(painter, block, begin, end)
                    begin = at
                end = at + piece.length()
            pieces += 1
        self._paint_ground(painter, block, begin, end)

    def _paint_ground(self, painter: QPainter, block: QTextBlock, begin: int, end: int) -> None:
        """A piece for each line that the columns from `begin` to `end` stand in."""
        layout = block.layout()
        origin = layout.position()
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            first, last = max(begin, line.textStart()), min(end, line.textStart() + line.textLength())
            if first < last:
                left, right = _x(line, first), _x(line, last)
                top = origin.y() + line.y() + (line.height() - _GROUND_PX) / 2
                painter.drawRoundedRect(QRectF(origin.x() + left, top, right - left, _GROUND_PX), 4, 4)


def _x(line: QTextLine, column: int) -> float:
    x, _ = cast("tuple[float, int]", line.cursorToX(column))
    return x
