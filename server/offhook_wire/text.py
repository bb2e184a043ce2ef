"""Positions, edits and hashes of a text: the arithmetic both ends must do alike. Not a buffer with undo.

Inside Offhook a place is a `Point` in code points. On the wire a character counts units of the agreed encoding
(utf-8, utf-16 or utf-32, LSP 3.17 `PositionEncodingKind`); `index_of` and `units_of` convert, one line at a time.
Lines end with LF here; a file's own line ends are the buffer's business.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


class Point(NamedTuple):
    """A place between two characters: zero-based line, column in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement: what stood between `start` and `end` (of the old text) became `text`; `removed` is what stood."""

    start: Point
    end: Point
    text: str
    removed: str

    @property
    def new_end(self) -> Point:
        """Where `text` ends in the new text."""
        return advance(self.start, self.text)


class OutOfText(ValueError):
    """A position that is not in the text: a line too far, or a column inside a character."""


def text_hash(text: str) -> str:
    """BLAKE2b-128 of the UTF-8 text with LF line ends, as `b2:` and 32 hex digits."""
    return "b2:" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def advance(point: Point, text: str) -> Point:
    """The place `text` ends at when it is put at `point`."""
    lines = text.count("\n")
    if not lines:
        return Point(point.line, point.column + len(text))
    return Point(point.line + lines, len(text) - text.rindex("\n") - 1)


def _width(character: str, encoding: Encoding) -> int:
    if encoding == "utf-8":
        return len(character.encode("utf-8", "surrogatepass"))
    return 2 if encoding == "utf-16" and character > "\uffff" else 1


def index_of(line: str, units: int, encoding: Encoding) -> int:
    """Column in code points of `units` in `encoding`. Past the end means the end (LSP 3.17 Position).

    Raises OutOfText for a negative number and for a place inside a character.
    """
    if units < 0:
        raise OutOfText(f"character {units}")
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    seen = 0
    for column, character in enumerate(line):
        if seen >= units:
            if seen > units:
                raise OutOfText(f"character {units} is inside a code point")
            return column
        seen += _width(character, encoding)
    if seen > units:
        raise OutOfText(f"character {units} is inside a code point")
    return len(line)


def units_of(line: str, column: int, encoding: Encoding) -> int:
    """Units of `encoding` before `column` (code points) of `line`."""
    head = line[:column]
    if encoding == "utf-32" or head.isascii():
        return len(head)
    return sum(_width(character, encoding) for character in head)


class Text:
    """A mutable text as a list of lines without their LF. Edits cost the lines they touch."""

    def __init__(self, text: str = "") -> None:
        self.lines = text.split("\n")

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def hash(self) -> str:
        return text_hash(str(self))

    @property
    def end(self) -> Point:
        return Point(len(self.lines) - 1, len(self.lines[-1]))

    def point(self, line: int, units: int, encoding: Encoding) -> Point:
        """The Point of a wire position. Raises OutOfText."""
        if not 0 <= line < len(self.lines):
            raise OutOfText(f"line {line} of {len(self.lines)}")
        return Point(line, index_of(self.lines[line], units, encoding))

    def units(self, point: Point, encoding: Encoding) -> int:
        """The wire character of a Point of this text."""
        return units_of(self.lines[point.line], point.column, encoding)

    def between(self, start: Point, end: Point) -> str:
        if start.line == end.line:
            return self.lines[start.line][start.column : end.column]
        middle = self.lines[start.line + 1 : end.line]
        return "\n".join([self.lines[start.line][start.column :], *middle, self.lines[end.line][: end.column]])

    def before(self, point: Point, most_lines: int) -> str:
        """Up to `most_lines` whole lines and the piece of line before `point`."""
        first = max(0, point.line - most_lines)
        return self.between(Point(first, 0), point)

    def after(self, point: Point, most_lines: int) -> str:
        """The rest of the line and up to `most_lines` lines below."""
        last = min(len(self.lines) - 1, point.line + most_lines)
        return self.between(point, Point(last, len(self.lines[last])))

    def replace(self, start: Point, end: Point, text: str) -> Edit:
        """Puts `text` in place of what is between two Points of this text. Raises OutOfText where end < start."""
        if end < start:
            raise OutOfText("a range that ends before it starts")
        edit = Edit(start, end, text, self.between(start, end))
        head, tail = self.lines[start.line][: start.column], self.lines[end.line][end.column :]
        self.lines[start.line : end.line + 1] = (head + text + tail).split("\n")
        return edit
