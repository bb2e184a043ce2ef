"""How the line stands, as one plain value from the transport to everything that shows or obeys it. Not the line."""

from dataclasses import dataclass
from typing import Literal

LineKind = Literal["starting", "connecting", "open", "slow", "http", "waiting", "closed"]


@dataclass(frozen=True, slots=True)
class LineState:
    """`attempt` counts from 1 while the line is down; `retry_in_s` is set while waiting; `detail` is a sentence."""

    kind: LineKind
    round_trip_ms: float | None = None
    retry_in_s: float | None = None
    attempt: int = 0
    detail: str = ""

    @property
    def up(self) -> bool:
        return self.kind in ("open", "slow", "http")
