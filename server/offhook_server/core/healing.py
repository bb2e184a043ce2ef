"""Takes the blanks that already stand left of the caret off the front of a model's text. Not the trimming of its end.

A prompt that ends in blanks asks for tokens the model seldom saw (its tokens begin with the blank), so the prompt ends
before them (core.prompt.lead) and the model says them itself, or says less, or more:

    lead "····"   "····return x"   return x         as it stands
                  "········x()"    ····x()          one level deeper than the caret
                  "return x"       nothing          a new block further out: not what belongs at this caret
    lead "·"      "3"              3                in mid-line blanks are no matter of structure
"""

from dataclasses import dataclass


@dataclass(slots=True)
class Healing:
    """`lead`: the blanks left of the caret; `at_line_start`: nothing else is left of it. `failed`: stop the model."""

    lead: str
    at_line_start: bool
    failed: bool = False
    _held: str = ""
    _over: bool = False

    def feed(self, delta: str) -> str:
        if self.failed:
            return ""
        if self._over or not self.lead:
            return delta
        self._held += delta
        ink = self._held.lstrip()
        if not ink:
            return ""
        self._over = True
        blanks = self._held[: len(self._held) - len(ink)].rpartition("\n")[2]
        if blanks.startswith(self.lead):
            return blanks[len(self.lead) :] + ink
        self.failed = self.at_line_start
        return "" if self.failed else ink
