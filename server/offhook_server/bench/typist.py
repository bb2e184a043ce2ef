"""Wrote keytrace.jsonl: a typist made of a seeded random generator, typing two of our own files. Not a person.

Gaps are log-normal around 150 ms inside a word (Dhakal et al., CHI 2018, on 136 million keys: 239 ms on average over
all typists; who writes code all day is faster), longer at the ends of words, with pauses for thought before lines.
Slips, pastes and jumps come as often as is said below; Enter brings the indentation with it, as editors do. Every slip
is mended and every jump puts back what it took away, so that the text ends as the source.

    python -m offhook_server.bench.typist
"""

import json
import random
import re
from pathlib import Path

import offhook_resources
import offhook_wire
from offhook_server.bench.trace import NAME, Key
from offhook_wire.text import Point, Text

SEED = 1
SOURCES = ("text.py", "anchor.py")

KEY_GAP_MS = 150.0
WORD_GAP_MS = 220.0
THOUGHT_MS = 900.0
NOTICE_MS = 350.0  # a slip is seen, a jump is aimed
GAP_SPREAD = 0.45  # sigma of the logarithm
SLIPS_PER_CHARACTER = 0.03
CHARACTERS_TILL_NOTICED = 3
THOUGHTS_PER_LINE = 0.3
PASTES_PER_LINE = 0.05
PASTE_LINES = 5
JUMPS_PER_LINE = 0.12
NEIGHBOURS = dict(zip("qwertyuiopasdfghjklzxcvbnm", "wertyuioopsdfghjkllxcvbnmm", strict=True))


class Typist:
    def __init__(self, seed: int) -> None:
        self.keys: list[Key] = []
        self.text = Text()
        self._caret = Point(0, 0)
        self._draw = random.Random(seed)
        self._thinking_ms = 0

    def write(self, lines: list[str]) -> None:
        """Types `lines`, each with its Enter, pasting some of them."""
        while lines:
            if self._draw.random() < THOUGHTS_PER_LINE:
                self._pause(THOUGHT_MS)
            if self._draw.random() < PASTES_PER_LINE:
                pasted, lines = lines[:PASTE_LINES], lines[PASTE_LINES:]
                self._put("\n".join(pasted)[self._caret.column :] + "\n", THOUGHT_MS)
                continue
            line, lines = lines[0], lines[1:]
            self._type(line[self._caret.column :])
            indentation = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
            self._put("\n" + " " * indentation, WORD_GAP_MS)
            if self._draw.random() < JUMPS_PER_LINE:
                self._revise()

    def _type(self, characters: str) -> None:
        done = 0
        while done < len(characters):
            slip = NEIGHBOURS.get(characters[done])
            if slip and self._draw.random() < SLIPS_PER_CHARACTER:
                more = characters[done + 1 : done + 1 + self._draw.randint(0, CHARACTERS_TILL_NOTICED)]
                for character in slip + more:
                    self._put(character, KEY_GAP_MS)
                self._pause(NOTICE_MS)
                self._take_back(1 + len(more))
            self._put(characters[done], KEY_GAP_MS if characters[done].isalnum() else WORD_GAP_MS)
            done += 1

    def _revise(self) -> None:
        """Jumps to a word of an earlier line, takes it out, types it again and comes back."""
        home = self._caret
        line = self._draw.randrange(home.line)
        words = list(re.finditer(r"\w+", self.text.lines[line]))
        if not words:
            return
        word = self._draw.choice(words)
        self._caret = Point(line, word.end())
        self._pause(NOTICE_MS)
        self._take_back(len(word[0]))
        self._type(word[0])
        self._caret = home
        self._pause(NOTICE_MS)

    def _take_back(self, count: int) -> None:
        for _ in range(count):
            before = Point(self._caret.line, self._caret.column - 1)
            self._replace(before, "", KEY_GAP_MS)

    def _put(self, text: str, gap_ms: float) -> None:
        self._replace(self._caret, text, gap_ms)

    def _replace(self, start: Point, text: str, gap_ms: float) -> None:
        gap = self._gap(gap_ms) + self._thinking_ms
        self._thinking_ms = 0
        self.keys.append(Key(gap, start.line, start.column, self._caret.line, self._caret.column, text))
        self._caret = self.text.replace(start, self._caret, text).new_end

    def _pause(self, median_ms: float) -> None:
        self._thinking_ms += self._gap(median_ms)

    def _gap(self, median_ms: float) -> int:
        return round(median_ms * self._draw.lognormvariate(0, GAP_SPREAD))


def main() -> None:
    typist = Typist(SEED)
    folder = Path(offhook_wire.__file__).parent
    for name in SOURCES:
        typist.write((folder / name).read_text(encoding="utf-8").splitlines())
    about = {"about": "made by offhook_server.bench.typist, not recorded from a person", "seed": SEED}
    lines = [json.dumps(about), *(json.dumps(key) for key in typist.keys)]
    (Path(offhook_resources.__file__).parent / NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
