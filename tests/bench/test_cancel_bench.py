"""The cancel bench's own arithmetic and its chain of requests, on the null engine with known times."""

import pytest

from offhook_server.backends.base import Progress
from offhook_server.bench import cancel
from offhook_server.bench.report import Report
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

pytestmark = pytest.mark.loopback


async def started() -> WorkerClient:
    client = WorkerClient(WorkerSpec("null", options={"ttft_ms": 400, "token_ms": 60}))
    await client.start()
    assert await client.settled() == "ready"
    return client


async def test_counts_every_cancel_once_and_pairs_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancel, "BLOCKS", 2)
    monkeypatch.setattr(cancel, "PREFILL_CANCELS_PER_BLOCK", 3)
    ours, default = await started(), await started()
    report = Report("cancel", quick=False)
    await cancel.measure(report, ours, default)
    assert report.n["cancel_prefill_ms_p95"] + report.n["cancel_decode_ms_p95"] + report.detail[
        "ended_before_the_cancel"
    ] == 2 * (3 + 1)
    assert report.n["prefill_speed_ratio"] == 2
    assert report.n["engine_batch_ms_p50"] > 0
    assert set(report.figures.values()) <= {None, report.figures["engine_batch_ms_p50"]}  # too few for the others
    await ours.close()
    await default.close()


async def test_a_cold_prompt_is_never_cached() -> None:
    client = await started()
    prompts = cancel.Prompts(seed=3)
    for _ in range(2):
        running = cancel.Running(client, prompts.next())
        await running.when(cancel.whole_prompt)
        assert all(piece.cached <= 1 for _, piece in running.pieces if isinstance(piece, Progress))
        running.cancel()
        await running.ended_within(30)
    await client.close()
