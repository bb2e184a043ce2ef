"""What else of the folder a prompt shows: a few lines that resemble those at the caret. Not the copy model's text.

    alike      the lines that have most words in common with the last lines before the caret, rare words first
    went on    the line that begins most like the caret's own, and what follows it

The caret's own file counts too, where the prompt does not show it. Measured on half lines of 7 packages that the copy bench
does not use (n = 280), they hold the very rest of the line 34 times in 100; one stretch of as many characters around the
longest match in another file, 19 times.
"""

import math
from collections import defaultdict
from dataclasses import dataclass

from offhook_server.core.token_index import Run, Segment, TokenIndex
from offhook_server.core.tokens import UNKNOWN, is_word, split, with_lf

ALIKE_CHARS = 300
WENT_ON_CHARS = 200
_ALIKE_LINES = 8
_STEP_LINES = 4
_WENT_ON_LINES = 12
_WORD_LINES = 5  # before the caret, whose words are looked for
_LATE_LINES = 2  # of these, whose words count twice
_MOST_PLACES = 200  # a word that stands in more tells nothing, and costs time


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stretch of file `name`: lines as they stand there, the last perhaps not whole."""

    name: str
    text: str


@dataclass(slots=True)
class _Block:
    """Lines of one run, and what they have in common with the caret's."""

    run: Run
    first_line: int
    words: dict[int, float]

    @property
    def rank(self) -> tuple[float, str, int]:
        """The same in whatever order the files were put."""
        return round(sum(self.words.values()), 6), self.run.name, -self.first_line

    @property
    def lines(self) -> range:
        return range(self.first_line, self.first_line + _ALIKE_LINES)


def neighbours(
    index: TokenIndex, name: str, before: str, near: range, match: tuple[Segment, int] | None
) -> tuple[Neighbour, ...]:
    """The best last. `before` the caret in file `name`, whose lines `near` are not to be shown; `match`: behind the tokens
    that are most like the last ones before the caret."""
    alike = _alike(index, name, before, near)
    found: list[Neighbour] = []
    if alike:
        found.append(Neighbour(alike.run.name, _clipped(index.lines(alike.run, alike.lines), ALIKE_CHARS)))
    if match:
        segment, place = match
        run = segment.run_of(place)
        line = segment.line_of(run, place - 1)
        if not (alike and alike.run is run and line in alike.lines):
            lines = range(line, line + _WENT_ON_LINES)
            if run.name == name and line < near.start:
                lines = range(line, min(lines.stop, near.start))
            found.append(Neighbour(run.name, _clipped(index.lines(run, lines), WENT_ON_CHARS)))
    return tuple(near for near in found if near.text.strip())


def _alike(index: TokenIndex, name: str, before: str, near: range) -> _Block | None:
    blocks: dict[tuple[int, int, int], _Block] = {}
    total = sum(segment.live for segment in index.segments)
    for number, weight in _words(index, before).items():
        places = index.standing(number, _MOST_PLACES + 1)
        if len(places) > _MOST_PLACES:
            continue
        worth = weight * math.log(1 + total / (1 + len(places)))
        for segment, place in places:
            run = segment.run_of(place - 1)
            step = segment.line_of(run, place - 1) // _STEP_LINES
            for first in (step, step - 1):
                at = id(segment), run.start, first
                block = blocks.setdefault(at, _Block(run, max(0, first * _STEP_LINES), {}))
                block.words[number] = worth
    whole = [block for block in blocks.values() if block.run in index.runs_of(block.run.name)]
    fit = [block for block in whole if block.run.name != name or _apart(block.lines, near)]
    return max(fit, key=lambda block: block.rank, default=None)


def _words(index: TokenIndex, before: str) -> dict[int, float]:
    """What the last lines before the caret are made of, less the word it stands in, and how much each counts."""
    lines = with_lf(before).split("\n")[-_WORD_LINES:]
    weights: defaultdict[int, float] = defaultdict(float)
    for behind, line in enumerate(reversed(lines)):
        words = split(line)
        if behind == 0 and words and is_word(words[-1]):
            words.pop()
        known = (number for number in index.vocabulary.find([w for w in words if is_word(w)]) if number != UNKNOWN)
        for number in known:
            weights[number] = max(weights[number], 2.0 if behind < _LATE_LINES else 1.0)
    return weights


def _apart(one: range, other: range) -> bool:
    return one.stop <= other.start or other.stop <= one.start


def _clipped(text: str, chars: int) -> str:
    """Whole lines, as many as fit, but of a long one its beginning."""
    if len(text) <= chars:
        return text
    end = text.rfind("\n", 0, chars)
    return text[: end if end > 0 else chars]
