"""What the keystroke page of the latency drawer says, as plain values. Not the widgets, not the measuring."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from offhook_app.state.breakdown import FAMILIES, Breakdown, Family, Part, printed, sums
from offhook_app.state.keystroke import Figures
from offhook_app.state.measured import Measured
from offhook_app.state.status import milliseconds, suggestion_words
from offhook_wire.messages import ServerStatus, Source

View = Literal["last", "p50", "p95"]
SHARES: dict[View, float] = {"p50": 0.5, "p95": 0.95}
NOT_MEASURED = "not measured"
SOURCES: dict[Source, str] = {"copy": "copy model", "small": "small model", "deep": "deep model"}


@dataclass(frozen=True, slots=True)
class Row:
    """A part as it is printed. `shade` 1 is the next part of the same family. `ms` is what the bar shows."""

    name: str
    family: Family
    shade: int
    ms: float
    figure: str


@dataclass(frozen=True, slots=True)
class Page:
    """`rows` add up to `total` only where there are `sums`. Of `about` the first words matter most."""

    whence: str
    total: str
    about: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    sums: tuple[tuple[Family, str], ...] = ()

    @property
    def table(self) -> str:
        """For those who hear it."""
        rows = "; ".join(f"{row.name} {row.figure} ms" for row in self.rows)
        return f"{self.total}, {', '.join(self.about)}. {rows}"


NOTHING_YET = Page("", "Not measured yet", ("type in a file", "the first suggestion fills this page"))


def page(measured: Measured, view: View, server: ServerStatus | None) -> Page:
    if view != "last":
        return _percentiles(measured, view)
    latest = measured.keystrokes.latest
    if latest is None:
        return NOTHING_YET
    at = f"{latest.key.name} at {latest.key.line}:{latest.key.column}"
    whence = f"{at} · {SOURCES[latest.source]} · shown" if latest.source else f"{at} · no suggestion"
    about = ("key to ghost", "sum of the parts below")
    if latest.silent:
        reason = suggestion_words(latest.silent, server).removeprefix("No suggestion: ")
        if not latest.parts:
            return Page(whence, "No suggestion", (reason,))
        about = ("own paint", reason)
    total_ms, parts = printed(latest)
    rows = tuple(_row(part, ms, shade) for (part, ms), shade in zip(parts, _shades(latest), strict=True))
    return Page(
        whence, f"{_tenths(total_ms)} ms", about, rows, tuple((f, _tenths(ms)) for f, ms in sums(parts).items())
    )


def _percentiles(measured: Measured, view: View) -> Page:
    suggested = measured.keystrokes.suggested
    if suggested is None or suggested.source is None:
        return NOTHING_YET
    figures = measured.keystrokes.figures[suggested.source]
    share = SHARES[view]
    about = (f"{view} of {len(figures.totals)} by the {SOURCES[suggested.source]}", "each part by itself, not added")
    rows = tuple(
        _row(part, figures.parts[part.name].at(share) or 0.0, shade)
        for part, shade in zip(suggested.parts, _shades(suggested), strict=True)
    )
    return Page("", milliseconds(figures.totals.at(share) or 0.0), about, rows)


def _row(part: Part, ms: float, shade: int) -> Row:
    return Row(part.name, part.family, shade, ms, _tenths(ms))


def _shades(breakdown: Breakdown) -> Iterator[int]:
    """By turns within a family, so that neighbours differ."""
    seen = dict.fromkeys(FAMILIES, 0)
    for part in breakdown.parts:
        yield seen[part.family] % 2
        seen[part.family] += 1


def _tenths(ms: float) -> str:
    return f"{ms:,.1f}"


def totals(measured: Measured) -> dict[View, str]:
    """Key to ghost, of the source that suggested last."""
    suggested = measured.keystrokes.suggested
    figures = measured.keystrokes.figures[suggested.source] if suggested and suggested.source else Figures()
    return {view: _ms_or_not(figures.totals.at(share)) for view, share in SHARES.items()}


def trips(measured: Measured) -> str:
    p50, p95 = measured.trips.at(0.5), measured.trips.at(0.95)
    if p50 is None or p95 is None:
        return NOT_MEASURED
    return f"p50 {_tenths(p50)} · p95 {_tenths(p95)} ms"


def _ms_or_not(ms: float | None) -> str:
    return NOT_MEASURED if ms is None else milliseconds(ms)


def frame_scale_ms(total_ms: float, frame_ms: float) -> float:
    """How much the whole bar stands for: somewhat over a frame, or the next round figure that holds the total."""
    if total_ms <= frame_ms:
        return frame_ms * 1.06
    tens = 10.0
    while True:
        for step in (2.5, 5.0, 10.0):
            if total_ms <= tens * step and frame_ms <= tens * step:
                return tens * step
        tens *= 10
