"""The code bench counts what it was told: every arm, and a verdict for each, on the null engine."""

import json
from collections.abc import AsyncIterator

import pytest

from offhook_server.bench import code
from offhook_server.bench.code_tasks import Task, read_tasks
from offhook_server.bench.report import Report
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

pytestmark = pytest.mark.loopback


@pytest.fixture
async def model() -> AsyncIterator[WorkerClient]:
    client = WorkerClient(WorkerSpec("null"))
    await client.start()
    assert await client.settled() == "ready"
    yield client
    await client.close()


ECHO = Task("echo", "def one() -> int:\n    # [[say: \\n    return 1]]\n    «return 1»\n", "assert one() == 1")


async def test_a_right_answer_passes_and_a_wrong_one_does_not(model: WorkerClient) -> None:
    wrong = next(task for task in read_tasks() if task.name == "slug")
    found = await code.measure([ECHO, wrong], code.Models(model, model), 1000.0)
    assert found[0][1] == {"small": "passed", "deep": "passed", "hybrid": "passed"}
    assert "passed" not in found[1][1].values()
    report = Report("code", quick=True)
    code.tell(report, found)
    told = json.loads(report.to_json())
    assert told["n"]["small_body_pass_rate"] == 2
    assert all(told[key] is None for key in told["n"])
    assert [row["task"] for row in told["detail"]["failures"]] == ["slug"]
    assert "slug" in report.table()


async def test_without_the_deep_model_its_arm_is_empty(model: WorkerClient) -> None:
    found = await code.measure([ECHO], code.Models(model, None), 1000.0)
    assert set(found[0][1]) == {"small", "hybrid"}


async def test_it_ends_when_the_time_is_over(model: WorkerClient) -> None:
    assert await code.measure([ECHO], code.Models(model, None), -1.0) == []
