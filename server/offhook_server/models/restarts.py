"""When a worker that ended is started again. Pure: told what happened and when, answers with seconds or None.

ended before it was ready, or in its first seconds   ─▶ try again, later each time; given up when it never was ready
                                                        MOST_FAILED_STARTS times, or ended early MOST_EARLY_ENDS times
ended after it had been ready for STEADY_S           ─▶ try again at once, the count begins anew
"""

FIRST_DELAY_S = 0.1
STEADY_S = 30.0
MOST_FAILED_STARTS = 2
MOST_EARLY_ENDS = 3


class Restarts:
    """Counts what happens in a row."""

    def __init__(self) -> None:
        self._early_ends = 0
        self._failed_starts = 0

    def ended(self, ready_for_s: float | None) -> float | None:
        """Seconds to wait before the next start, None for giving up. `ready_for_s` None: it never was ready."""
        if ready_for_s is None:
            self._failed_starts += 1
        else:
            self._failed_starts = 0
        if ready_for_s is not None and ready_for_s >= STEADY_S:
            self._early_ends = 0
            return FIRST_DELAY_S
        self._early_ends += 1
        if self._failed_starts >= MOST_FAILED_STARTS or self._early_ends >= MOST_EARLY_ENDS:
            return None
        return FIRST_DELAY_S * 2.0**self._early_ends
