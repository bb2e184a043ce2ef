"""How much of a suggestion one key takes, and when Tab may take it. Pure rules over plain text.

    ghost           `foo(a, b)` newline `    return c`
    word by word    `foo` · `(a` · `, b` · `)` · newline with `    return` · ` c`

A word takes the signs before it along; signs with no word behind them go alone; a line end opens the next line's
first word and never rides at the end of this one's.
"""

import re
from typing import Literal

Amount = Literal["all", "word", "line"]

LEAST_SEEN_S = 0.150

_WORD = re.compile(r"(?:\n\s*|[^\S\n]*)(?:[^\w\s]*[^\S\n]*\w+|[^\w\s]+)|\s+")


def taken(ghost: str, amount: Amount) -> str:
    """The beginning of `ghost` that one key takes."""
    if amount == "all":
        return ghost
    if amount == "word":
        found = _WORD.match(ghost)
        return found.group() if found else ghost
    end = ghost.find("\n", 1)
    return ghost if end < 0 else ghost[:end]


def tab_accepts(before: str, after: str, seen_s: float | None) -> bool:
    """Whether Tab means the suggestion and not an indent.

    `before` and `after` are the caret's line; `seen_s` how long the suggestion has been on the screen (None: not yet).
    """
    left_of_ink = not before.strip() and bool(after.strip())
    return seen_s is not None and seen_s >= LEAST_SEEN_S and not left_of_ink
