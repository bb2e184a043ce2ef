"""Text as small numbers: the tokens the copy model compares. Any language; not a parser, it knows no syntax."""

import re
from collections.abc import Iterable, Iterator

NEVER = 0
"""The number of no token: it stands between files and in place of what was dropped, and matches nothing."""
UNKNOWN = -1

_TOKEN = re.compile(r'\n[ \t]*|[^\W\d]\w{0,63}|\d{1,64}(?:\.\d{1,64})?|"""|\'\'\'|[ \t]{1,64}|.', re.DOTALL)
_PIECE_CHARS = 2_500  # 2 ms of work

MOST_CHARS = 1_000_000
MOST_LINE_CHARS = 2_000


def indexable(text: str) -> bool:
    """False for what no person wrote: dumps, minified scripts."""
    return len(text) <= MOST_CHARS and max(map(len, text.split("\n"))) <= MOST_LINE_CHARS


def with_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def split(text: str) -> list[str]:
    """A line's end and the indentation after it are one token."""
    return _TOKEN.findall(text)


def pieces(text: str) -> Iterator[list[str]]:
    """The tokens of `text`, a short while's work at a time. A piece but the first begins with the end of a line."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_CHARS)
        end = len(text) if end < 0 else end
        yield split(text[start:end])
        start = end


def is_word(token: str) -> bool:
    """Whether a letter more could still belong to it."""
    return token[-1:].isalnum() or token[-1:] == "_"


class Vocabulary:
    """Tokens and their numbers, for the life of an index. Words nobody uses any more stay."""

    def __init__(self) -> None:
        self.words = [""]
        self.line_starts: set[int] = set()
        self._numbers = {"": NEVER}

    def number(self, words: list[str]) -> list[int]:
        """The numbers of `words`; new words get one."""
        numbers = self._numbers
        found = [numbers.get(word, NEVER) for word in words]
        if NEVER in found:
            found = [number or self._learn(word) for number, word in zip(found, words, strict=True)]
        return found

    def find(self, words: list[str]) -> list[int]:
        """The numbers of `words`; UNKNOWN for those that never stood in a file."""
        numbers = self._numbers
        return [numbers.get(word, UNKNOWN) for word in words]

    def spell(self, numbers: Iterable[int]) -> str:
        words = self.words
        return "".join([words[number] for number in numbers])

    def _learn(self, word: str) -> int:
        number = self._numbers.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
            if word[0] == "\n":
                self.line_starts.add(number)
        return number
