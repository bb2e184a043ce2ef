"""Colours for code: tree-sitter parses what changed, the lines in view get formats. Not a QSyntaxHighlighter.

An edit costs its bookkeeping at once (the tree shifted, the formats of its line moved along); parsing waits until
the frame with the key is painted. tree-sitter is fed UTF-16, so its byte columns are Qt's columns times two.
"""

from collections.abc import Sequence

import tree_sitter
import tree_sitter_python
from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QTextCharFormat, QTextLayout

from offhook_app.editor.buffer import raw_text
from offhook_app.editor.ghost import units
from offhook_app.editor.view import CodeView
from offhook_app.state.theme import Theme
from offhook_resources import path as resource
from offhook_wire.text import Edit

_AFTER_PAINT_MS = 12
_TO_LINE_END = 1 << 20
_SELF = ("self".encode("utf-16-le"), "cls".encode("utf-16-le"))
_SELF_BYTES = tuple(len(word) for word in _SELF)
_COLOURS = ("comment", "keyword", "string", "number", "function", "type", "decorator", "self")


class Highlighter(QObject):
    """Python only; other languages stay plain."""

    def __init__(self, view: CodeView, theme: Theme) -> None:
        super().__init__(view)
        language = tree_sitter.Language(tree_sitter_python.language())
        self._parser = tree_sitter.Parser(language)
        self._query = tree_sitter.Query(language, resource("queries/python.scm").read_text("utf-8"))
        self._view, self._buffer = view, view.buffer
        self._source = bytearray(raw_text(view.document()), "utf-16-le")
        self._tree = self._parser.parse(bytes(self._source), encoding="utf16le")
        self._seen: tuple[int, int] | None = None
        self._parse_soon = QTimer(self, singleShot=True, interval=_AFTER_PAINT_MS)
        self._parse_soon.timeout.connect(self._parse)
        view.buffer.edited.connect(self._edited)
        view.updateRequest.connect(lambda *_: self._colour_view())
        self.recolour(theme)

    def recolour(self, theme: Theme) -> None:
        self._formats: dict[str, QTextCharFormat] = {}
        for name in _COLOURS:
            self._formats[name] = QTextCharFormat()
            self._formats[name].setForeground(QColor(getattr(theme, name)))
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
        moved = layout.formats()
        for f in moved:
            if f.start >= column:
                f.start += by
            elif f.start + f.length >= column:
                f.length += by
        layout.setFormats([f for f in moved if f.length > 0 and f.start >= 0])

    def _parse(self) -> None:
        self._tree = self._parser.parse(bytes(self._source), self._tree, encoding="utf16le")
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
        cursor = tree_sitter.QueryCursor(self._query)
        cursor.set_point_range((first, 0), (last + 1, 0))
        spans: dict[int, list[tuple[int, int, int, str]]] = {}
        captures = cursor.captures(self._tree.root_node)
        for rank, name in enumerate(_COLOURS):
            for node in captures.get(name, ()):
                if colour := _colour_of(name, node):
                    self._spread(spans, node, (first, last), (rank, colour))
        for line in range(first, last + 1):
            self._lay(line, sorted(spans.get(line, ())))

    @staticmethod
    def _spread(
        spans: dict[int, list[tuple[int, int, int, str]]],
        node: tree_sitter.Node,
        view: tuple[int, int],
        colour: tuple[int, str],
    ) -> None:
        start, end = node.start_point, node.end_point
        rank, name = colour
        for line in range(max(start.row, view[0]), min(end.row, view[1]) + 1):
            begin = start.column // 2 if line == start.row else 0
            until = end.column // 2 if line == end.row else _TO_LINE_END
            spans.setdefault(line, []).append((rank, begin, until, name))

    def _lay(self, line: int, spans: Sequence[tuple[int, int, int, str]]) -> None:
        block = self._view.document().findBlockByNumber(line)
        width = block.length() - 1
        formats: list[QTextLayout.FormatRange] = []
        for _, begin, until, name in spans:
            span = QTextLayout.FormatRange()
            span.start, span.length = begin, min(until, width) - begin
            span.format = self._formats[name]
            if span.length > 0:
                formats.append(span)
        ghost = self._view.ghost
        if ghost.text and ghost.block == block:
            if ghost.set_formats(formats):
                self._view.viewport().update()
        elif formats != block.layout().formats():
            block.layout().setFormats(formats)
            self._view.document().markContentsDirty(block.position(), 0)


def _colour_of(name: str, node: tree_sitter.Node) -> str | None:
    """What the query cannot say: its text predicates read UTF-8, and the tree is in UTF-16."""
    if name == "self":
        return name if node.end_byte - node.start_byte in _SELF_BYTES and node.text in _SELF else None
    if name != "function":
        return name
    text = (node.text or b"").decode("utf-16-le")
    return "type" if text[:1].isupper() and not text.isupper() else name


def _end(line: int, column: int, text: str) -> tuple[int, int]:
    """Where `text` put at (line, column) ends, in tree-sitter's rows and bytes."""
    lines = text.split("\n")
    width = 2 * units(lines[-1])
    return (line + len(lines) - 1, width if len(lines) > 1 else column + width)
