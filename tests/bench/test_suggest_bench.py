"""The suggest bench's own part on the null engine: pairs are pairs, and what the window saw is reported as it came."""

import json

import pytest

from offhook_server.bench import suggest
from offhook_server.bench.report import Report
from offhook_server.bench.suggest_client import Client
from offhook_server.bench.suggest_engine import Engine
from offhook_server.bench.suggest_pipeline import CACHED_A_ROUND, Pipeline

pytestmark = pytest.mark.loopback

KEYS = {
    "key_to_ghost_ms.copy.p50",
    "key_to_ghost_ms.copy.p95",
    "key_to_ghost_ms.small.p50",
    "key_to_ghost_ms.small.p95",
    "own_key_paint_cost_ms_p95",
    "ttft_cached_over_cold",
    "pipeline_over_engine",
    "pipeline_added_ms_cached",
    "wasted_ratio",
    "cached_token_share.request",
    "cached_token_share.line",
    "cache_share_gain",
}


async def test_every_figure_of_the_issue_is_there_and_none_of_so_few() -> None:
    report = Report("suggest", quick=True)
    on, off = [[1.0, 2.0]] * 2, [[1.0, 1.5]] * 2
    window = suggest.Window([5.0] * 3, [], [90.0], on, off, [0.1], [0.1], requests=10, wasted=4)
    suggest.tell_window(report, window)
    async with Engine() as engine, Client(await engine.start(None)) as client:
        pipeline = Pipeline(engine, client)
        places = await pipeline.speaking(1)
        times = await pipeline.times(places, rounds=2, budget_s=60.0)
        shares = await pipeline.shares(turns=4, budget_s=60.0)
    assert times.left_out == 0
    assert len(times.cold) == len(times.cold_direct) == len(times.typed) == 2
    assert len(times.cached) == len(times.cached_direct) == 2 * CACHED_A_ROUND
    assert max(times.cold_cached_tokens) <= 1
    assert len(shares.request) == 4
    suggest.tell_times(report, times)
    suggest.tell_shares(report, shares)
    told = json.loads(report.to_json())
    assert set(told["n"]) == KEYS
    assert all(told[key] is None for key in KEYS)
    assert report.table()
