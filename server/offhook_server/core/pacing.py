"""How long to wait after a key before the small model is asked. Not a debounce: the first key after quiet waits for nothing.

The wait is one and a half times this person's usual gap between keys, less the time the answer is expected to take
anyway (a slow model is not waited for twice), within bounds. What an answer takes depends on how much of its prompt the
engine has not read yet: a time of its own, and one for each such token.
"""

QUIET_S = 1.0  # a gap over this ends a run of typing
USUAL_GAP_S = 0.2  # until the person's own is known
SHORTEST_S = 0.08
LONGEST_S = 0.6
PATIENCE = 1.5
MEMORY = 0.1  # weight of the newest gap, and of the newest answer time
COLD_TOKENS = 48  # an answer behind more than so many tells what reading takes, any other what the rest does


class Pacing:
    def __init__(self) -> None:
        self._last_key: float | None = None
        self._first_of_run = True
        self._gap_s = USUAL_GAP_S
        self._warm_s: float | None = None
        self._token_s: float | None = None

    def key(self, now: float) -> None:
        """A change of the text by the person."""
        gap = None if self._last_key is None else now - self._last_key
        self._last_key = now
        self._first_of_run = gap is None or gap > QUIET_S
        if gap is not None and gap <= QUIET_S:
            self._gap_s += MEMORY * (gap - self._gap_s)

    def answered(self, took_s: float, cold_tokens: int) -> None:
        """The model's first token came `took_s` after it was asked; `cold_tokens` of the prompt were new to the engine."""
        if cold_tokens <= COLD_TOKENS:
            self._warm_s = _nearer(self._warm_s, took_s)
        else:
            reading_s = max(0.0, took_s - (self._warm_s or 0.0))
            self._token_s = _nearer(self._token_s, reading_s / cold_tokens)

    def pause_s(self, cold_tokens: int) -> float:
        """`cold_tokens`: as many as the next answer will have in front of it."""
        if self._first_of_run:
            return 0.0
        reading_s = cold_tokens * (self._token_s or 0.0) if cold_tokens > COLD_TOKENS else 0.0
        expected_s = (self._warm_s or 0.0) + reading_s
        return min(LONGEST_S, max(SHORTEST_S, PATIENCE * self._gap_s - expected_s))


def _nearer(known_s: float | None, seen_s: float) -> float:
    """The first one counts whole."""
    return seen_s if known_s is None else known_s + MEMORY * (seen_s - known_s)
