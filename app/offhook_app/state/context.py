"""What of the open file goes along with a question: how much, what the chip says, how the model reads it.

    something selected ─▶ its lines      nothing selected ─▶ lines around the caret      on request ─▶ the file

Small by default: a model on a processor reads some 30 tokens a second. A file on the never-sent list gives nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

Choice = Literal["near", "file", "none"]

MOST_NEAR_CHARACTERS = 1200
MOST_NEAR_LINES = 40
MOST_CHARACTERS = 4000  # of a selection or a file
MOST_LINES_ABOVE = 300  # in which a definition is looked for
CHARACTERS_A_TOKEN = 3.5  # of code, on the average

_FENCES = re.compile(r"`{3,}")
_DEFINITION = re.compile(r"^\s*(?:export\s+|pub\s+)?(?:async\s+)?(?:def|class|function|func|fn)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class OpenText:
    """The open file as it is on the screen. Lines count from zero; `selected` is the first and last one, or None."""

    name: str
    language: str
    lines: Sequence[str]
    caret_line: int = 0
    selected: tuple[int, int] | None = None
    never_sent: bool = False
    read_only: bool = False


class Context(Struct, frozen=True):
    """Lines of a file, numbered from 1. `lines_in_file` tells how much is left out; `caret_line` 0: not of interest."""

    name: str
    language: str
    first_line: int
    last_line: int
    lines_in_file: int
    text: str
    caret_line: int = 0

    @property
    def words(self) -> str:
        """For the chip."""
        if self.last_line - self.first_line + 1 == self.lines_in_file:
            return f"{self.name} · whole file"
        if self.first_line == self.last_line:
            return f"{self.name} · line {self.first_line}"
        return f"{self.name} · lines {self.first_line}–{self.last_line}"

    @property
    def tokens(self) -> int:
        """Estimated, to two figures."""
        exact = max(1, round(len(self.text) / CHARACTERS_A_TOKEN))
        step: int = 10 ** max(0, len(str(exact)) - 2)
        return round(exact / step) * step

    @property
    def _introduction(self) -> str:
        lines = f"Lines {self.first_line} to {self.last_line} of {self.name}"
        return f"{lines}, the caret is in line {self.caret_line}:" if self.caret_line else f"{lines}:"

    def before(self, question: str) -> str:
        """`question` with these lines in front of it, as the model reads them."""
        fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(self.text))])
        return f"{self._introduction}\n\n{fence}{self.language}\n{self.text}\n{fence}\n\n{question}"


def context_of(opened: OpenText, choice: Choice) -> Context | None:
    """None where nothing is wanted, may be sent, or is there."""
    if choice == "none" or opened.never_sent:
        return None
    caret_line = 0
    if choice == "file":
        first, last = _fitting(opened.lines, 0, len(opened.lines) - 1)
    elif opened.selected:
        first, last = _fitting(opened.lines, *opened.selected)
    else:
        first, last = _near(opened.lines, opened.caret_line)
        caret_line = opened.caret_line + 1
    text = "\n".join(opened.lines[first : last + 1])
    if not text.strip():
        return None
    return Context(opened.name, opened.language, first + 1, last + 1, len(opened.lines), text, caret_line)


def _fitting(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """As many whole lines from `first` on as there is room for, at least one."""
    room = MOST_CHARACTERS - len(lines[first])
    end = first
    while end < last and room > len(lines[end + 1]):
        end += 1
        room -= len(lines[end]) + 1
    return first, end


def _near(lines: Sequence[str], caret: int) -> tuple[int, int]:
    """The lines around `caret`, taken from above and below in turn, as long as there is room."""
    first = last = caret
    room = MOST_NEAR_CHARACTERS - len(lines[caret])
    while last - first + 1 < MOST_NEAR_LINES:
        above = first - 1 if first > 0 and len(lines[first - 1]) < room else None
        below = last + 1 if last + 1 < len(lines) and len(lines[last + 1]) < room else None
        if above is None and below is None:
            break
        if below is None or (above is not None and caret - first <= last - caret):
            first -= 1
            room -= len(lines[first]) + 1
        else:
            last += 1
            room -= len(lines[last]) + 1
    return first, last


def examples(opened: OpenText | None) -> list[str]:
    """Three requests worth trying, made from the open file."""
    if opened is None or opened.never_sent:
        return [
            "How do I read a JSON file in Python?",
            "Write a function that retries a call with growing waits",
            "What is the difference between a thread and a process?",
        ]
    above = range(opened.caret_line, max(-1, opened.caret_line - MOST_LINES_ABOVE), -1)
    found = next((match for n in above if (match := _DEFINITION.match(opened.lines[n]))), None)
    if found is None:
        name = opened.name
        return [f"What does {name} do?", f"What could go wrong in {name}?", f"What would make {name} simpler?"]
    name = f"`{found[1]}`"
    return [f"What does {name} do?", f"Write a test for {name}", f"What could go wrong in {name}?"]
