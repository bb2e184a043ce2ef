r"""Python text around a caret: what is open there, what of it ends on the right, what may be put in. Not a whole parser.

    f(a, [b,▮], "c")    awaited ")]", both end on the right: a text that says "]" leaves the place it was asked for
    if x:▮              opens a block: what belongs here begins on the next line
    x = 1⏎▮⏎y = 2       tree-sitter, and the rule of indents that it is lax about, tell whether a text does harm

Only a window of the file is read, so nothing here grows with it. Where the window begins inside a string all of it is
misread; then the parse has errors already, and a text is held to no more than adding none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import tree_sitter
import tree_sitter_python

from offhook_wire.text import Point, Text

LINES_ABOVE = 150
LINES_BELOW = 40

_CLOSER = {"(": ")", "[": "]", "{": "}"}
_COMMENT = "#"
_TELLING = {  # by what the text is inside of
    "": re.compile(r'"""|\'\'\'|["\'#()\[\]{}]'),
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"\\.|['\n]", re.DOTALL),
    '"""': re.compile(r'\\.|"""', re.DOTALL),
    "'''": re.compile(r"\\.|'''", re.DOTALL),
    _COMMENT: re.compile(r"\n"),
}
_HEADER = re.compile(
    r"[ \t]*(?:async\s+)?(?:def|class|if|elif|else|for|while|with|try|except|finally|match|case)\b.*:\s*(?:#[^\n]*)?\Z",
    re.DOTALL,
)
_DEFINITION = re.compile(r"[ \t]*(?:(?:async\s+)?(?:def|class)\b|@)")
_DECORATOR = re.compile(r"[ \t]*@")
_TOP = re.compile(r"(?:def|class|async def|import|from|if|@)\b")


class Closing(NamedTuple):
    """`level`: of the bracket that ends, outermost 0; -1: none was open; None: it is the string that ends."""

    at: int
    level: int | None


@dataclass(slots=True)
class Reader:
    """`awaited`: closers of the open brackets, innermost last. `inside`: the quotes of the string, or # of the comment."""

    awaited: str = ""
    inside: str = ""

    def read(self, text: str) -> Iterator[Closing]:
        """Reads on; what `text` ends that began before it."""
        at, depth, began_before = 0, len(self.awaited), bool(self.inside)
        while found := _TELLING[self.inside].search(text, at):
            sign, at = found.group(), found.end()
            if sign[0] == "\\":
                continue
            if self.inside:
                if began_before and sign != "\n":
                    yield Closing(found.start(), None)
                self.inside, began_before = "", False
            elif sign in _CLOSER:
                self.awaited += _CLOSER[sign]
            elif sign in ")]}":
                level = self.awaited.rfind(sign)
                if level < depth:
                    yield Closing(found.start(), level)
                if level >= 0:
                    self.awaited, depth = self.awaited[:level], min(depth, level)
            else:
                self.inside = sign


@dataclass(frozen=True)
class Room:
    """What stands around a caret, as far as it says what may be put there. `ends`: levels that end on the right."""

    before: str
    after: str
    awaited: str
    inside: str
    statement: str  # from its beginning to the caret
    ends: frozenset[int | None]

    @property
    def one_line(self) -> bool:
        """In a comment, or in a string that ends with its line."""
        return self.inside in (_COMMENT, '"', "'")

    @property
    def opens_block(self) -> bool:
        return not self.awaited and not self.inside and is_header(self.statement)

    def fitting(self, text: str) -> int:
        """How much of `text` stays inside of what ends on the right. A docstring's end is the end of the text too."""
        for closing in Reader(self.awaited, self.inside).read(text):
            if closing.level in self.ends or closing.level == -1:
                return closing.at
            if closing.level is None and len(self.inside) == 3:
                return closing.at + 3
        return len(text)

    def unharmed(self, text: str) -> bool:
        """Whether `text` at the caret adds no error to the parse, and no line that is indented where none may be."""
        free = bool(self.awaited or self.inside)
        return (free or self._indents_fit(text)) and self._errors_with(text) <= self._errors_now

    @cached_property
    def _tree(self) -> tree_sitter.Tree:
        return _parser().parse(_bytes(self.before + self.after))

    @cached_property
    def _errors_now(self) -> int:
        return _errors(self._tree)

    def _errors_with(self, text: str) -> int:
        head, longer = _bytes(self.before), _bytes(self.before + text)
        tree = self._tree.copy()
        tree.edit(len(head), len(head), len(longer), _place(head), _place(head), _place(longer))
        return _errors(_parser().parse(longer + _bytes(self.after), tree))

    def _indents_fit(self, text: str) -> bool:
        """A line is deeper than the one above exactly where that one opens a block, else as deep as one further above."""
        levels: list[int] = []
        opened = False
        line_start = self.before.rfind("\n") + 1
        statements, _ = _statements(self.before + text)
        for start, statement in statements:
            indent = len(statement) - len(statement.lstrip(" \t"))
            if start >= line_start and levels and not (indent > levels[-1] if opened else indent in levels):
                return False
            while levels and levels[-1] > indent:
                levels.pop()
            levels += [indent] * (not levels or levels[-1] < indent)
            opened = is_header(statement)
        return not opened


def room_at(text: Text, at: Point) -> Room:
    first = max(0, at.line - LINES_ABOVE)
    if first:
        first = next((n for n in range(first, at.line) if _TOP.match(text.lines[n])), first)
    before = text.between(Point(first, 0), at)
    after = text.after(at, LINES_BELOW)
    statements, reader = _statements(before)
    ends = {closing.level for closing in Reader(reader.awaited, reader.inside).read(after)}
    if len(reader.inside) == 3:
        ends = {None} if text.after(at, len(text.lines)).count(reader.inside) % 2 else set()
    statement = statements[-1][1] if statements else ""
    return Room(before, after, reader.awaited, reader.inside, statement, frozenset(ends - {-1}))


def is_header(statement: str) -> bool:
    """Whether a block must follow."""
    return bool(_HEADER.match(statement))


def begins_definition(line: str) -> bool:
    return bool(_DEFINITION.match(line))


def is_decorator(line: str) -> bool:
    return bool(_DECORATOR.match(line))


def _statements(text: str) -> tuple[list[tuple[int, str]], Reader]:
    """Where each begins, and its text; without blank lines and lines of comment. The reader tells what is open at the end."""
    found: list[tuple[int, str]] = []
    reader = Reader()
    start = end = 0
    lines = text.split("\n")
    for n, line in enumerate(lines):
        last = n == len(lines) - 1
        for _ in reader.read(line if last else line + "\n"):
            pass
        end += len(line) + 1
        if not last and (reader.awaited or reader.inside or line.endswith("\\")):
            continue
        statement = text[start : end - 1]
        if statement.strip() and not statement.lstrip().startswith(_COMMENT):
            found.append((start, statement))
        start = end
    return found, reader


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


def _errors(tree: tree_sitter.Tree) -> int:
    count, nodes = 0, [tree.root_node]
    while nodes:
        node = nodes.pop()
        if node.has_error:
            count += node.is_error or node.is_missing
            nodes += node.children
    return count


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _place(text: bytes) -> tuple[int, int]:
    """Its end, in tree-sitter's rows and bytes."""
    return text.count(b"\n"), len(text) - text.rfind(b"\n") - 1
