"""Where the copy bench asks: places in the middle of lines of installed packages. Asks nobody."""

import importlib.util
import random
from dataclasses import dataclass
from pathlib import Path

from offhook_server.bench.ghost import Place
from offhook_server.core.tokens import split, with_lf
from offhook_server.models.folder import Folder

LEAST_CHARS = 8  # of a line, without its indentation
LEAST_TOKENS = 4


@dataclass(frozen=True, slots=True)
class HalfLine:
    """A caret after half of a line's tokens. `before` is the file up to it, `rest` what the line goes on with."""

    package: str
    name: str
    before: str
    rest: str

    @property
    def place(self) -> Place:
        """The file ends at the caret."""
        return Place(self.name, self.before)

    def exact(self, text: str) -> bool:
        """Whether `text` is the rest of the line, all of it and no more, trailing blanks aside."""
        return text.rstrip() == self.rest.rstrip()

    def missed(self, text: str) -> bool:
        """Whether a text that begins so can no longer be exact."""
        return not self.rest.rstrip().startswith(text.rstrip())


def package_folder(package: str) -> Path:
    """Where an installed package lies."""
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def half_lines(package: str, count: int, seed: int) -> list[HalfLine]:
    """`count` of the package's places, drawn by `seed`. Lines of comment or of hardly anything are left out."""
    folder = Folder(package_folder(package))
    names = sorted(found.name for found in folder.files() if found and found.name.endswith(".py"))
    texts = {name: with_lf(folder.read(name) or "") for name in names}
    places = [(name, at) for name in names for at in _middles(texts[name])]
    drawn = random.Random(seed).sample(places, count)
    return [HalfLine(package, name, texts[name][:at], texts[name][at:].partition("\n")[0]) for name, at in drawn]


def _middles(text: str) -> list[int]:
    found: list[int] = []
    start = 0
    for line in text.split("\n"):
        ink = line.strip()
        tokens = split(ink)
        if len(ink) >= LEAST_CHARS and len(tokens) >= LEAST_TOKENS and not ink.startswith("#"):
            half = tokens[: len(tokens) // 2]
            found.append(start + len(line) - len(line.lstrip()) + len("".join(half)))
        start += len(line) + 1
    return found
