"""The key trace the line bench replays: which edit, where, and how long after the one before.

No person sat at a keyboard for it: `typist.py`, a seeded typing model, wrote it once over two of our own files, and
says how. keytrace.jsonl holds one object about itself and then one list per key, in the order of `Key`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import offhook_resources
from offhook_wire.text import Edit, Point, Text

NAME = "keytrace.jsonl"


class Key(NamedTuple):
    """One edit: `text` in place of what is between two points. Lines count from where the typing began."""

    gap_ms: int
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def read_keys() -> list[Key]:
    lines = offhook_resources.path(NAME).read_text(encoding="utf-8").splitlines()
    return [Key(*json.loads(line)) for line in lines[1:]]


def typed_text(keys: list[Key]) -> str:
    """What stands there after all of `keys`."""
    text = Text()
    for key in keys:
        text.replace(Point(key.line, key.column), Point(key.end_line, key.end_column), key.text)
    return str(text)


@dataclass(frozen=True, slots=True)
class Step:
    """One key pressed in a document: the edit, and the `context` before the caret that a request without state sends."""

    gap_ms: int
    version: int
    edit: Edit
    context: str

    @property
    def caret(self) -> Point:
        return self.edit.new_end


class Document:
    """A file with `context_bytes` of text above the place where the typing begins. ASCII, so that bytes are characters."""

    def __init__(self, keys: list[Key], context_bytes: int) -> None:
        typed = typed_text(keys)
        above = (typed * (context_bytes // len(typed) + 1))[-context_bytes:-1] + "\n"
        self.opening = above
        self.version = 1
        self._keys = keys
        self._context_bytes = context_bytes
        self._text = Text(above)
        self._first_line = self._text.end.line

    @property
    def text(self) -> str:
        return str(self._text)

    def steps(self) -> Iterator[Step]:
        """Presses key after key."""
        for key in self._keys:
            start = Point(self._first_line + key.line, key.column)
            end = Point(self._first_line + key.end_line, key.end_column)
            edit = self._text.replace(start, end, key.text)
            self.version += 1
            before = self._text.between(Point(0, 0), edit.new_end)
            yield Step(key.gap_ms, self.version, edit, before[-self._context_bytes :])
