"""Which parts of Python text have which colour, by tree-sitter's parse and one query. Not when or where they are laid.

tree-sitter is fed UTF-16, so its byte columns are Qt's columns times two.
"""

from collections.abc import Sequence

import tree_sitter
import tree_sitter_python
from PySide6.QtGui import QColor, QTextCharFormat, QTextLayout

from offhook_app.state.theme import Theme
from offhook_resources import path as resource

Span = tuple[int, int, int, str]  # rank, first column, column after the last, name of the colour

_TO_LINE_END = 1 << 20
_SELF = ("self".encode("utf-16-le"), "cls".encode("utf-16-le"))
_SELF_BYTES = tuple(len(word) for word in _SELF)
_NAMES = ("comment", "keyword", "string", "number", "function", "type", "decorator", "self")


class PythonColours:
    def __init__(self) -> None:
        language = tree_sitter.Language(tree_sitter_python.language())
        self._parser = tree_sitter.Parser(language)
        self._query = tree_sitter.Query(language, resource("queries/python.scm").read_text("utf-8"))

    def parse(self, source: bytes, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
        """`source` in UTF-16-LE; `old` is the tree of before, told of the edits since."""
        if old is None:
            return self._parser.parse(source, encoding="utf16le")
        return self._parser.parse(source, old, encoding="utf16le")

    def spans(self, tree: tree_sitter.Tree, first: int, last: int) -> dict[int, list[Span]]:
        """By line, from `first` to `last`; of spans that overlap the later wins."""
        cursor = tree_sitter.QueryCursor(self._query)
        cursor.set_point_range((first, 0), (last + 1, 0))
        spans: dict[int, list[Span]] = {}
        captures = cursor.captures(tree.root_node)
        for rank, name in enumerate(_NAMES):
            for node in captures.get(name, ()):
                if colour := _colour_of(name, node):
                    _spread(spans, node, (first, last), (rank, colour))
        return {line: sorted(found) for line, found in spans.items()}


def formats_of(theme: Theme) -> dict[str, QTextCharFormat]:
    formats = {name: QTextCharFormat() for name in _NAMES}
    for name, made in formats.items():
        made.setForeground(QColor(getattr(theme, name)))
    return formats


def ranges(spans: Sequence[Span], width: int, formats: dict[str, QTextCharFormat]) -> list[QTextLayout.FormatRange]:
    """What a line of `width` columns is laid out with."""
    made: list[QTextLayout.FormatRange] = []
    for _, begin, until, name in spans:
        span = QTextLayout.FormatRange()
        span.start, span.length = begin, min(until, width) - begin
        span.format = formats[name]
        if span.length > 0:
            made.append(span)
    return made


def _spread(
    spans: dict[int, list[Span]], node: tree_sitter.Node, view: tuple[int, int], colour: tuple[int, str]
) -> None:
    start, end = node.start_point, node.end_point
    rank, name = colour
    for line in range(max(start.row, view[0]), min(end.row, view[1]) + 1):
        begin = start.column // 2 if line == start.row else 0
        until = end.column // 2 if line == end.row else _TO_LINE_END
        spans.setdefault(line, []).append((rank, begin, until, name))


def _colour_of(name: str, node: tree_sitter.Node) -> str | None:
    """What the query cannot say: its text predicates read UTF-8, and the tree is in UTF-16."""
    if name == "self":
        return name if node.end_byte - node.start_byte in _SELF_BYTES and node.text in _SELF else None
    if name != "function":
        return name
    text = (node.text or b"").decode("utf-16-le")
    return "type" if text[:1].isupper() and not text.isupper() else name
