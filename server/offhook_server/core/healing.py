"""Blanks and half a word left of the caret: left out of the prompt, said again by the model, taken off its text.

A prompt that ends in blanks or inside a word asks for tokens the model seldom saw (its tokens begin with the blank and
hold whole words). So the prompt ends before them, and where there is half a word a grammar holds the model to it:

    left of the caret     model says        ghost
    "····"                "····return x"    return x        as it stands
    "····"                "········x()"     ····x()         one level deeper than the caret
    "····"                "return x"        nothing         a new block further out: not what belongs at this caret
    "y =·"                "3"               3               in mid-line blanks are no matter of structure
    "return·wid"          "·width"          th              the grammar saw to it that "·wid" came first

As a side effect nothing of the prompt changes while one word is typed: all of it is in the engine's cache.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from offhook_wire.text import Point, Text

_END = re.compile(r"(?P<blanks>[ \t]*)(?P<word>(?:[^\W\d]\w*)?)\Z")


class Lead(NamedTuple):
    """`at_line_start`: nothing else is left of the caret."""

    blanks: str = ""
    word: str = ""
    at_line_start: bool = False

    @property
    def grammar(self) -> str | None:
        """GBNF that holds the model to the half word; anything may follow it."""
        if not self.word:
            return None
        literal = (self.blanks + self.word).replace("\t", "\\t")
        return f'root ::= "{literal}" .*'


def lead_of(text: Text, caret: Point) -> Lead:
    """What the prompt leaves to the model; nothing where text follows on the line, for there it fills in."""
    line = text.lines[caret.line]
    if line[caret.column :].strip():
        return Lead()
    end = _END.search(line[: caret.column])
    assert end is not None  # both parts may be empty
    return Lead(end["blanks"], end["word"], at_line_start=end.start() == 0)


@dataclass(slots=True)
class Healing:
    """`failed`: stop the model, what it says does not belong here."""

    lead: Lead
    failed: bool = False
    _held: str = ""
    _over: bool = False

    def feed(self, delta: str) -> str:
        """More of the model's text in, the same without its front out."""
        if self.failed:
            return ""
        if self._over:
            return delta
        self._held += delta
        ink = self._held.lstrip()
        if not ink or (self.lead.word != ink and self.lead.word.startswith(ink)):
            return "" if self.lead.blanks or self.lead.word else self._release(self._held)
        if not ink.startswith(self.lead.word):
            self.failed = True
            return ""
        said = self._held[: len(self._held) - len(ink)].rpartition("\n")[2]
        if said.startswith(self.lead.blanks):
            return self._release((said[len(self.lead.blanks) :] if not self.lead.word else "") + ink)
        self.failed = self.lead.at_line_start
        return "" if self.failed else self._release(ink)

    def _release(self, text: str) -> str:
        self._over = True
        return text[len(self.lead.word) :]
