r"""What of a model's text may be shown, decided as it streams: never a character that has to be taken back. Not a parser.

    raw ──▶ clean ─────────────────▶ shape ──────────────▶ fit ────────────────────▶ shown
            without \r, thinking,    one line, or a        without what already
            the fence it opens with; small block           stands right of the caret
            up to the first marker

Until the end is known, whatever might be the beginning of something unfit is held back: `feed` shows the rest. How the
text was cut into deltas never matters.
"""

import re
from dataclasses import dataclass

MOST_LINES = 6
LEAST_OVERLAP = 3  # characters right of the caret that must come again to count as doubled; closing ones count from one
CLOSING = ")]}'\"`,;: "

END = re.compile(r"<\|\w+\|>|<\u200b|<think>|```")  # special tokens, as they are and as core.prompt disguises them
END_BEGUN = re.compile(r"(?:<(?:\|\w*\|?)?|<t|<th|<thi|<thin|<think|`{1,2})\Z")
END_CUT_SHORT = re.compile(r"(?:<\|\w*\|?|<think|^[ \t]*`{1,2})\Z", re.MULTILINE)  # a lone "<" or "`" may well be code
PREAMBLE = re.compile(r"\A(?:\s*<think>.*?</think>(?:\s*\n)?)?(?:[ \t]*```[^\n]*\n)?", re.DOTALL)
IN_PREAMBLE = re.compile(r"\s*<think>|[ \t]*```[^\n]*\Z")
BLANK_LINES = re.compile(r"\s*\n")
STRING = re.compile(r""""[^"\n]*"|'[^'\n]*'""")


@dataclass(slots=True)
class Trim:
    """`after`: the rest of the caret's line. `below`: the next line with ink. `block`: more than one line may come."""

    after: str
    below: str
    indent: int  # of the caret's line, in characters
    block: bool
    ended: bool = False
    _raw: str = ""
    _shown: int = 0

    def feed(self, delta: str) -> str:
        """More of the model's text in, what may be shown out. `ended`: stop the model, nothing more will come."""
        if self.ended:
            return ""
        self._raw += delta.replace("\r", "")
        text, self.ended = self._shape(*self._clean())
        return self._show(self._fit(text) if self.ended else self._certain(text))

    def finish(self) -> str:
        """The model ended by itself: what was held back and is fit to be seen after all."""
        if self.ended:
            return ""
        self.ended = True
        text, _ = self._clean()
        text, _ = self._shape(END_CUT_SHORT.sub("", text), whole=True)
        return self._show(self._fit(text))

    def _show(self, text: str) -> str:
        new = text[self._shown :]
        self._shown += len(new)
        return new

    # -- the text as far as it is known; each step also says whether its end is -------------------------------------

    def _clean(self) -> tuple[str, bool]:
        text = PREAMBLE.sub("", self._raw, count=1)
        if IN_PREAMBLE.match(text):
            return "", False
        end = END.search(text)
        return (text[: end.start()], True) if end else (text, False)

    def _shape(self, text: str, whole: bool) -> tuple[str, bool]:
        """`whole`: no more comes, so that the last line counts as one."""
        if self.block:
            return self._block(text, whole)
        first, newline, _ = text.partition("\n")
        return first, whole or bool(newline)

    def _block(self, text: str, whole: bool) -> tuple[str, bool]:
        """Lines while they belong to the caret's block. The first one with ink goes where the caret stands."""
        blank = BLANK_LINES.match(text)
        lines = (text[blank.end() :] if blank else " " * self.indent + text).split("\n")
        for n, line in enumerate(lines):
            if n == MOST_LINES or self._is_foreign(line, whole or n < len(lines) - 1):
                lines, whole = lines[:n], True
                break
        return "\n".join(lines)[self.indent :], whole

    def _is_foreign(self, line: str, whole: bool) -> bool:
        """Blank, less indented than the caret, or the line below once more."""
        indent, ink = _indent_and_ink(line)
        if not ink:
            return whole
        return indent < self.indent or (whole and (indent, ink) == _indent_and_ink(self.below))

    # -- what of it to show -----------------------------------------------------------------------------------------

    def _certain(self, text: str) -> str:
        """What is left of an unfinished `text` however it goes on."""
        text = END_BEGUN.sub("", text)
        if self.block:
            return self._without_line_below(text).rstrip()
        after, ink = self.after.rstrip(), text.rstrip()
        return text[: min(len(text) - _overlap(text, after), len(ink) - _overlap(ink, after))].rstrip()

    def _without_line_below(self, text: str) -> str:
        above, newline, line = text.rpartition("\n")
        indent, ink = _indent_and_ink(line if newline else " " * self.indent + line)
        indent_below, ink_below = _indent_and_ink(self.below)
        return above if indent == indent_below and ink_below.startswith(ink) else text

    def _fit(self, text: str) -> str:
        """A text that ends with what already stands right of the caret would double it."""
        after = self.after.rstrip()
        if not after:
            return text.rstrip()
        for end in (text.rstrip(), text):
            doubled = _doubled(end, after)
            if doubled:
                return end[:-doubled]
        return text


def _indent_and_ink(line: str) -> tuple[int, str]:
    ink = line.lstrip()
    return len(line) - len(ink), ink.rstrip()


def _overlap(text: str, what: str) -> int:
    """Length of the longest end of `text` that is a beginning of `what`."""
    return next((n for n in range(min(len(text), len(what)), 0, -1) if text.endswith(what[:n])), 0)


def _doubled(text: str, after: str) -> int:
    """How much of the end of `text` stands in `after` already. A bracket that `text` itself opened closes there."""
    for size in range(min(len(text), len(after)), 0, -1):
        begin = after[:size]
        telling = size == len(after) or size >= LEAST_OVERLAP or not begin.strip(CLOSING)
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
