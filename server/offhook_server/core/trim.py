r"""What of a model's text may be shown, decided as it streams: never a character that has to be taken back. Not a parser.

    raw ──▶ clean ─────────────────▶ shape ──────────────▶ fit ────────────────────▶ shown
            without \r, thinking,    one line, or a        without what already
            the fence it opens with; small block           stands right of the caret
            up to the first marker;
            nothing of mere talk

In Python (`room`) a text also ends where it leaves the brackets or the string it was asked for in, and before a new
definition. The first line of a block is shown as it streams; a line below it only when it is whole and the text so far
does no harm to the parse (core.syntax), so a suggestion of several lines always leaves the file as parseable as it was.

Until the end is known, whatever might be the beginning of something unfit is held back: `feed` shows the rest. How the
text was cut into deltas never matters.
"""

import re
from dataclasses import dataclass, field

from offhook_server.core.code_only import OPENERS
from offhook_server.core.syntax import Room, begins_definition, is_decorator, room_at
from offhook_wire.text import Point, Text

PYTHON = (".py", ".pyi", ".pyw")
PROSE = (".md", ".rst", ".txt")
MOST_LINES = 6
NEAR_LINES = 3
LEAST_OVERLAP = 3  # characters right of the caret that must come again to count as doubled; closing ones count from one
CLOSING = ")]}'\"`,;: "

END = re.compile(r"<\|\w+\|>|<\u200b|<think>|```")  # special tokens, as they are and as core.prompt disguises them
END_BEGUN = re.compile(r"(?:<(?:\|\w*\|?)?|<t|<th|<thi|<thin|<think|`{1,2})\Z")
END_CUT_SHORT = re.compile(r"(?:<\|\w*\|?|<think|^[ \t]*`{1,2})\Z", re.MULTILINE)  # a lone "<" or "`" may well be code
PREAMBLE = re.compile(r"\A(?:\s*<think>.*?</think>(?:\s*\n)?)?(?:[ \t]*```[^\n]*\n)?", re.DOTALL)
IN_PREAMBLE = re.compile(r"\s*<think>|[ \t]*```[^\n]*\Z")
TALKERS = tuple(opener[0].upper() + opener[1:] for opener in OPENERS)
TALK = re.compile(rf"\s*(?:{'|'.join(map(re.escape, TALKERS))})(?:[,!:]|\.?\s+\w)")
WORD = re.compile(r"[\w.]+\Z")
LETTER = re.compile(r"\w")
BLANK_LINES = re.compile(r"\s*\n")
STRING = re.compile(r""""[^"\n]*"|'[^'\n]*'""")


@dataclass(slots=True)
class Trim:
    """`after`: the rest of the caret's line. `below`: the next line with ink. `block`: more than one line may come;
    `under`: and the first of them stands below the caret's. `front`: what stands before the first, where that is ink.
    `prose`: no code is meant here."""

    after: str
    below: str
    indent: int  # of the caret's line, in characters
    block: bool
    under: bool = False
    prose: bool = False
    room: Room | None = None
    front: str = ""
    most_lines: int = MOST_LINES
    ended: bool = False
    _raw: str = ""
    _shown: int = 0
    _unharmed: list[int] = field(
        default_factory=list
    )  # how many lines of the text do no harm, of those that were tried
    _tried: int = 1
    _ended_by: str = ""  # the sign that leaves the room

    @classmethod
    def at(cls, text: Text, at: Point, name: str, *, most_lines: int = 0) -> "Trim":
        """A block where the line is empty so far, or under it where it opens one; else the rest of the line.

        `most_lines`: the person asked for more, so the line is finished and its block goes on.
        """
        line = text.lines[at.line]
        before, after = line[: at.column], line[at.column :]
        below = next((row for row in text.lines[at.line + 1 : at.line + 1 + NEAR_LINES] if row.strip()), "")
        room = room_at(text, at) if name.endswith(PYTHON) else None
        block, under, indent, front = not before.strip() and not after.strip(), False, len(before), ""
        if room:
            block = block and not room.one_line
            if room.opens_block and before.endswith(":") and not after.strip():
                indent = _indent_and_ink(room.statement)[0]
                block = under = _indent_and_ink(below)[0] <= indent
        if most_lines and not block and not after.strip() and not (room and room.inside):
            block, indent, front = True, _indent_and_ink(before)[0], before
        prose = bool(room.inside) if room else name.endswith(PROSE)
        return cls(after, below, indent, block, under, prose, room, front, most_lines or MOST_LINES)

    def feed(self, delta: str, *, scarce: bool = False) -> str:
        """More of the model's text in, what may be shown out. `ended`: stop the model, nothing more will come.

        `scarce`: the model is about to be cut off, so a word that may not become whole is held back.
        """
        if self.ended:
            return ""
        self._raw += delta.replace("\r", "")
        text, self.ended = self._shape(*self._clean())
        text = self._fit(text) if self.ended else self._certain(text)
        return self._show(WORD.sub("", text).rstrip() if scarce and not self.ended else text)

    def finish(self, *, cut: bool = False) -> str:
        """No more comes: what was held back and is fit to be seen after all. `cut`: not by the model's own will."""
        if self.ended:
            return ""
        self.ended = True
        came, _ = self._clean(whole=True)
        text, whole = self._shape(END_CUT_SHORT.sub("", came), whole=not cut)
        fit = self._fit(text)
        ragged = not whole and came.endswith(fit)
        return self._show(WORD.sub("", fit).rstrip() if ragged else fit)

    def _show(self, text: str) -> str:
        new = text[self._shown :]
        self._shown += len(new)
        return new

    # -- the text as far as it is known; each step also says whether its end is -------------------------------------

    def _clean(self, *, whole: bool = False) -> tuple[str, bool]:
        text = PREAMBLE.sub("", self._raw, count=1)
        if IN_PREAMBLE.match(text):
            return "", False
        if not self.prose:
            if TALK.match(text):
                return "", True
            ink = text.strip().rstrip(".")
            if not whole and ink and any(opener.startswith(ink) for opener in TALKERS):
                return "", False
        end = END.search(text)
        return (text[: end.start()], True) if end else (text, False)

    def _shape(self, text: str, whole: bool) -> tuple[str, bool]:
        """`whole`: no more comes, so that the last line counts as one."""
        if self.room:
            fitting = self.room.fitting(text)
            self._ended_by = text[fitting : fitting + 1]
            text, whole = text[:fitting], whole or fitting < len(text)
        if self.block and (not self.under or BLANK_LINES.match(text)):
            return self._block(text, whole)
        first, newline, _ = text.partition("\n")
        return first, whole or bool(newline)

    def _block(self, text: str, whole: bool) -> tuple[str, bool]:
        """Lines while they belong to the caret's block. The first one with ink goes where the caret stands, or below it."""
        blank = None if self.front else BLANK_LINES.match(text)
        lines = (text[blank.end() :] if blank else self._left + text).split("\n")
        least = max(self.indent + 1, _indent_and_ink(lines[0])[0]) if self.under else self.indent
        for n, line in enumerate(lines):
            lines_end = n == self.most_lines or self._is_foreign(line, least, whole or n < len(lines) - 1)
            if lines_end or self._is_new(lines[: n + 1], whole or n < len(lines) - 1):
                lines, whole = lines[:n], True
                break
        if self.room:
            lines = self._tested(lines, whole)
        shown = "\n".join(lines)
        return ("\n" + shown if shown.strip() else "") if self.under else shown[len(self._left) :], whole

    def _is_foreign(self, line: str, least: int, whole: bool) -> bool:
        """Blank, less indented than the block, or the line below once more."""
        indent, ink = _indent_and_ink(line)
        if not ink:
            return whole
        return indent < least or (whole and (indent, ink) == _indent_and_ink(self.below))

    def _is_new(self, lines: list[str], whole: bool) -> bool:
        """Whether the last of `lines` begins another definition, or says again what was said."""
        *said, line = lines
        if self.room and said and not is_decorator(said[-1]) and begins_definition(line):
            return _indent_and_ink(line)[0] <= _indent_and_ink(said[0])[0]
        return whole and line in _repeats(said) and bool(LETTER.search(line))

    def _tested(self, lines: list[str], whole: bool) -> list[str]:
        """The first line as far as it has come, and those below it that are whole and do no harm."""
        assert self.room is not None
        for count in range(self._tried + 1, len(lines) + whole):
            text = "\n".join(lines[:count])
            self._tried = count
            if self.room.unharmed("\n" + text if self.under else text[len(self._left) :]):
                self._unharmed.append(count)
        return lines[: max(self._unharmed, default=1)]

    # -- what of it to show -----------------------------------------------------------------------------------------

    def _certain(self, text: str) -> str:
        """What is left of an unfinished `text` however it goes on."""
        text = END_BEGUN.sub("", text)
        if self.room and len(self.room.inside) == 3:
            text = text.rstrip(self.room.inside[0])
        if self.block:
            return self._without_double(text).rstrip()
        ends = (text, text.rstrip())
        return text[: min(len(end) - _overlap(end, right) for end in ends for right in self._rights)].rstrip()

    def _without_double(self, text: str) -> str:
        """Without a last line that may become the one below, or a loop."""
        left = "" if self.under else self._left
        *said, line = (left + text).split("\n")
        indent, ink = _indent_and_ink(line)
        indent_below, ink_below = _indent_and_ink(self.below)
        double = indent == indent_below and ink_below.startswith(ink)
        double = double or any(repeat.startswith(line) for repeat in _repeats(said))
        return "\n".join(said)[len(left) :] if double else text

    def _fit(self, text: str) -> str:
        """A text that ends with what already stands right of the caret would double it."""
        if not self.after.strip():
            return text.rstrip()
        for right in self._rights:
            for end in (text.rstrip(), text):
                doubled = _doubled(end, right, self._ended_by)
                if doubled:
                    return end[:-doubled]
        return text

    @property
    def _left(self) -> str:
        """What stands before the first line of a block."""
        return self.front or " " * self.indent

    @property
    def _rights(self) -> tuple[str, str]:
        """What stands right of the caret, with and without the blanks in front."""
        right = self.after.rstrip()
        return right, right.lstrip()


def _indent_and_ink(line: str) -> tuple[int, str]:
    ink = line.lstrip()
    return len(line) - len(ink), ink.rstrip()


def _repeats(said: list[str]) -> list[str]:
    """The lines that would go round in a circle of one or two behind `said`."""
    return [*said[-1:], *(said[-2:-1] if len(said) > 2 and said[-1] == said[-3] else [])]


def _overlap(text: str, what: str) -> int:
    """Length of the longest end of `text` that is a beginning of `what`."""
    return next((n for n in range(min(len(text), len(what)), 0, -1) if text.endswith(what[:n])), 0)


def _doubled(text: str, after: str, ended_by: str) -> int:
    """How much of the end of `text` stands in `after` already. A bracket that `text` itself opened closes there."""
    for size in range(min(len(text), len(after)), 0, -1):
        begin = after[:size]
        telling = size == len(after) or size >= LEAST_OVERLAP or not begin.strip(CLOSING)
        telling = telling or bool(ended_by and after.startswith(ended_by, size))
        if telling and text.endswith(begin) and _open_brackets(text) >= _open_brackets(text[:-size]):
            return size
    return 0


def _open_brackets(text: str) -> int:
    depth = 0
    for character in STRING.sub("", text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(0, depth - 1)
    return depth
