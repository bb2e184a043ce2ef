"""The tasks can be done, cannot be done by doing nothing, and are judged in a process that can do no harm."""

import gc
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest

from offhook_server.bench.code_child import verdict
from offhook_server.bench.code_tasks import Task, judge, read_tasks

pytestmark = pytest.mark.loopback

TASKS = read_tasks()
OUTSIDE = Path(gettempdir()) / "offhook-harm"
SHORT_LINES = 6  # what the fast lane shows at once


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    assert not OUTSIDE.exists()


def test_there_are_enough_of_each_kind() -> None:
    kinds = Counter(task.kind for task in TASKS)
    assert kinds["body"] >= 40
    assert kinds["hole"] >= 40
    assert len({task.name for task in TASKS}) == len(TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_reference_passes(task: Task) -> None:
    assert 0 < len(task.reference.splitlines()) <= SHORT_LINES
    assert verdict(task.program(task.reference)) == "passed"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_nothing_does_not_pass(task: Task) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a coroutine that nobody awaited
        assert verdict(task.program("")) != "passed"
        gc.collect()


async def test_judged_in_a_process_of_its_own() -> None:
    task = next(task for task in TASKS if task.name == "append_line")
    assert await judge(task.program(task.reference)) == "passed"
    assert await judge(task.program("pass")) == "error"
    assert await judge("assert 1 == 2") == "assertion"
    assert await judge("def f(:") == "syntax"


@pytest.mark.parametrize(
    "harm",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import os; os.system('true')",
        "import subprocess; subprocess.run(['true'])",
        f"open({str(OUTSIDE)!r}, 'w')",
        f"import os; os.remove({str(OUTSIDE)!r})",
        "import os\ntry:\n    os.fork()\nexcept Exception:\n    pass",
        "x = bytearray(1 << 30)",
        "open('big', 'wb').write(bytes(1 << 22))",
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
    ],
)
async def test_harm_is_refused(harm: str) -> None:
    assert await judge(harm) == "error"


async def test_what_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offhook_server.bench.code_tasks.LIMIT_S", 0.5)
    assert await judge("while True: pass") == "timeout"
