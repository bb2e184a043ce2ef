"""A QTextDocument's text as edits in code points: Qt's change signal in, `offhook_wire.text.Edit` out. Not the view.

Qt counts UTF-16 units, reports more than really changed (a whole block, the last separator, changes of format alone)
and never says what stood there before. So the buffer keeps its own copy, cuts each report down to what differs, and
when the copy and the document ever disagree takes the whole text anew.
"""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextBlock, QTextDocument

from offhook_wire.text import Edit, OutOfText, Point, Text, advance, index_of, units_of

_PARAGRAPH = "\u2029"


class Buffer(QObject):
    """`edited` hands on one Edit for each change of the text, inside Qt's own change signal: do not edit there."""

    edited = Signal(object)

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._document = document
        self.text = Text(raw_text(document))
        document.contentsChange.connect(self._changed)

    def point(self, position: int) -> Point:
        """The Point of a QTextCursor position, at a moment when document and copy agree."""
        block = self._document.findBlock(position)
        line = self.text.lines[block.blockNumber()]
        return Point(block.blockNumber(), index_of(line, position - block.position(), "utf-16"))

    def position(self, point: Point) -> int:
        block = self._document.findBlockByNumber(point.line)
        return block.position() + units_of(self.text.lines[point.line], point.column, "utf-16")

    def _changed(self, position: int, removed: int, added: int) -> None:
        try:
            edit = self._reported(position, removed, added)
            self._apply(edit)
            agrees = self._agrees(edit)
        except OutOfText:  # the report begins or ends inside a surrogate pair
            agrees = False
        if not agrees:
            self._apply(shortest(Point(0, 0), str(self.text), raw_text(self._document)))

    def _reported(self, position: int, removed: int, added: int) -> Edit:
        """What the report comes to. Raises OutOfText."""
        first = self._document.findBlock(position)
        line, units = first.blockNumber(), position - first.position()
        start = self.text.point(line, units, "utf-16")
        old = self.text.between(start, self._old_end(line, units + removed))
        end_position = min(position + added, self._document.characterCount() - 1)
        return shortest(start, old, self._new(first, units, end_position))

    def _apply(self, edit: Edit) -> None:
        if edit.text or edit.removed:
            self.text.replace(edit.start, edit.end, edit.text)
            self.edited.emit(edit)

    def _old_end(self, line: int, units: int) -> Point:
        """The place `units` after the start of `line` in the copy, or its end."""
        lines = self.text.lines
        while line < len(lines) - 1:
            width = units_of(lines[line], len(lines[line]), "utf-16") + 1
            if units < width:
                break
            units -= width
            line += 1
        return self.text.point(line, units, "utf-16")

    def _new(self, block: QTextBlock, units: int, end_position: int) -> str:
        """The document from `units` into `block` to `end_position`."""
        pieces: list[str] = []
        while block.isValid() and block.position() <= end_position:
            line = block.text()
            inside = end_position - block.position()
            head = 0 if pieces else index_of(line, units, "utf-16")
            pieces.append(line[head : index_of(line, inside, "utf-16")])
            block = block.next()
        return "\n".join(pieces)

    def _agrees(self, edit: Edit) -> bool:
        lines, last = self.text.lines, edit.new_end.line
        if len(lines) != self._document.blockCount():
            return False
        return all(lines[n] == self._document.findBlockByNumber(n).text() for n in {edit.start.line, last})


def shortest(start: Point, old: str, new: str) -> Edit:
    """`old`, which stood at `start`, becoming `new`, without what is the same at the beginning and at the end."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    removed = old[head : len(old) - tail]
    begin = advance(start, old[:head])
    return Edit(begin, advance(begin, removed), new[head : len(new) - tail], removed)


def raw_text(document: QTextDocument) -> str:
    """The text as it is: unlike toPlainText, no-break spaces and line separators stay what they are."""
    return document.toRawText().replace(_PARAGRAPH, "\n")


def holds(document: QTextDocument, text: str) -> bool:
    """Whether the document has `text` in it exactly; some characters are Qt's own (U+2029, U+FDD0, …)."""
    return raw_text(document) == text
