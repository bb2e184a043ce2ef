"""`PATH[:LINE[:COL]]` as editors and compilers write it, and `PATH:LINE-LINE`: lines and columns count from 1."""

import re
from dataclasses import dataclass
from pathlib import Path

from offhook_wire.privacy import never_sent
from offhook_wire.text import Point

PLACE = re.compile(r"(?P<path>.*?)(?::(?P<line>\d+)(?:-(?P<last>\d+)|:(?P<column>\d+))?)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """`last_line`, from zero as `point` is: of the lines that begin at `point`, where several are meant."""

    path: Path
    point: Point | None = None
    last_line: int | None = None

    @property
    def never_sent(self) -> bool:
        """By its name, or by that of the file it links to."""
        return any(never_sent(str(path)) for path in (self.path, self.path.resolve()))


def parse(text: str) -> Place:
    """A trailing `:LINE`, `:LINE:COL` or `:LINE-LINE` is a place unless a file of the whole name exists. Raises ValueError."""
    if Path(text).exists():
        return Place(Path(text))
    match = PLACE.fullmatch(text)
    assert match is not None  # any text matches: the numbers are optional
    head, line, column = match.group("path"), int(match["line"] or 1), int(match["column"] or 1)
    if line < 1 or column < 1:
        raise ValueError("lines and columns count from 1")
    if not match["line"]:
        return Place(Path(head))
    last = int(match["last"]) if match["last"] else None
    if last is not None and last < line:
        raise ValueError(f"line {last} comes before line {line}")
    return Place(Path(head), Point(line - 1, column - 1), None if last is None else last - 1)


def language_of(path: Path) -> str:
    return "python" if path.suffix in (".py", ".pyi") else "plaintext"
