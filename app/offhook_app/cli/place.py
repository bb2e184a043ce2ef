"""`PATH[:LINE[:COL]]` as editors and compilers write it: lines and columns count from 1."""

import re
from dataclasses import dataclass
from pathlib import Path

from offhook_wire.text import Point

PLACE = re.compile(r"(?P<path>.*?)(?::(?P<line>\d+))?(?::(?P<column>\d+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    path: Path
    point: Point | None = None


def parse(text: str) -> Place:
    """A trailing `:LINE` or `:LINE:COL` is a place unless a file of the whole name exists. Raises ValueError."""
    if Path(text).exists():
        return Place(Path(text))
    match = PLACE.fullmatch(text)
    assert match is not None  # any text matches: the numbers are optional
    head, line, column = match.group("path"), int(match["line"] or 1), int(match["column"] or 1)
    if line < 1 or column < 1:
        raise ValueError("lines and columns count from 1")
    return Place(Path(head), Point(line - 1, column - 1) if match["line"] else None)


def language_of(path: Path) -> str:
    return "python" if path.suffix in (".py", ".pyi") else "plaintext"
