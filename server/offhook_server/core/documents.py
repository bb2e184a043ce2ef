"""The server's copy of what the app has open: text, version, hash. A copy that lost step is never used.

didOpen ──▶ in step ──didChange (base = version, ranges in the text, hash right)──▶ in step
              │  anything else: one desync, then silence until ▼
              └────────────────────▶ out of step ──didOpen──▶ in step
"""

from dataclasses import dataclass
from typing import Literal

from offhook_wire.messages import (
    Change,
    DocumentDesync,
    DocumentDidChange,
    DocumentDidOpen,
    DocumentState,
    Position,
)
from offhook_wire.text import Edit, Encoding, OutOfText, Point, Text

MOST_DOCUMENTS = 256
Reason = Literal["version_gap", "hash", "range"]


@dataclass(slots=True)
class Document:
    language_id: str
    version: int
    text: Text
    in_step: bool = True


class Documents:
    """All documents of one session. Positions come and go in the session's encoding."""

    def __init__(self, encoding: Encoding = "utf-16") -> None:
        self.encoding: Encoding = encoding
        self._open: dict[str, Document] = {}

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def states(self) -> list[DocumentState]:
        """For `session.ready`: what a client that comes back may build on."""
        return [DocumentState(uri, d.version, d.text.hash) for uri, d in self._open.items() if d.in_step]

    def open(self, message: DocumentDidOpen) -> DocumentDesync | None:
        """A new document, or the whole text of one that lost step."""
        document = Document(message.language_id, message.version, Text(message.text))
        self._open.pop(message.uri, None)
        if len(self._open) >= MOST_DOCUMENTS:
            self._open.pop(next(iter(self._open)))  # the oldest; its next change is answered with a desync
        self._open[message.uri] = document
        if message.hash == document.text.hash:
            return None
        document.in_step = False
        return DocumentDesync(message.uri, message.version, message.version, "hash")

    def close(self, uri: str) -> None:
        self._open.pop(uri, None)

    def current(self, uri: str, version: int) -> Document | None:
        """The document, only if it is in step and at just this version."""
        document = self._open.get(uri)
        return document if document and document.in_step and document.version == version else None

    def change(self, message: DocumentDidChange) -> list[Edit] | DocumentDesync:
        """Applies one change; one that does not fit puts the document out of step. Empty: nothing changed, or said before."""
        document = self._open.get(message.uri)
        if document is None:
            return DocumentDesync(message.uri, None, message.version, "not_open")
        if not document.in_step:
            return []
        if message.base_version != document.version or message.version <= document.version:
            return self._lost(document, message, "version_gap")
        try:
            edits = [self._apply(document.text, change) for change in message.content_changes]
        except OutOfText:
            return self._lost(document, message, "range")
        if message.hash is not None and message.hash != document.text.hash:
            return self._lost(document, message, "hash")
        document.version = message.version
        return edits

    def _lost(self, document: Document, message: DocumentDidChange, reason: Reason) -> DocumentDesync:
        document.in_step = False
        return DocumentDesync(message.uri, document.version, message.version, reason)

    def _apply(self, text: Text, change: Change) -> Edit:
        start, end = change.range.start, change.range.end
        return text.replace(self.point(text, start), self.point(text, end), change.text)

    def point(self, text: Text, position: Position) -> Point:
        """Raises OutOfText."""
        return text.point(position.line, position.character, self.encoding)

    def position(self, text: Text, point: Point) -> Position:
        return Position(point.line, text.units(point, self.encoding))
