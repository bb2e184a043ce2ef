"""The counters of the keystroke page in words, and all its figures as JSON. Not the counting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from offhook_app.state.breakdown import Breakdown
from offhook_app.state.hud import NOT_MEASURED
from offhook_app.state.measured import Measured
from offhook_app.state.percentiles import Newest
from offhook_app.state.status import milliseconds


@dataclass(frozen=True, slots=True)
class Counter:
    """`figure` None: not measured. `hint` says what was counted."""

    name: str
    figure: str | None
    hint: str


def counters(measured: Measured) -> list[Counter]:
    """The most asked for first."""
    return [*_of_requests(measured), *_of_decodes(measured), *_of_keys(measured), *_others(measured)]


def words(counters: Sequence[Counter]) -> list[str]:
    """Rich text, the figures bold; what was not measured comes last, together."""
    measured = [f"{c.name} <b>{c.figure}</b>" for c in counters if c.figure is not None]
    unmeasured = ", ".join(c.name for c in counters if c.figure is None)
    return [*measured, f"Not measured: {unmeasured}"] if unmeasured else measured


def hints(counters: Sequence[Counter]) -> str:
    """A line each, with what was counted."""
    return "\n".join(f"{c.name} {c.figure or NOT_MEASURED}{c.hint and f' ({c.hint})'}" for c in counters)


def _of_requests(measured: Measured) -> list[Counter]:
    requests = measured.requests
    ended = requests.shown + requests.wasted
    return [
        Counter(
            "Wasted",
            _percent(requests.wasted / ended) if ended else None,
            f"{requests.wasted:,} of {ended:,} suggestions asked for were never shown",
        ),
        Counter(
            "Cancelled",
            f"{requests.cancelled:,}" if ended else None,
            "superseded or cancelled before the first words",
        ),
    ]


def _of_decodes(measured: Measured) -> list[Counter]:
    decodes = measured.decodes
    last, median = decodes.tokens_per_s.last, decodes.tokens_per_s.at(0.5)
    by_token, by_request = decodes.cached_share_by_token, decodes.cached_share_by_request
    return [
        Counter(
            "Tokens/s",
            None if last is None else f"{last:.1f}",
            "" if median is None else f"the last answer of the small model; median {median:.1f}",
        ),
        Counter(
            "Cached tokens",
            None if by_token is None else _percent(by_token),
            "" if by_request is None else f"of all prompt tokens; {_percent(by_request)} as the mean of the requests",
        ),
    ]


def _of_keys(measured: Measured) -> list[Counter]:
    cost = measured.per_key.cost
    if cost is None:
        return [Counter(name, None, "") for name in ("Up a key", "CPU per 100 keys")]
    over = f"over the last {cost.keys:,} keys, while this page is open"
    cpu_s, server_s = cost.cpu_s, cost.server_cpu_s
    shares = "" if server_s is None else f"app {cost.app_cpu_s * 100:.2f} s, server {server_s * 100:.2f} s, "
    return [
        Counter("Up a key", _bytes(cost.bytes_up), f"{_bytes(cost.bytes_down)} down, {over}"),
        Counter("CPU per 100 keys", None if cpu_s is None else f"{cpu_s * 100:.1f} s", shares + over),
    ]


def _others(measured: Measured) -> list[Counter]:
    own_ms, requests = measured.keystrokes.own_paint.at(0.95), measured.requests
    return [
        Counter("Own paint p95", None if own_ms is None else milliseconds(own_ms), "key to the frame that holds it"),
        Counter("Accepted", f"{requests.accepted:,}" if requests.shown else None, f"of {requests.shown:,} shown"),
        Counter("Keys", f"{measured.keys:,}" if measured.keys else None, "that changed the text"),
    ]


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _bytes(number: float) -> str:
    return f"{number:.0f} B" if number < 1000 else f"{number / 1000:.1f} kB"


def as_json(measured: Measured) -> str:
    """Every figure unrounded, for a report; it names places, and no text."""
    keystrokes, requests, decodes = measured.keystrokes, measured.requests, measured.decodes
    figures = {
        "latest": _breakdown(keystrokes.latest),
        "suggested": _breakdown(keystrokes.suggested),
        "key_to_ghost_ms": {
            source: {**_spread(f.totals), "parts": {name: _spread(part) for name, part in f.parts.items()}}
            for source, f in keystrokes.figures.items()
        },
        "own_paint_ms": _spread(keystrokes.own_paint),
        "round_trip_ms": {"p50": measured.trips.at(0.5), "p95": measured.trips.at(0.95)},
        "keys": measured.keys,
        "requests": {name: getattr(requests, name) for name in ("asked", "shown", "wasted", "cancelled", "accepted")},
        "tokens_per_s": {"last": decodes.tokens_per_s.last, **_spread(decodes.tokens_per_s)},
        "cached_token_share": {
            "by_token": decodes.cached_share_by_token,
            "by_request": decodes.cached_share_by_request,
        },
        "per_key": measured.per_key.cost,
    }
    return msgspec.json.format(msgspec.json.encode(figures), indent=2).decode()


def _spread(figures: Newest) -> dict[str, float | None]:
    return {"count": len(figures), "p50": figures.at(0.5), "p95": figures.at(0.95)}


def _breakdown(breakdown: Breakdown | None) -> dict[str, Any] | None:
    if breakdown is None:
        return None
    key = breakdown.key
    return {
        "key": {"name": key.name, "line": key.line, "column": key.column},
        "source": breakdown.source,
        "no_suggestion": breakdown.silent and breakdown.silent.silence,
        "total_ms": breakdown.total_ms,
        "parts": breakdown.parts,
    }
