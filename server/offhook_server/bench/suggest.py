"""`offhook bench suggest`: what a key costs on its way to a suggestion. The figures that need the window come from outside.

offhook_app.bench types into the real window and hands over what it saw as one JSON object on standard input (`Window`);
this runs the rest (suggest_pipeline) on an engine of its own and reports all of it.

    key_to_ghost_ms.*            key event received → end of the paint that holds the first ghost glyph, by who said it;
                                 the copy model's while the 0.5B decodes without a pause for somebody else
    own_key_paint_cost_ms_p95    how much later the 95th percentile of keys is painted in a 10,000-line file with
                                 suggestions on than off; the upper end of its 95 % interval
    ttft_cached_over_cold        first text after a few words more, over first text of the same file cold
    pipeline_over_engine         first text, cold: through the pipeline over straight from its worker, the same request
    pipeline_added_ms_cached     the same difference with the whole prompt cached
    wasted_ratio                 requests that ended without a glyph on the screen, of all, while a person types
    cached_token_share.*         prompt tokens that were not computed again, of all, two files typed in turn
    cache_share_gain             what the line has more of that than requests without state
"""

import sys
from collections.abc import Sequence

import msgspec

from offhook_server import settings
from offhook_server.bench.report import Report, shown
from offhook_server.bench.stats import Ratio, median, p95, p95_difference, paired_difference, paired_ratio
from offhook_server.bench.suggest_client import Client
from offhook_server.bench.suggest_engine import Engine, Taken
from offhook_server.bench.suggest_pipeline import PLACES, ROUNDS, TURNS, Pipeline, Shares, Times
from offhook_server.errors import UserError
from offhook_server.models.manifest import entry
from offhook_server.models.store import ensure

MODEL = "qwen2.5-coder-0.5b"
TIMES_BUDGET_S, SHARES_BUDGET_S = 360.0, 180.0
QUICK_BUDGET_S = 5.0  # of each
SEED = 1
NO_WINDOW = "This bench begins in the window; run `offhook bench suggest`."


class Window(msgspec.Struct, forbid_unknown_fields=True):
    """What was seen in the window. Milliseconds; the paints in blocks that alternated, as many of both.

    `late`: how much longer than the gap after a key the window was busy, in the same blocks.
    """

    copy_ms: list[float]
    copy_long_file_ms: list[float]
    small_ms: list[float]
    paint_on_ms: list[list[float]]
    paint_off_ms: list[list[float]]
    late_on_ms: list[float]
    late_off_ms: list[float]
    requests: int
    wasted: int
    keys: dict[str, int] = {}  # pressed, by part of the run


async def run(quick: bool) -> Report:
    """Raises UserError where nobody hands over what the window saw."""
    if sys.stdin.isatty():
        raise UserError(NO_WINDOW)
    window = msgspec.json.decode(sys.stdin.buffer.read(), type=Window)
    report = Report("suggest", quick)
    tell_window(report, window)
    file = await ensure(entry(MODEL), settings.load([]).models)
    async with Engine() as engine, Client(await engine.start(file)) as client:
        pipeline = Pipeline(engine, client)
        places = await pipeline.speaking(1 if quick else PLACES)
        times = await pipeline.times(places, ROUNDS, QUICK_BUDGET_S if quick else TIMES_BUDGET_S)
        shares = await pipeline.shares(TURNS, QUICK_BUDGET_S if quick else SHARES_BUDGET_S)
    tell_times(report, times)
    tell_shares(report, shares)
    return report


def tell_window(report: Report, window: Window) -> None:
    for source, ms in (("copy", window.copy_ms), ("small", window.small_ms)):
        report.figure(f"key_to_ghost_ms.{source}.p50", median(ms or [0.0]), len(ms))
        report.figure(f"key_to_ghost_ms.{source}.p95", p95(ms or [0.0]), len(ms))
    cost = p95_difference(window.paint_on_ms, window.paint_off_ms, SEED)
    report.figure("own_key_paint_cost_ms_p95", cost.high, cost.n)
    report.figure("wasted_ratio", window.wasted / max(1, window.requests), window.requests)
    report.detail["intervals_95"] = {"own_key_paint_cost_ms_p95": _interval(cost)}
    report.detail["in_the_long_file_ms"] = [
        {
            "what": what,
            "n": len(ms),
            "p50": shown(median(ms or [0.0]), len(ms)),
            "p95": shown(p95(ms or [0.0]), len(ms)),
        }
        for what, ms in (
            ("own paint, on", [ms for block in window.paint_on_ms for ms in block]),
            ("own paint, off", [ms for block in window.paint_off_ms for ms in block]),
            ("busy after the gap, on", window.late_on_ms),
            ("busy after the gap, off", window.late_off_ms),
            ("copy ghost", window.copy_long_file_ms),
        )
    ]
    report.detail["keys"] = window.keys


def tell_times(report: Report, times: Times) -> None:
    intervals = report.detail["intervals_95"]
    for key, found in (
        ("ttft_cached_over_cold", paired_ratio(times.typed, times.cold, SEED)),
        ("pipeline_over_engine", paired_ratio(times.cold, times.cold_direct, SEED)),
        ("pipeline_added_ms_cached", paired_difference(times.cached, times.cached_direct, SEED)),
    ):
        report.figure(key, found.median, found.n)
        intervals[key] = _interval(found)
    report.detail["first_text_ms_p50"] = {
        name: shown(median(ms), len(ms))
        for name, ms in (
            ("cold", times.cold),
            ("cold, straight", times.cold_direct),
            ("typed", times.typed),
            ("cached", times.cached),
            ("cached, straight", times.cached_direct),
        )
    }
    report.detail["prompt_tokens_p50"] = median(times.prompt_tokens)
    report.detail["cold_cached_tokens_most"] = max(times.cold_cached_tokens)
    report.detail["rounds_left_out"] = times.left_out


def tell_shares(report: Report, shares: Shares) -> None:
    line, request = _share(shares.line), _share(shares.request)
    n = min(len(shares.line), len(shares.request))
    report.figure("cached_token_share.request", request, len(shares.request))
    report.figure("cached_token_share.line", line, len(shares.line))
    report.figure("cache_share_gain", line - request, n)
    report.detail["prompt_tokens"] = {
        "line": [each.prompt_tokens for each in shares.line],
        "request": [each.prompt_tokens for each in shares.request],
    }


def _share(taken: Sequence[Taken]) -> float:
    """Every token counts the same."""
    return sum(each.cached_tokens for each in taken) / max(1, sum(each.prompt_tokens for each in taken))


def _interval(found: Ratio) -> list[float | None]:
    return [shown(found.low, found.n), shown(found.high, found.n)]
