"""One open document as the server knows it: edits in, document messages out. Not the buffer on the screen.

opened → edit → edit → …        versions rise by one with every change sent
   └────────── whole() ─────── sent again in full after a desync, under a new version
"""

from collections.abc import Iterable

from offhook_wire.messages import Change, DocumentDidChange, DocumentDidClose, DocumentDidOpen, Position, Range
from offhook_wire.text import Edit, Encoding, Point, Text

ENCODING: Encoding = "utf-16"
HASH_EVERY_VERSIONS = 64


class Document:
    def __init__(self, uri: str, language: str, text: str) -> None:
        self.uri = uri
        self.language = language
        self.version = 1
        self.text = Text(text)

    def position(self, point: Point) -> Position:
        return Position(point.line, self.text.units(point, ENCODING))

    def whole(self) -> DocumentDidOpen:
        return DocumentDidOpen(self.uri, self.language, self.version, str(self.text), self.text.hash)

    def apply(self, edits: Iterable[Edit]) -> DocumentDidChange:
        """Carries out `edits` in order and says so to the server."""
        changes = [self._change(edit) for edit in edits]
        base, self.version = self.version, self.version + 1
        due = self.version % HASH_EVERY_VERSIONS == 0
        return DocumentDidChange(self.uri, base, self.version, changes, self.text.hash if due else None)

    def close(self) -> DocumentDidClose:
        return DocumentDidClose(self.uri)

    def _change(self, edit: Edit) -> Change:
        replaced = Range(self.position(edit.start), self.position(edit.end))
        self.text.replace(edit.start, edit.end, edit.text)
        return Change(replaced, edit.text)
