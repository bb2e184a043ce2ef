"""One tiny run of the line bench through real sockets: every arm gets its answers, and no figure comes of so few."""

import json

import pytest

from offhook_server.bench import line
from offhook_server.bench.line_clients import ARMS
from offhook_server.bench.line_servers import TTFT_MS
from offhook_server.bench.report import Report
from offhook_server.bench.trace import read_keys

pytestmark = pytest.mark.loopback

KEYS = {
    "fresh_https.overhead_ms_p50",
    "keepalive.overhead_ms_p50",
    "http2.overhead_ms_p50",
    "ws_full.overhead_ms_p50",
    "ws_delta.overhead_ms_p50",
    "saved_vs_fresh",
    "saved_vs_keepalive",
    "saved_vs_fresh_2kB",
    "bytes_up_per_key_ratio",
}


async def test_every_arm_answers_and_too_few_answers_make_no_figure() -> None:
    keys = read_keys()
    plans = [
        line.Plan(*line.HEADLINE, blocks=2, block_keys=1),
        line.Plan(*line.SMALL, blocks=2, block_keys=1, arms=("fresh_https", "ws_delta")),
    ]
    async with line.rig() as rig:
        cells = {(plan.context_bytes, plan.rtt_ms): await line.measure(plan, rig, keys) for plan in plans}
    for (context_bytes, _), cell in cells.items():
        for name, lane in cell.items():
            assert lane.keys == 4
            assert len(lane.overhead_ms) == 2
            assert lane.carried.connections == (4 if name == "fresh_https" else 1)
            sends_context = name != "ws_delta"
            assert (lane.up_bytes_per_key > context_bytes) == sends_context
        # one round trip at the least; three to set up TCP and TLS and ask, and two more to send 60 kB
        assert min(cell["ws_delta"].overhead_ms) > 50 - TTFT_MS
        assert min(cell["fresh_https"].overhead_ms) > (250 if context_bytes == 60_000 else 150) - TTFT_MS
    assert set(cells[line.HEADLINE]) == set(ARMS)
    report = Report("line", quick=True)
    line.tell(report, cells)
    found = json.loads(report.to_json())
    assert set(found["n"]) == KEYS
    assert all(found[key] is None for key in KEYS)
    assert len(found["detail"]["grid"]) == len(ARMS) + 2
    assert all(row["overhead_ms_p50"] is None for row in found["detail"]["grid"])


def test_a_full_run_covers_the_grid_with_enough_keys() -> None:
    plans = list(line.plans(quick=False))
    assert {(p.context_bytes, p.rtt_ms) for p in plans} == {(c, r) for c in line.CONTEXTS_BYTES for r in line.LINKS_MS}
    assert all(p.blocks * p.block_keys >= 20 for p in plans)
    assert all(p.blocks * p.block_keys >= 20 for p in line.plans(quick=True))
    longest = max(p.blocks * (1 + p.block_keys) for p in plans)
    assert longest <= len(read_keys())
