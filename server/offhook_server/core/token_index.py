"""Where each run of three tokens stands in the files of a folder, in about 12 bytes a token. Suggests nothing.

    segment   tokens   0 a b c d 0 e a b c …      at most 65,535, so that a place is 16 bits; 0 stands between runs
              older3   place → the place before it whose three tokens before hash alike (a chain, as in LZ77)
              newest3  hash → newest place           and the same for the one token before: older1, newest1

A file is put behind what is there and the old one is blanked, which takes it out of every chain at once. A segment
that is mostly blank is emptied by putting its files again (`tidying`). Long work comes as an iterator of short steps;
a file is seen when its last step is done, never in part. Until then nothing but reading may come between.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from offhook_server.core.tokens import NEVER, Vocabulary, pieces, with_lf

SEGMENT_TOKENS = 0xFFFF
MOST_STEPS = 1_000  # along one chain
_PIECE_TOKENS = 800
_HEADS3 = 1 << 16
_HEADS1 = 1 << 13
_WORD_BYTES = 170  # string, number and dictionary entry, measured


@dataclass(slots=True, eq=False)
class Run:
    """Tokens [start, end) of `segment`: a file, or a part of a long one that begins with its line `first_line`."""

    name: str
    segment: "Segment"
    start: int
    end: int
    first_line: int


@dataclass(slots=True)
class File:
    runs: list[Run] = field(default_factory=list)
    chars: int = 0


class Segment:
    def __init__(self) -> None:
        self.tokens = array("I", [NEVER])
        self.breaks = array("H", [0])  # places of line ends, and of what stands between runs
        self.runs: list[Run] = []
        self._starts: list[int] = []
        self.live = 0
        self._older3, self._older1 = array("H", [0]), array("H", [0])
        self._newest3, self._newest1 = array("H", bytes(2 * _HEADS3)), array("H", bytes(2 * _HEADS1))

    @property
    def room(self) -> int:
        return SEGMENT_TOKENS - len(self.tokens)

    @property
    def sparse(self) -> bool:
        return self.live * 2 < len(self.tokens)

    @property
    def bytes(self) -> int:
        return 8 * len(self.tokens) + 2 * (len(self.breaks) + _HEADS3 + _HEADS1)

    def begin(self, name: str, first_line: int) -> Run:
        place = len(self.tokens)
        run = Run(name, self, place, place, first_line)
        self.runs.append(run)
        self._starts.append(place)
        return run

    def extend(self, run: Run, numbers: list[int], line_starts: set[int]) -> None:
        """Appends to `run`, which is the last one."""
        place = len(self.tokens)
        a, b, c = self.tokens[-3:] if place >= 3 else (NEVER, NEVER, self.tokens[-1])
        older3, older1, newest3, newest1 = self._older3, self._older1, self._newest3, self._newest1
        for number in numbers:
            head = hash((a, b, c)) % _HEADS3
            older3.append(newest3[head])
            newest3[head] = place
            head = c % _HEADS1
            older1.append(newest1[head])
            newest1[head] = place
            if number in line_starts:
                self.breaks.append(place)
            a, b, c = b, c, number
            place += 1
        self.tokens.extend(numbers)
        self.live += len(numbers)
        run.end = place

    def finish(self) -> None:
        """Puts the end of a run behind the last one, if there is room: a full segment ends by itself."""
        if self.room:
            self.breaks.append(len(self.tokens))
            self.tokens.append(NEVER)
            self._older3.append(0)
            self._older1.append(0)

    def blank(self, run: Run) -> None:
        length = run.end - run.start
        self.tokens[run.start : run.end] = array("I", bytes(4 * length))
        self.live -= length
        self.runs.remove(run)
        self._starts.remove(run.start)

    def after_three(self, a: int, b: int, c: int) -> Iterator[int]:
        """Places that stand behind these three tokens, newest first."""
        tokens, older = self.tokens, self._older3
        place = self._newest3[hash((a, b, c)) % _HEADS3]
        for _ in range(MOST_STEPS):
            if not place:
                return
            # in this order: a place close to the start never looks before it
            if tokens[place - 1] == c and tokens[place - 2] == b and tokens[place - 3] == a:
                yield place
            place = older[place]

    def after_one(self, c: int) -> Iterator[int]:
        tokens, older = self.tokens, self._older1
        place = self._newest1[c % _HEADS1]
        for _ in range(MOST_STEPS):
            if not place:
                return
            if tokens[place - 1] == c:
                yield place
            place = older[place]

    def common(self, place: int, tail: list[int], known: int) -> int:
        """How many tokens before `place` are the last ones of `tail`; `known` of them are already."""
        tokens, most = self.tokens, len(tail)
        length = known
        while length < most and tokens[place - length - 1] == tail[-length - 1]:
            length += 1
        return length

    def line_end(self, place: int) -> int:
        """The place of the line's end at or behind `place`."""
        at = bisect_left(self.breaks, place)
        return self.breaks[at] if at < len(self.breaks) else len(self.tokens)

    def run_of(self, place: int) -> Run:
        """The run that holds `place`, a live one."""
        return self.runs[bisect_right(self._starts, place) - 1]

    def line_of(self, run: Run, place: int) -> int:
        """The line of the file that the token at `place` stands in; a line's end belongs to the line it begins."""
        before = bisect_left(self.breaks, run.start)
        return run.first_line + bisect_right(self.breaks, place) - before - 1

    def places_of(self, run: Run, lines: range) -> range:
        """The places in `run` of those lines of the file, each with the break before it."""
        first = bisect_left(self.breaks, run.start)
        last = bisect_left(self.breaks, run.end)
        begin, end = first + lines.start - run.first_line, first + lines.stop - run.first_line
        if not lines or end <= first or begin >= last:
            return range(0)
        return range(self.breaks[max(begin, first)], self.breaks[end] if end < last else run.end)


Places = dict[Segment, list[range]]
Steps = Generator[None, None, None]


class TokenIndex:
    """Files by name, and the places where tokens stand in them."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.files: dict[str, File] = {}
        self.chars = 0
        self.segments = [Segment()]
        self._unseen: list[Run] = []

    @property
    def bytes(self) -> int:
        """Memory used, about."""
        return sum(segment.bytes for segment in self.segments) + _WORD_BYTES * len(self.vocabulary.words)

    @property
    def untidy(self) -> bool:
        """Whether `tidying` would do something."""
        return any(segment.sparse for segment in self.segments[:-1])

    def putting(self, name: str, text: str) -> Steps:
        """Puts or replaces a file, in steps."""
        text = with_lf(text)
        numbered = (self.vocabulary.number(piece) for piece in pieces("\n" + text))
        return self._writing(name, numbered, len(text))

    def put(self, name: str, text: str) -> None:
        for _ in self.putting(name, text):
            pass
        for _ in self.tidying():
            pass

    def drop(self, name: str) -> None:
        file = self.files.pop(name, None)
        if file:
            self._blank(file.runs)
            self.chars -= file.chars

    def tidying(self) -> Steps:
        """Gives back the memory of what was dropped, in steps."""
        if self.untidy:  # in the last one, a file as long as a segment would leave what is as sparse, again and again
            self.segments.append(Segment())
        for segment in self.segments[:-1]:
            if segment.sparse:
                for name in {run.name for run in segment.runs}:
                    file = self.files[name]
                    numbered = (part for run in list(file.runs) for part in _parts(run))
                    yield from self._writing(name, numbered, file.chars)
        self.segments[:-1] = [segment for segment in self.segments[:-1] if segment.live]

    def after(self, tail: list[int], most: int) -> tuple[list[tuple[Segment, int]], int]:
        """Up to `most` places behind the last three tokens of `tail`, else behind the last one, and which it was."""
        if len(tail) >= 3:
            a, b, c = tail[-3:]
            three = ((segment, place) for segment in reversed(self.segments) for place in segment.after_three(a, b, c))
            if found := list(islice(three, most)):
                return found, 3
        return self.standing(tail[-1], most // 2), 1

    def standing(self, number: int, most: int) -> list[tuple[Segment, int]]:
        """Up to `most` places behind this token, newest first."""
        places = ((segment, place) for segment in reversed(self.segments) for place in segment.after_one(number))
        return list(islice(places, most))

    def lines(self, run: Run, lines: range) -> str:
        """The text of those lines of the file, as far as they are in `run`."""
        tokens = run.segment.tokens
        return self.vocabulary.spell(tokens[place] for place in run.segment.places_of(run, lines))[1:]

    def unseen(self, name: str, lines: range) -> Places:
        """Places that no one may read: those lines of that file, and files not put whole."""
        found: Places = {}
        for run in self._unseen:
            found.setdefault(run.segment, []).append(range(run.start, run.end))
        for run in self.runs_of(name):
            # a break tells of the line it ends
            if places := run.segment.places_of(run, lines):
                found.setdefault(run.segment, []).append(range(places.start + 1, places.stop + 1))
        return found

    def runs_of(self, name: str) -> list[Run]:
        file = self.files.get(name)
        return file.runs if file else []

    def _writing(self, name: str, numbered: Iterable[list[int]], chars: int) -> Steps:
        runs: list[Run] = []
        self._unseen = runs
        line = 0
        try:
            for numbers in numbered:
                line = self._append(runs, name, numbers, line)
                yield
            self.drop(name)
            self.files[name] = File(list(runs), chars)
            self.chars += chars
            self._unseen = runs = []
        finally:
            self.segments[-1].finish()
            self._blank(runs)
            self._unseen = []

    def _append(self, runs: list[Run], name: str, numbers: list[int], line: int) -> int:
        """Puts one piece behind the others, in a new segment if it does not fit; returns the line after it."""
        segment = self.segments[-1]
        if not runs or segment.room < len(numbers):
            if segment.room < len(numbers):
                segment = Segment()
                self.segments.append(segment)
            runs.append(segment.begin(name, line))
        line_starts = self.vocabulary.line_starts
        segment.extend(runs[-1], numbers, line_starts)
        return line + sum(number in line_starts for number in numbers)

    def _blank(self, runs: list[Run]) -> None:
        for run in runs:
            run.segment.blank(run)


def _parts(run: Run) -> Iterator[list[int]]:
    """A run's tokens as pieces that each begin with the end of a line."""
    segment = run.segment
    start = run.start
    while start < run.end:
        end = min(segment.line_end(start + _PIECE_TOKENS), run.end)
        yield list(segment.tokens[start:end])
        start = end
