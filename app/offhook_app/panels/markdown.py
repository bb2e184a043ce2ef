"""Markdown as top-level blocks of a text that may still grow. Not how they look: prose.py and code_card.py.

What stands before the last block is settled and never parsed again; each item of a list is a block. Fenced code is one
wherever it stands, so that code in a list can be taken too. No HTML is read or made: a tag is text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

WRITTEN = MarkdownIt("commonmark").enable("table").disable(["code", "html_block", "html_inline", "reference"])
TYPED = MarkdownIt("zero").enable(["fence", "backticks"])  # a person's __init__ is no bold word

_FENCE = re.compile(r"( *)(`{3,}|~{3,})")
_UNDECIDED = re.compile(
    r"[\s\-*+_=#~`>|]*(\d{1,9}[.)]?)?\s*|\s*(`{3}|~{3}).*"
)  # a beginning that may mean several things


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading, an item of a list …; for fenced code `code` is its text without the last line end.

    `continues`: another item of the same list stands before it.
    """

    tokens: tuple[Token, ...]
    code: str | None = None
    language: str = ""
    continues: bool = False


class Growing:
    def __init__(self, parser: MarkdownIt) -> None:
        self._parser = parser
        self._settled_characters = 0
        self._continues = False  # the first block of the rest

    def grow(self, text: str, *, ended: bool) -> tuple[list[Block], Block | None]:
        """Given all of the text: the blocks that have settled since the last call, and the one that is still open.

        Until the text has ended its last line is left out while nobody can say what it begins.
        """
        rest = _outdented(text.replace("\r", ""))[self._settled_characters :]
        before, line_end, line = rest.rpartition("\n")
        if not ended and _UNDECIDED.fullmatch(line):
            rest = before + line_end
        blocks = list(_blocks(self._parser.parse(rest)))
        if not blocks:
            return [], None
        *settled, last = [replace(blocks[0], continues=self._continues), *blocks[1:]]
        if settled:
            first_line = next((token.map[0] for token in last.tokens if token.map), 0)
            self._settled_characters += sum(len(line) + 1 for line in rest.split("\n")[:first_line])
            self._continues = last.continues
        return settled, last


def _blocks(tokens: Sequence[Token]) -> Iterator[Block]:
    group: list[Token] = []
    items = 0  # of the list we are in
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.type.endswith("_list_open"):
            items = 0
            group.clear()
        elif token.level == 0 and token.type.endswith("_list_close"):
            group.clear()
        elif token.level == 1 and token.type == "list_item_close":
            yield Block(tuple(group), continues=items > 0)
            items += 1
            group.clear()
        elif token.level == 0 and token.nesting <= 0:
            yield _block(group)
            group.clear()


def _block(tokens: list[Token]) -> Block:
    first = tokens[0]
    if first.type != "fence":
        return Block(tuple(tokens))
    language = first.info.split()
    return Block(tuple(tokens), first.content.rstrip("\n"), language[0].lower() if language else "")


def _outdented(text: str) -> str:
    """Fenced code that is indented, as it is in the item of a list, moved to the left edge."""
    lines, lead, fence = [], "", ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not fence and found:
            lead, fence = found.groups()
            lines.append(line.removeprefix(lead))
            continue
        moved = line.removeprefix(lead) if line.startswith(lead) else line.lstrip(" ")
        lines.append(moved if fence else line)
        ends = line.strip()
        if fence and len(ends) >= len(fence) and set(ends) == {fence[0]}:
            fence = ""
    return "\n".join(lines)
