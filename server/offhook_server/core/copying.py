"""The copy model: what followed the same tokens elsewhere in the folder. No network and no files, just an index.

before the caret    … for name , value in          longest run of tokens that also stands elsewhere
elsewhere           … for name , value in self.headers.items():
                    … for name , value in sorted(pairs):          each votes for the rest of its line
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import NamedTuple

from offhook_server.core.neighbours import Neighbour, neighbours
from offhook_server.core.token_index import Places, Segment, TokenIndex
from offhook_server.core.tokens import is_word, split, with_lf

TAIL_CHARS = 1_500  # of the text before the caret that are looked at
MATCH_TOKENS = 64
MOST_PLACES = 200
_WEIGHED_TOKENS = 12  # a longer match weighs no more

# measured: see confident
SURE_SHARE = 0.8
SURE_TOKENS = 20
LEAST_TOKENS = 4
PLACE_TOKENS = 8  # of match, that one more place which agrees is worth
COUNTED_PLACES = 4
SURE_LINE_SHARE = 0.9
SURE_LINE_TOKENS = 24

_LEAST_MATCH = 3  # tokens, of a line that is shown to the small model
_OWN_LINES_BELOW = 30  # that are no neighbours: the model would only repeat what follows

_CLOSES = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Caret:
    """`after_line` is what stands right of it on its line. `hidden` are the lines of file `name`, as it was indexed,
    that are being edited: the caret's own, and all that differ from the text on the screen. `prompt_from`: the line from
    which on a prompt shows the file and wants neighbours; None wants none."""

    name: str
    before: str
    after_line: str = ""
    hidden: range = range(0)
    line: int = 0
    prompt_from: int | None = None


@dataclass(frozen=True, slots=True)
class Guess:
    """`text` belongs at the caret, LF line ends; empty when there are but neighbours. `share` of the vote, 0 to 1;
    `places` in the folder that go on so."""

    text: str
    share: float = 0.0
    match_tokens: int = 0
    places: int = 1
    at_line_start: bool = False
    neighbours: tuple[Neighbour, ...] = ()


def confident(guess: Guess) -> bool:
    """Whether to show it unasked: a long match, or a shorter one that several places agree with.

    Measured on held-out half lines of 24 packages (n = 6,000, none of them the copy bench's): 15 % pass, 85 % of those are
    right to their end, 59 to 97 % by package. A match of 8 to 19 tokens in one place is right 1 time in 3, however long the
    rest; with 4 tokens in three places or more it is 7 in 10. At the start of a line, where no half line tells, one needs
    3 tokens for 1: 3 in 4 again (n = 42).
    """
    if not guess.text:
        return False
    if guess.at_line_start:
        return guess.share >= SURE_LINE_SHARE and guess.match_tokens >= SURE_LINE_TOKENS
    agreeing = min(guess.places, COUNTED_PLACES) - 1
    evidence = guess.match_tokens + PLACE_TOKENS * agreeing
    return guess.share >= SURE_SHARE and guess.match_tokens >= LEAST_TOKENS and evidence >= SURE_TOKENS


class _Match(NamedTuple):
    segment: Segment
    place: int
    length: int

    @property
    def where(self) -> tuple[str, int, int]:
        """The same in whatever order the files were put."""
        run = self.segment.run_of(self.place)
        return run.name, run.first_line, self.place - run.start


class CopyIndex(TokenIndex):
    """The files of a folder, and what they suggest."""

    def suggest(self, caret: Caret, *, more_lines: int = 0) -> Guess | None:
        """The rest of the caret's line, and up to `more_lines` lines below if they go on alike."""
        tail, partial = self._tail(caret.before)
        matches = self._matches(tail, partial, caret)
        near = () if caret.prompt_from is None else self._neighbours(matches, caret, caret.prompt_from)
        voted = self._vote(matches, partial)
        if voted:
            guess, best = voted
            text = fitted(guess.text, caret.before, caret.after_line)
            if text and text == guess.text and not caret.after_line.strip():
                text += self._lines_below(best, _indent(caret.before), more_lines)
            if text:
                at_line_start = not caret.before[caret.before.rfind("\n") + 1 :].strip()
                return replace(guess, text=text, at_line_start=at_line_start, neighbours=near)
        return Guess("", neighbours=near) if near else None

    def _tail(self, before: str) -> tuple[list[int], str]:
        """The last whole tokens before the caret, and the beginning of the one it stands in."""
        before = with_lf(before[-TAIL_CHARS:] if len(before) >= TAIL_CHARS else "\n" + before)
        words = split(before)[-MATCH_TOKENS - 1 :]
        partial = words.pop() if is_word(words[-1]) else ""
        return self.vocabulary.find(words), partial

    def _matches(self, tail: list[int], partial: str, caret: Caret) -> list[_Match]:
        unseen = self.unseen(caret.name, caret.hidden)
        words = self.vocabulary.words
        places, known = self.after(tail, MOST_PLACES)
        return [
            _Match(segment, place, segment.common(place, tail, known))
            for segment, place in places
            if words[segment.tokens[place]].startswith(partial) and not _among(segment, place, unseen)
        ]

    def _vote(self, matches: list[_Match], partial: str) -> tuple[Guess, _Match] | None:
        """The line's rest with most votes, without what is typed of it, and the place it was read at."""
        voters: defaultdict[bytes, list[_Match]] = defaultdict(list)
        votes: defaultdict[bytes, int] = defaultdict(int)
        for match in matches:
            rest = match.segment.tokens[match.place : match.segment.line_end(match.place)].tobytes()
            voters[rest].append(match)
            votes[rest] += 4 ** min(match.length, _WEIGHED_TOKENS)
        if not votes:
            return None
        most = max(votes.values())
        longest = {rest: _longest(voters[rest]) for rest in votes if votes[rest] == most}
        agreed, best = max(longest.items(), key=lambda item: (item[1].length, item[1].where))
        text = self._line_rest(best)[len(partial) :]
        return Guess(text, most / sum(votes.values()), best.length, len(voters[agreed])), best

    def _line_rest(self, match: _Match) -> str:
        segment = match.segment
        return self.vocabulary.spell(segment.tokens[match.place : segment.line_end(match.place)])

    def _lines_below(self, match: _Match, indent: str, most: int) -> str:
        """The lines that follow `match` until one is blank or further left, indented as the caret's own line is."""
        segment = match.segment
        run = segment.run_of(match.place)
        line = segment.line_of(run, match.place - 1)
        there = _indent(self.lines(run, range(line, line + 1)))
        found = ""
        for number in range(line + 1, line + 1 + most):
            text = self.lines(run, range(number, number + 1))
            deeper = text[len(there) :]
            if not deeper.strip() or not text.startswith(there) or not _same_indent(indent, _indent(deeper)):
                break
            found += "\n" + indent + deeper.rstrip()
        return found

    def _neighbours(self, matches: list[_Match], caret: Caret, prompt_from: int) -> tuple[Neighbour, ...]:
        near = range(prompt_from, caret.line + _OWN_LINES_BELOW)
        if caret.hidden:
            near = range(min(near.start, caret.hidden.start), max(near.stop, caret.hidden.stop))
        shown = self.unseen(caret.name, near)
        long = [m for m in matches if m.length >= _LEAST_MATCH and not _among(m.segment, m.place, shown)]
        best = _longest(long) if long else None
        return neighbours(self, caret.name, caret.before, near, best and (best.segment, best.place))


def hidden_lines(indexed: str, now: str, line: int) -> range:
    """Lines of the `indexed` text that may say what is being typed in `line` of the text as it is `now`."""
    if indexed == now:
        return range(line, line + 1)
    head = _common_prefix(indexed, now)
    tail = _common_prefix(indexed[head:][::-1], now[head:][::-1])
    first = indexed.count("\n", 0, head)
    last = indexed.count("\n", 0, len(indexed) - tail)
    last_now = now.count("\n", 0, len(now) - tail)
    if line < first:
        first = line
    elif line > last_now:
        last = line - last_now + last
    return range(first, last + 1)


def fitted(text: str, before: str, after_line: str) -> str:
    """What of `text` is not there yet between `before` and `after_line`; empty if they do not go together."""
    text = text.rstrip()
    after = after_line.strip()
    if not after:
        return text
    if is_word(before[-1:]) and is_word(after_line[0]):
        return ""  # the caret is inside a word
    if after[0] in _CLOSES.values():
        text = text[: _unmatched(text, after[0])]
    elif after in text:
        text = text[: text.index(after)]
    else:
        text = text[: len(text) - _overlap(text, after)]
    joins = is_word(text) and is_word(after_line[0])
    return "" if joins or not text.strip() or after.startswith(text.strip()) else text


def _unmatched(text: str, closer: str) -> int:
    """Where `text` closes with `closer` what it did not open; its length if it does not."""
    opened: list[str] = []
    for at, character in enumerate(text):
        if character in _CLOSES:
            opened.append(_CLOSES[character])
        elif opened and character == opened[-1]:
            opened.pop()
        elif character == closer:
            return at
    return len(text)


def _overlap(text: str, after: str) -> int:
    """Length of the longest end of `text` that `after` begins with."""
    return next((n for n in range(min(len(text), len(after)), 0, -1) if text.endswith(after[:n])), 0)


def _among(segment: Segment, place: int, places: Places) -> bool:
    return segment in places and any(place in some for some in places[segment])


def _longest(matches: list[_Match]) -> _Match:
    longest = max(match.length for match in matches)
    return min((match for match in matches if match.length == longest), key=lambda match: match.where)


def _indent(text: str) -> str:
    """The indentation of the last line of `text`."""
    line = text[text.rfind("\n") + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _same_indent(indent: str, deeper: str) -> bool:
    """Whether `deeper` is made of the same characters; indentation that cannot be told from none goes with all."""
    return not indent or not deeper or set(deeper) <= set(indent)


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
