"""How a download looks in a terminal: a bar that moves, a line every tenth where nobody looks, or JSON. Fetches nothing."""

import sys

import msgspec

from offhook_server.models.store import Step

BAR_WIDTH = 30
VERBS = {"waiting": "Waiting for another process", "downloading": "Fetching", "verifying": "Checking"}


class Done(msgspec.Struct, frozen=True, tag_field="event", tag="ready"):
    path: str


class Stopped(msgspec.Struct, frozen=True, tag_field="event", tag="failed"):
    message: str


def say(words: str) -> None:
    sys.stdout.write(words.rstrip("\n") + "\n")


class Shown:
    """`size_bytes`: of what is on its way."""

    def __init__(self, *, as_json: bool) -> None:
        self.size_bytes = 0
        self._as_json = as_json
        self._moving = sys.stdout.isatty() and not as_json
        self._last: tuple[str, int] | None = None

    def tell(self, step: Step) -> None:
        now = (step.phase, int(step.share * (10 if not self._moving and not self._as_json else 100)))
        if now == self._last:
            return
        self._last = now
        if self._as_json:
            self._line(step)
            return
        share = "" if step.phase == "waiting" else f" {step.share:4.0%} of {self.size_bytes // 1_000_000} MB"
        words = VERBS[step.phase] + share
        if self._moving:
            done = int(step.share * BAR_WIDTH)
            sys.stdout.write(f"\r\x1b[K[{'█' * done}{'·' * (BAR_WIDTH - done)}] {words}")
        else:
            sys.stdout.write(f"{words}\n")
        sys.stdout.flush()

    def done(self, path: str) -> None:
        self._end()
        if self._as_json:
            self._line(Done(path))
        else:
            say(path)

    def stopped(self, message: str) -> None:
        self._end()
        if self._as_json:
            self._line(Stopped(message))
        else:
            sys.stderr.write(f"offhook models: {message}\n")

    def _end(self) -> None:
        if self._last and self._moving:
            sys.stdout.write("\n")
        self._last = None

    def _line(self, message: msgspec.Struct) -> None:
        say(msgspec.json.encode(message).decode())
        sys.stdout.flush()
