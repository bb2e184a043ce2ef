"""How long an engine's callback may keep back its answer. Pure: times in seconds in, a time to wait out.

llama.cpp goes on while the callback is asked, so "stop" takes effect after the step that is already running. Answered
at once, a cancel therefore waits for the rest of one step (only then is the callback asked again) and all of the next.
Kept back until just before the running step is over, the answer can still be "stop" while that step runs:

    step k │ step k+1 │ step k+2        at once:    cancel in k+1, heard at its end, engine free after k+1
           └ callback ┄┄┄┄┄┘            kept back:  cancel in k+1, heard in it,      engine free after k+1

How long a step takes is what the last of its kind took. Kinds do not scale: a prompt of 2 tokens takes as long as one
token of text, not a twelfth of a batch of 24.

    token    one token of the answer
    batch    a whole batch of the prompt
    rest     what a prompt has beyond whole batches: at least a token's time, at most a batch's; nothing is learned of it

Where text follows, the wait must never outlast the step, or the text comes late: it is a share of the fastest of the last
ones. After any other batch only a report of progress waits, which nobody waits for, so there it is a share of their
median, and the time in which a cancel goes unheard falls from a seventh to a twentieth.

A wait that outlasts its step makes the step look as long as the wait. Such a step shows by what follows it: the engine,
done long ago, calls again at once. What is then known is only that the wait was too long, and the next is half of it.
"""

from collections import deque
from statistics import median
from typing import Literal

SHARE_BEFORE_TEXT = 0.93
SHARE = 0.95
REMEMBERED = 4
AT_ONCE, AT_ONCE_S = 0.02, 0.002  # of the wait, or so soon after it: the engine had been waiting

Step = Literal["token", "batch", "rest"]
Times = dict[Step, deque[float]]  # of the last steps


class Holding:
    """Of one request. `times` outlives it: the next request's first steps are like the last one's."""

    def __init__(self, times: Times) -> None:
        self._times = times
        self._began_at = 0.0
        self._runs: Step | None = None
        self._hold_s = 0.0

    def stepped(self, now: float, step: Step | None, *, text_follows: bool) -> float:
        """A step is over and `step` has begun; None: nothing has. Seconds the answer may be kept back."""
        if self._runs and self._runs != "rest":
            self._learn(self._runs, now - self._began_at)
        self._began_at, self._runs = now, step
        known = self._times.get("token" if step == "rest" else step) if step else None
        if not known:
            self._hold_s = 0.0
        elif text_follows or step == "rest":
            self._hold_s = SHARE_BEFORE_TEXT * min(known)
        else:
            self._hold_s = SHARE * median(known)
        return self._hold_s

    def _learn(self, step: Step, took_s: float) -> None:
        times = self._times.setdefault(step, deque(maxlen=REMEMBERED))
        if self._hold_s and took_s - self._hold_s < max(AT_ONCE_S, AT_ONCE * self._hold_s):
            times.clear()
            took_s = self._hold_s / 2
        times.append(took_s)
