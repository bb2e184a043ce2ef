"""The copy bench hides what it must, and every arm is counted once, on the null engine."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from offhook_server.backends.base import Generate
from offhook_server.bench import copy
from offhook_server.bench.copy_places import HalfLine, half_lines, package_folder
from offhook_server.bench.ghost import NeighboursOnly, NoCopyModel, Place, ghost_at
from offhook_server.bench.held_out import HeldOut
from offhook_server.bench.report import Report
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

pytestmark = pytest.mark.loopback

SEEN = "def load(path):\n    with open(path) as file:\n        return json.load(file)\n"
OWN = "import json\n\n\ndef load(path):\n    with open(path) as file:\n        return json.load(file)  # hidden\n"
CUT = OWN.index("json.load(file)")


@pytest.fixture
def index(tmp_path: Path) -> HeldOut:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "other.py").write_text(SEEN)
    return HeldOut(tmp_path)


@pytest.fixture
async def model() -> AsyncIterator[WorkerClient]:
    client = WorkerClient(WorkerSpec("null"))
    await client.start()
    assert await client.settled() == "ready"
    yield client
    await client.close()


def test_what_is_behind_the_caret_is_hidden_and_comes_back(index: HeldOut) -> None:
    place = Place("own.py", OWN[:CUT])
    index.hide(place)
    guess = index.guess(place.line, place.before, "", prompt_from=0)
    assert guess is not None
    assert guess.text == "json.load(file)"
    assert {near.name for near in guess.neighbours} == {"other.py"}
    index.hide(Place("other.py", "def load(path):\n    with open(path) as file:\n        return "))
    guess = index.guess(2, "def load(path):\n    with open(path) as file:\n        return ", "")
    assert guess is not None
    assert guess.text == "json.load(file)  # hidden"


async def test_the_model_is_told_nothing_that_is_hidden(index: HeldOut, model: WorkerClient) -> None:
    asked: list[Generate] = []
    place = Place("own.py", OWN[:CUT])
    index.hide(place)

    class Listening(WorkerClient):
        def stream(self, request: Generate):  # type: ignore[no-untyped-def]  # as WorkerClient's
            asked.append(request)
            return model.stream(request)

    listening = Listening(WorkerSpec("null"))
    for copy_model in (NoCopyModel(), NeighboursOnly(index), index):
        await ghost_at(place, copy_model, listening)
    assert asked
    assert all("hidden" not in repr(request) for request in asked)
    assert "json.load(file)" not in repr(asked[0])


def test_places_are_in_the_middle_of_lines_and_the_same_each_time() -> None:
    places = half_lines("httpx", 50, seed=3)
    assert places == half_lines("httpx", 50, seed=3)
    for half in places:
        text = (package_folder("httpx") / half.name).read_text()
        assert text.startswith(half.before + half.rest)
        assert half.rest.strip()
        assert half.before.rpartition("\n")[2].strip()


def test_exact_is_the_rest_of_the_line_and_no_more() -> None:
    half = HalfLine("p", "a.py", "x = ", "1 + 2 ")
    assert half.exact("1 + 2")
    assert not half.exact("1 + 2 + 3")
    assert not half.exact("1")
    assert not half.missed("1 + ")
    assert half.missed("1 - ")


async def test_every_arm_is_counted_once(index: HeldOut, model: WorkerClient) -> None:
    half = HalfLine("httpx", "own.py", OWN[:CUT], "json.load(file)  # hidden")
    package = copy.Package("httpx", index, [half] * 60)
    others = [copy.Package(name, index, [half] * 60) for name in copy.PACKAGES[1:]]
    packages = [package, *others]
    report = Report("copy", quick=True)
    copy.tell_copied(report, packages, [copy.copied(each) for each in packages])
    copy.tell_decoded(report, await copy.decoded(packages, model, 3.0))
    told = json.loads(report.to_json())
    assert told["copy_exact_rate"] == 0.0
    assert told["n"]["copy_exact_rate"] == 60
    assert told["n"]["small_exact_rate"] <= copy.DECODED
    assert [row["package"] for row in told["detail"]["packages"]] == list(copy.PACKAGES)
    assert report.table()
