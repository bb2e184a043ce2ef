r"""A gap in a file put to a chat model, and what of its answer is code, decided as it streams. Not a parser.

    raw ──▶ head ─────────────────────▶ front ──────────────────▶ back ─────────────────────▶ shown
            without thinking, "Sure…",  without what stands left  without what stands below
            inside the fence if any     of the gap already        already, nor what follows the fence

Of a model that fills in by its own marks only the head is looked at: some chat even then. Nothing that was shown is
ever taken back, and how the answer was cut into deltas never matters.
"""

import re
from dataclasses import dataclass
from typing import Any

from offhook_server.core.fim import Infill

GAP = "<gap/>"
INSTRUCTIONS = "You complete code. You answer with code only."  # of more words the smallest models only repeat the last
LEAST_ECHO = 3  # characters of ink that prove a repetition

FENCE = "```"
THINKING = "<think>"
OPENERS = (
    *("sure", "certainly", "of course", "okay", "ok", "absolutely", "great", "yes", "no problem", "alright"),
    *("here's", "here is", "here are", "below is", "as an ai", "sorry", "apologies", "unfortunately", "based on"),
    *("i'm", "i am", "i'll", "i will", "i've", "i have", "i can", "i cannot", "i understand", "i see", "i don't"),
    *("the code", "the missing", "the complete", "the completed", "the following", "the gap", "the function"),
    *(
        "this code",
        "this is",
        "to complete",
        "to fill",
        "you can",
        "you need",
        "it looks",
        "it seems",
        "let me",
        "let's",
    ),
)
OPENS = re.compile(rf"(?:{'|'.join(map(re.escape, OPENERS))})(?!\w)")
CODE = re.compile(r"[=;{}\[\]]|\w\(")
QUOTED = re.compile(r"`[^`]*`")
PROSE = re.compile(r"[A-Z][\w'’]*(?:,? [\w'’`-]+){2,}[.:!?,]?.*")
COMMENT = re.compile(r"""\s*(?:#|//|/?\*|--|\"{3}|'{3})""")
CLOSED = re.compile(r"\n[ \t]*```")
CLOSE_BEGUN = re.compile(r"\n[ \t]*`{0,2}\Z")


def question(infill: Infill) -> list[dict[str, Any]]:
    """The messages that ask for what is missing."""
    files = "".join(f"{near.name}, for comparison:\n{FENCE}\n{near.text}\n{FENCE}\n\n" for near in infill.neighbours)
    this = f"{infill.name}:\n{FENCE}\n{infill.prefix}{GAP}{infill.suffix}\n{FENCE}"
    asked = f"{files}{this}\nWhich code belongs in place of {GAP}? Answer with that piece alone."
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": asked}]


@dataclass(slots=True)
class CodeOnly:
    """`echoes`: beginnings of an answer that only say again what is left of the gap. `below`: what ends one, for it says
    what is right of it. `prose`: the gap is in a comment, where talk is what belongs there."""

    echoes: tuple[str, ...] = ()
    below: str = ""
    prose: bool = False
    ended: bool = False
    _raw: str = ""
    _shown: int = 0
    _talked: bool = False

    @classmethod
    def of(cls, infill: Infill, *, asked_in_words: bool) -> "CodeOnly":
        prose = _in_prose(infill.prefix)
        if not asked_in_words:
            return cls(prose=prose)
        return cls(_echoes(infill), _telling(infill.suffix), prose)

    def feed(self, delta: str) -> str:
        """More of the answer in, more code out. `ended`: stop the model, nothing more will come."""
        if self.ended:
            return ""
        self._raw += delta.replace("\r", "")
        return self._show(whole=False)

    def finish(self) -> str:
        """The model ended by itself: what was held back and is code after all."""
        if self.ended:
            return ""
        self.ended = True
        return self._show(whole=True)

    @property
    def only_talk(self) -> bool:
        return self._talked and not self._shown

    def _show(self, *, whole: bool) -> str:
        head = self._head(whole)
        if head is None:
            return ""
        text, fenced = head
        text, whole = self._unfenced(text, whole, fenced)
        text = self._front(text, whole)
        text, whole = self._back(text, whole)
        self.ended = self.ended or whole
        new = text[self._shown :]
        self._shown += len(new)
        return new

    def _head(self, whole: bool) -> tuple[str, bool] | None:
        """The answer from where its code begins, and whether a fence stands there; None: not known yet, or no code."""
        rest, introduced, self._talked = _without_thinking(self._raw, whole), False, False
        while True:
            ink = rest.lstrip()
            line, newline, under = ink.partition("\n")
            complete = whole or bool(newline)
            if not line:
                return None
            if line.startswith(FENCE):
                return (under, True) if complete else None
            if FENCE.startswith(line) and not complete:
                return None
            if self.prose or introduced or not _talks(line, complete, self._talked):
                return (_without_blank_lines(rest) if self._talked else rest), False
            if not complete:
                return None
            self._talked, introduced, rest = True, line.rstrip().endswith(":"), under

    def _unfenced(self, text: str, whole: bool, fenced: bool) -> tuple[str, bool]:
        """Up to the next fence; whether it was there."""
        padded = "\n" + text
        closed = CLOSED.search(padded, 0 if fenced else 1)
        if closed:
            return padded[1 : max(1, closed.start())], True
        begun = CLOSE_BEGUN.search(padded, 0 if fenced else 1)
        return (padded[1 : max(1, begun.start())] if begun and (fenced or not whole) else text), whole

    def _front(self, text: str, whole: bool) -> str:
        said = [echo for echo in self.echoes if text.startswith(echo)]
        if not whole and any(echo.startswith(text) and echo != text for echo in self.echoes):
            return ""
        return text[len(max(said, key=len)) :] if said else text

    def _back(self, text: str, whole: bool) -> tuple[str, bool]:
        if not self.below:
            return text, whole
        padded = text + "\n" if whole else text
        found = padded.find(self.below + "\n")
        if found >= 0:
            return text[:found], True
        return (text if whole else text[: len(text) - _overlap(text, self.below + "\n")]), whole


def _without_thinking(text: str, whole: bool) -> str:
    """What is said after it; nothing while it may go on."""
    ink = text.lstrip()
    if ink.startswith(THINKING):
        return ink.partition("</think>")[2]
    return "" if not whole and THINKING.startswith(ink) else text


def _talks(line: str, complete: bool, again: bool) -> bool:
    """Whether `line` is, or may become, talk; `again`: there was talk above it."""
    said = line.lower().replace("’", "'")
    opens = OPENS.match(said) is not None
    if not complete:
        return again or opens or any(opener.startswith(said) for opener in OPENERS)
    return (opens or (again and PROSE.fullmatch(line) is not None)) and not CODE.search(QUOTED.sub("", line))


def _in_prose(prefix: str) -> bool:
    line = prefix[prefix.rfind("\n") + 1 :]
    return bool(COMMENT.match(line)) or any(prefix.count(quotes) % 2 for quotes in ('"""', "'''"))


def _echoes(infill: Infill) -> tuple[str, ...]:
    """The prefix from the beginning of each of its lines; with the gap's own line also what is left out of lines."""
    prefix = infill.prefix
    starts = [0, *(match.end() for match in re.finditer("\n", prefix))]
    tails = [prefix[start:] for start in starts]
    stripped = [tail.lstrip(" \t") for tail in tails]
    telling = {tail for tail in (*tails, *stripped) if len("".join(tail.split())) >= LEAST_ECHO}
    own = {tails[-1]} if not tails[-1].strip() else set()
    return tuple(sorted((telling | own | {infill.lead.lstrip()}) - {""}))


def _telling(suffix: str) -> str:
    """As much of the lines behind the gap as proves that they come again; empty if nothing does."""
    told = ""
    for line in suffix.splitlines(keepends=True):
        told += line
        if len("".join(told.split())) >= LEAST_ECHO:
            return told.rstrip()
    return ""


def _without_blank_lines(text: str) -> str:
    ink = text.lstrip()
    return text[text.rfind("\n", 0, len(text) - len(ink)) + 1 :]


def _overlap(text: str, what: str) -> int:
    """Length of the longest end of `text` that is a beginning of `what`."""
    return next((n for n in range(min(len(text), len(what)), 0, -1) if text.endswith(what[:n])), 0)
