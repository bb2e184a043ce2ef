"""Which end each line of a file has, so that saving gives back the bytes that were there. Plain text in and out.

Inside the editor every line ends with LF. Lines that are still the opened ones keep their own end; a new line takes
the one above it has. Undo therefore brings back the exact bytes.
"""

import re
from collections import Counter
from difflib import SequenceMatcher

_END = re.compile(r"\r\n|\n|\r")
NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


def split(text: str) -> tuple[list[str], list[str]]:
    """Lines without their ends, and the ends: always one fewer, since the last line has none."""
    return _END.split(text), _END.findall(text)


def name(ends: list[str]) -> str:
    kinds = set(ends)
    if len(kinds) > 1:
        return "mixed"
    return NAMES[kinds.pop()] if kinds else "LF"


def join(lines: list[str], ends: list[str]) -> str:
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))


def restored(opened: list[str], ends: list[str], lines: list[str]) -> list[str]:
    """The ends of `lines`, which were edited out of `opened`, whose ends were `ends`."""
    usual = Counter(ends).most_common(1)[0][0] if ends else "\n"
    if len(set(ends)) <= 1:
        return [usual] * (len(lines) - 1)
    known: dict[int, str] = {}
    for new, old in _same_lines(opened, lines):
        if old < len(ends):
            known[new] = ends[old]
    found: list[str] = []
    for i in range(len(lines) - 1):
        found.append(known.get(i) or (found[-1] if found else usual))
    return found


def _same_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Pairs of (new, old) indexes of lines that are the same; a line edited in place counts as the same."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    pairs = [(i, i) for i in range(head)]
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and a1 - a0 == b1 - b0):
            pairs += [(head + b0 + i, head + a0 + i) for i in range(a1 - a0)]
    return pairs + [(len(new) - 1 - i, len(old) - 1 - i) for i in range(tail)]
