"""The prompt of a suggestion, built so that the engine's prefix cache stays warm while one types. Not chat.

    <|file_sep|>near.py         neighbours (core.neighbours): chosen once, kept while the caret stays near
    …
    <|file_sep|>this.py
    lines before the caret      starts at a line that does not move from key to key

Text right of the caret on its line asks for filling in (`<|fim_…|>`), else the model just goes on (prefix mode: what was
evaluated for the last key is a prefix of what this key asks). How it ends is core.healing's matter. Tokens are those of Qwen2.5-Coder's technical report.
"""

from offhook_server.core.fim import QWEN, Infill
from offhook_server.core.healing import lead_of
from offhook_server.core.neighbours import Neighbour
from offhook_wire.text import Point, Text

PREFIX_CHARS = 900  # cold, about 300 tokens: 3 s of one core; while typing only the end is new
SUFFIX_CHARS = 240
SUFFIX_LINES = 6
NEIGHBOURS_HOLD_LINES = 20
TOKEN_CHARS = 3  # of code, about

FIM_PREFIX, FIM_SUFFIX, FIM_MIDDLE = "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"
STOPS = list(QWEN.marks)


class PromptWindow:
    """Of one document: which line the prompt starts at, and which neighbours stand in front. Both move seldom."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first_line = 0
        self._neighbours: tuple[Neighbour, ...] = ()
        self._chosen_at: int | None = None  # line of the caret when the neighbours were chosen
        self._asked_at: Point | None = None

    def wants_neighbours(self, text: Text, caret: Point) -> int | None:
        """The line from which on it shows the file, where it has no neighbours of this place; else None."""
        near = self._chosen_at is not None and abs(caret.line - self._chosen_at) <= NEIGHBOURS_HOLD_LINES
        if near and self._neighbours:
            return None
        self._settle(text, caret)
        return self._first_line

    def choose(self, caret: Point, neighbours: tuple[Neighbour, ...]) -> None:
        """To be shown from now on, the best last."""
        self._chosen_at, self._neighbours = caret.line, neighbours

    def infill(self, text: Text, caret: Point) -> Infill:
        self._settle(text, caret)
        self._asked_at = caret
        lead = lead_of(text, caret)
        return Infill(
            prefix=_end_of(text.between(Point(self._first_line, 0), caret)),
            suffix=text.after(caret, SUFFIX_LINES)[:SUFFIX_CHARS],
            name=self._name,
            neighbours=self._neighbours,
            lead=lead.blanks + lead.word,
        )

    def cold_tokens(self, text: Text, caret: Point) -> int:
        """About as many of the next prompt as the engine has not read for the last one."""
        asked_at = self._asked_at
        if asked_at is None or not self._first_line <= min(caret.line, asked_at.line):
            chars = PREFIX_CHARS
        else:
            chars = max(0, _chars(text, asked_at.line, caret) - asked_at.column) if caret.line >= asked_at.line else 0
        suffix = 0 if not text.lines[caret.line][caret.column :].strip() else SUFFIX_CHARS
        return (min(chars, PREFIX_CHARS) + suffix) // TOKEN_CHARS

    def build(self, text: Text, caret: Point) -> str:
        """As Qwen wants it."""
        return QWEN.keystroke(self.infill(text, caret))

    def _settle(self, text: Text, caret: Point) -> None:
        window = _chars(text, self._first_line, caret) if self._first_line <= caret.line else 0
        if self._first_line > caret.line or window > 2 * PREFIX_CHARS:
            self._first_line = _line_before(text, caret, PREFIX_CHARS)


def _chars(text: Text, first_line: int, caret: Point) -> int:
    return sum(len(line) + 1 for line in text.lines[first_line : caret.line]) + caret.column


def _line_before(text: Text, caret: Point, chars: int) -> int:
    """The highest line from which not over `chars` lead to the caret (the caret's own line at the least)."""
    line, left = caret.line, chars - caret.column
    while line > 0 and left >= len(text.lines[line - 1]) + 1:
        line -= 1
        left -= len(text.lines[line]) + 1
    return line


def _end_of(before: str) -> str:
    """Less than twice PREFIX_CHARS even of one endless line, from a place that moves seldom."""
    return before[max(0, len(before) // PREFIX_CHARS - 1) * PREFIX_CHARS :]
