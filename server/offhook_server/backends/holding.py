"""How long an engine's callback may keep back its answer. Pure: times in seconds in, a time to wait out.

llama.cpp goes on while the callback is asked, so "stop" takes effect after the step that is already running. Answered
at once, a cancel therefore waits for the rest of one step (only then is the callback asked again) and all of the next.
Kept back until just before the running step is over, the answer can still be "stop" while that step runs:

    step k │ step k+1 │ step k+2        at once:    cancel in k+1, heard at its end, engine free after k+2
           └ callback ┄┄┄┄┄┘            kept back:  cancel in k+1, heard in it,      engine free after k+1

A step is a batch of the prompt or one token of the answer. Where text follows it, the wait must never outlast it, or
the text comes late: it is a share of the fastest of the last steps of its kind. After any other batch of the prompt only
a report of progress waits, which nobody waits for, so there it is a share of their median, and the time in which a
cancel goes unheard falls from a seventh to a twentieth. Both shares are below one, else a wait too long would be taken
for a long step and never shrink.
"""

from collections import deque
from statistics import median

SHARE_BEFORE_TEXT = 0.93
SHARE = 0.95
REMEMBERED = 4


Rates = dict[str, deque[float]]  # by kind of step: seconds for each token of work, of the last steps


class Holding:
    """Of one request. `rates` outlives it: the next request's first steps are like the last one's."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._began_at: float | None = None  # of the step that runs now
        self._kind = ""
        self._work = 0

    def stepped(self, now: float, kind: str, work: int, *, text_follows: bool) -> float:
        """A step is over and the next one, of `work` tokens, has begun. Seconds the answer may be kept back."""
        if self._began_at is not None and self._work:
            rates = self._rates.setdefault(self._kind, deque(maxlen=REMEMBERED))
            rates.append((now - self._began_at) / self._work)
        self._began_at, self._kind, self._work = now, kind, work
        known = self._rates.get(kind)
        if not known:
            return 0.0
        return work * (SHARE_BEFORE_TEXT * min(known) if text_follows else SHARE * median(known))
