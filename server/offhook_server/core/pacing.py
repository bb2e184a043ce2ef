"""How long to wait after a key before the small model is asked. Not a debounce: the first key after quiet waits for nothing.

The wait is one and a half times this person's usual gap between keys, less the time the answer is expected to take
anyway (a slow model is not waited for twice), within bounds.
"""

QUIET_S = 1.0  # a gap over this ends a run of typing
USUAL_GAP_S = 0.2  # until the person's own is known
SHORTEST_S = 0.08
LONGEST_S = 0.6
PATIENCE = 1.5
MEMORY = 0.1  # weight of the newest gap, and of the newest answer time


class Pacing:
    def __init__(self) -> None:
        self._last_key: float | None = None
        self._first_of_run = True
        self._gap_s = USUAL_GAP_S
        self._answer_s = 0.0

    def key(self, now: float) -> None:
        """A change of the text by the person."""
        gap = None if self._last_key is None else now - self._last_key
        self._last_key = now
        self._first_of_run = gap is None or gap > QUIET_S
        if gap is not None and gap <= QUIET_S:
            self._gap_s += MEMORY * (gap - self._gap_s)

    def answered(self, took_s: float) -> None:
        """The model's first token came `took_s` after it was asked."""
        self._answer_s += MEMORY * (took_s - self._answer_s)

    @property
    def pause_s(self) -> float:
        if self._first_of_run:
            return 0.0
        return min(LONGEST_S, max(SHORTEST_S, PATIENCE * self._gap_s - self._answer_s))
