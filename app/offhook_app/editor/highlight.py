"""Colours the code in view: what changed is parsed, the lines in view get formats. Not a QSyntaxHighlighter.

An edit costs its bookkeeping at once (the tree shifted, the formats of its line moved along); parsing waits until
the frame with the key is painted. Where a parse is dear (an open string in a long file changes everything below it), it
waits until the typing rests, so that it takes a tenth of the time at most.
"""

import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from offhook_app.editor.buffer import raw_text
from offhook_app.editor.colours import PythonColours, Span, formats_of, ranges
from offhook_app.editor.ghost import lay_again, units
from offhook_app.editor.view import CodeView
from offhook_app.state.theme import Theme
from offhook_wire.text import Edit

_AFTER_PAINT_MS = 12
_LONGEST_WAIT_MS = 400
_PATIENCE = 10  # times what the last parse took


class Highlighter(QObject):
    """Python only; other languages stay plain."""

    def __init__(self, view: CodeView, theme: Theme) -> None:
        super().__init__(view)
        self._colours = PythonColours()
        self._view, self._buffer = view, view.buffer
        self._source = bytearray(raw_text(view.document()), "utf-16-le")
        self._tree = self._colours.parse(bytes(self._source))
        self._seen: tuple[int, int] | None = None
        self._parse_soon = QTimer(self, singleShot=True, interval=_AFTER_PAINT_MS)
        self._parse_soon.timeout.connect(self._parse)
        view.buffer.edited.connect(self._edited)
        view.updateRequest.connect(lambda *_: self._colour_view())
        self.recolour(theme)

    def recolour(self, theme: Theme) -> None:
        self._formats = formats_of(theme)
        self._seen = None
        self._colour_view()

    def _edited(self, edit: Edit) -> None:
        """Inside Qt's change signal: the buffer has the new text, the layout is not yet done."""
        lines = self._buffer.text.lines
        start_column = 2 * units(lines[edit.start.line][: edit.start.column])
        begin = self._view.document().findBlockByNumber(edit.start.line).position() * 2 + start_column
        old, new = edit.removed.encode("utf-16-le"), edit.text.encode("utf-16-le")
        self._source[begin : begin + len(old)] = new
        self._tree.edit(
            begin,
            begin + len(old),
            begin + len(new),
            (edit.start.line, start_column),
            _end(edit.start.line, start_column, edit.removed),
            _end(edit.start.line, start_column, edit.text),
        )
        if "\n" not in edit.text and "\n" not in edit.removed:
            self._move_formats(edit.start.line, start_column // 2, (len(new) - len(old)) // 2)
        self._parse_soon.start()

    def _move_formats(self, line: int, column: int, by: int) -> None:
        """The line keeps its colours until it is parsed."""
        layout = self._view.document().findBlockByNumber(line).layout()
        formats = layout.formats()
        if all(f.start + f.length < column for f in formats):
            return  # setting formats, even the same ones, paints the whole view
        for f in formats:
            if f.start >= column:
                f.start += by
            elif f.start + f.length >= column:
                f.length += by
        layout.setFormats([f for f in formats if f.length > 0 and f.start >= 0])

    def _parse(self) -> None:
        began = time.perf_counter()
        self._tree = self._colours.parse(bytes(self._source), self._tree)
        wait_ms = round(_PATIENCE * (time.perf_counter() - began) * 1000)
        self._parse_soon.setInterval(max(_AFTER_PAINT_MS, min(wait_ms, _LONGEST_WAIT_MS)))
        self._seen = None
        self._colour_view()

    def _colour_view(self) -> None:
        if self._parse_soon.isActive():
            return
        first = self._view.firstVisibleBlock().blockNumber()
        rows = self._view.viewport().height() // max(1, self._view.fontMetrics().lineSpacing())
        in_view = (first, min(first + rows + 1, self._view.blockCount() - 1))
        if in_view != self._seen:
            self._seen = in_view
            self._colour(*in_view)

    def _colour(self, first: int, last: int) -> None:
        spans = self._colours.spans(self._tree, first, last)
        for line in range(first, last + 1):
            self._lay(line, spans.get(line, ()))

    def _lay(self, line: int, spans: Sequence[Span]) -> None:
        block = self._view.document().findBlockByNumber(line)
        formats = ranges(spans, block.length() - 1, self._formats)
        ghost, layout = self._view.ghost, block.layout()
        if ghost.text and ghost.block == block:
            changed = ghost.set_formats(formats)
        elif changed := formats != layout.formats():
            layout.setFormats(formats)
        if changed:
            document = self._view.document()
            lay_again(document, block)
            document.documentLayout().updateBlock.emit(block)


def _end(line: int, column: int, text: str) -> tuple[int, int]:
    """Where `text` put at (line, column) ends, in tree-sitter's rows and bytes."""
    lines = text.split("\n")
    width = 2 * units(lines[-1])
    return (line + len(lines) - 1, width if len(lines) > 1 else column + width)
