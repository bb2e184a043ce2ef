"""One key's way to the screen as parts that add up. Not the watching of it, not the drawing.

    key ─ handled ─ sent ─ line out ─┬─ server ─┬─ line back ─ mapped, filtered ─ waited for frame ─ painted
                                     └ mirrored, suggested                                 the copy model
                                     └ mirrored, waited, queued, prompt, token, words      a language model

Times come in as loop seconds of this process; the server's own parts come with `offhook:suggestion.done`, in ms.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from offhook_app.state.status import Standing
from offhook_wire.messages import Source, Timing

Family = Literal["app", "line", "server", "screen", "waiting"]
FAMILIES: dict[Family, str] = {
    "app": "App",
    "line": "Line",
    "server": "Server",
    "screen": "Screen",
    "waiting": "Waiting",
}
OTHER = "Other"


@dataclass(frozen=True, slots=True)
class Key:
    """`line` and `column` are where the caret was then, from 1."""

    name: str
    line: int
    column: int
    at: float


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    family: Family
    ms: float


@dataclass(frozen=True, slots=True)
class Breakdown:
    """`parts` add up to `total_ms` exactly. A key without a suggestion has its own paint only, and `silent` says why.

    No parts: the key's paint was not seen.
    """

    key: Key
    total_ms: float
    parts: tuple[Part, ...]
    source: Source | None = None
    silent: Standing | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """When the steps of a suggestion that was shown happened, loop seconds. `server_ahead_ms`: its clock before ours."""

    asked_at: float
    sent_at: float
    arrived_at: float
    laid_at: float
    paint_from: float
    paint_to: float
    source: Source
    timing: Timing
    server_ahead_ms: float | None


def of_suggestion(key: Key, shown: Shown) -> Breakdown:
    away_ms = max(0.0, shown.arrived_at - shown.sent_at) * 1000
    server_ms = min(shown.timing.ttft_ms, away_ms)
    inside, unknown_ms = _fitted(server_ms, _server_parts(shown.source, shown.timing))
    parts = [
        Part("Key handled", "app", (shown.asked_at - key.at) * 1000),
        Part("Sent", "app", (shown.sent_at - shown.asked_at) * 1000),
        *_line_around(inside, away_ms - server_ms, _out_ms(shown)),
        Part("Mapped, filtered", "app", (shown.laid_at - shown.arrived_at) * 1000),
        Part("Waited for frame", "waiting", (shown.paint_from - shown.laid_at) * 1000),
        Part("Painted", "screen", (shown.paint_to - shown.paint_from) * 1000),
    ]
    total_ms = (shown.paint_to - key.at) * 1000
    return Breakdown(key, total_ms, _whole(total_ms, parts, unknown_ms), shown.source)


def of_own_paint(key: Key, handled_at: float, paint_from: float, paint_to: float, silent: Standing) -> Breakdown:
    total_ms = (paint_to - key.at) * 1000
    parts = [
        Part("Key handled", "app", (handled_at - key.at) * 1000),
        Part("Waited for frame", "waiting", (paint_from - handled_at) * 1000),
        Part("Painted", "screen", (paint_to - paint_from) * 1000),
    ]
    return Breakdown(key, total_ms, _whole(total_ms, parts), silent=silent)


def _server_parts(source: Source, timing: Timing) -> list[Part]:
    mirrored = Part("Mirrored", "server", timing.mirrored_ms)
    handed = Part("Handed over", "server", timing.handed_ms)
    if source == "copy":
        return [mirrored, Part("Suggested", "server", timing.copied_ms + timing.first_words_ms), handed]
    return [
        mirrored,
        Part("Typing pause", "waiting", timing.waited_ms),
        Part("Queued", "waiting", timing.queue_ms),
        Part("Prompt read", "server", timing.prefill_ms),
        Part("First token", "server", timing.first_token_ms),
        Part("First words", "server", timing.first_words_ms),
        handed,
    ]


def _out_ms(shown: Shown) -> float | None:
    """How long the question was under way; None where the server's clock is not known."""
    if shown.timing.read_at_ms is None or shown.server_ahead_ms is None:
        return None
    return shown.timing.read_at_ms - shown.server_ahead_ms - shown.sent_at * 1000


def _line_around(inside: list[Part], line_ms: float, out_ms: float | None) -> list[Part]:
    if out_ms is None:
        return [Part("Line out and back", "line", line_ms), *inside]
    out_ms = min(max(0.0, out_ms), line_ms)
    return [Part("Line out", "line", out_ms), *inside, Part("Line back", "line", line_ms - out_ms)]


def _fitted(limit_ms: float, parts: Iterable[Part]) -> tuple[list[Part], float]:
    """The parts, none under 0, cut where they claim more than `limit_ms` together; and what they leave over."""
    fitted: list[Part] = []
    for part in parts:
        fitted.append(replace(part, ms=max(0.0, min(part.ms, limit_ms))))
        limit_ms -= fitted[-1].ms
    return fitted, limit_ms


def _whole(total_ms: float, parts: list[Part], unknown_ms: float = 0.0) -> tuple[Part, ...]:
    """The parts, and with `unknown_ms` what is not accounted for."""
    (unknown, *fitted), left_ms = _fitted(total_ms, [Part(OTHER, "waiting", unknown_ms), *parts])
    other = replace(unknown, ms=unknown.ms + left_ms)
    return (*fitted, other) if other.ms > 1e-6 else tuple(fitted)


def printed(breakdown: Breakdown) -> tuple[float, list[tuple[Part, float]]]:
    """The total and the parts as they are printed, in tenths of a ms, adding up. Other of nothing is left out.

    Tenths lost in rounding go to the parts that lost the most.
    """
    total = round(breakdown.total_ms * 10)
    tenths = [int(part.ms * 10 // 1) for part in breakdown.parts]
    losers = sorted(range(len(tenths)), key=lambda i: tenths[i] - breakdown.parts[i].ms * 10)
    for i in losers[: max(0, total - sum(tenths))]:
        tenths[i] += 1
    pairs = zip(breakdown.parts, tenths, strict=True)
    return total / 10, [(part, t / 10) for part, t in pairs if t or part.name != OTHER]


def sums(parts: Iterable[tuple[Part, float]]) -> dict[Family, float]:
    """What each family has of the printed parts; families of nothing are left out."""
    tenths = dict.fromkeys(FAMILIES, 0)
    for part, ms in parts:
        tenths[part.family] += round(ms * 10)
    return {family: t / 10 for family, t in tenths.items() if t}
