"""What `offhook doctor` makes of what it saw: the level, the sentence, the line that mends it."""

from dataclasses import replace
from typing import Literal

import pytest

from offhook_app.state import health
from offhook_app.state.health import (
    Answer,
    Finding,
    FolderSeen,
    Installed,
    Level,
    Plan,
    Seat,
    ServerSeen,
    SoundSeen,
    Trial,
)

pytestmark = pytest.mark.pure

WHOLE = Installed((3, 12, 1), "Linux", {"Offhook": "0.1.0"}, [])
LISTED = Seat("deep", "list", "q15", "here", 1_100_000_000, 6_000_000_000)
AWAY = Seat("fast", "place", "http://127.0.0.1:1/v1", "elsewhere")
SERVER = ServerSeen("answers", "/run/server.json", "http://127.0.0.1:5/v1", 7, "0.1.0")


def levels(findings: list[Finding]) -> list[Level]:
    return [finding.level for finding in findings]


def test_the_worst_counts() -> None:
    every = [Finding("x", level, "") for level in ("ok", "unmeasured", "warn", "bad")]
    assert [health.worst(every[:n]) for n in range(5)] == ["unmeasured", "ok", "ok", "warn", "bad"]


def test_what_is_installed() -> None:
    assert health.of_installed(WHOLE) == [Finding("install", "ok", "Offhook 0.1.0, Python 3.12.1 on Linux.")]
    _, old, missing = health.of_installed(replace(WHOLE, python=(3, 10, 0), missing=["aiohttp>=3", "psutil"]))
    assert (old.level, "3.11 to 3.13" in old.says) == ("bad", True)
    assert (missing.level, missing.mend) == ("bad", "python -m pip install 'aiohttp>=3' 'psutil'")


@pytest.mark.parametrize(
    ("trial", "level", "words"),
    [
        (None, "warn", "No display here"),
        (Trial(0, "Qt 6, xcb"), "ok", "(Qt 6, xcb)"),
        (Trial(-6, "", "qt: Wayland?\n\nqt.xcb: could not connect to display :9\n"), "bad", "echo $DISPLAY"),
        (
            Trial(1, "", "Traceback:\n  File\nImportError: libEGL.so.1 is not there.\n"),
            "bad",
            "ImportError: libEGL.so.1 is not there.sudo apt-get install -y libegl1",
        ),
        (Trial(1, "", "Failed to create wl_display (No such file or directory)\n"), "bad", "$WAYLAND_DISPLAY"),
        (Trial(None), "bad", "it did not end in time.echo $DISPLAY"),
    ],
)
def test_whether_a_window_can_be_opened(trial: Trial | None, level: Level, words: str) -> None:
    finding = health.of_window(trial)
    assert finding.level == level
    assert words in finding.says + finding.mend


def test_whether_the_engine_loads() -> None:
    assert health.of_engine(Trial(0, "x 1")).says == "The engine's library loads (x 1)."
    assert "it ended with code -4" in health.of_engine(Trial(-4)).says


@pytest.mark.parametrize(
    ("seat", "level", "words"),
    [
        (LISTED, "ok", "deep: q15 is here and verified."),
        (replace(LISTED, source="null"), "ok", "deep: q15 is here."),
        (replace(LISTED, state="unverified"), "warn", "offhook models verify deep"),
        (replace(LISTED, state="partly"), "warn", "in part only (1,100 MB in all)."),
        (replace(LISTED, state="absent"), "warn", "offhook models fetch deep"),
        (replace(LISTED, source="file", state="missing"), "bad", "not where the settings say"),
        (AWAY, "unmeasured", "was not asked"),
        (replace(AWAY, unset_key="KEY"), "warn", "export KEY=…"),
    ],
)
def test_how_a_model_stands(seat: Seat, level: Level, words: str) -> None:
    (finding,) = health.of_plan(Plan("/m", [seat]))
    assert finding.level == level
    assert words in f"{finding.says} {finding.mend}"


@pytest.mark.parametrize(
    ("there", "refused", "level", "mend"),
    [
        (True, "", "ok", ""),
        (False, "", "ok", ""),
        (True, "config.toml, line 3: x: there is no such setting.", "bad", "${EDITOR:-vi} '/my own/config.toml'"),
        (True, "own.toml is damaged. Mend it or remove it.", "bad", ""),
        (False, "OFFHOOK_CONFIG names config.toml, which is not there.", "bad", ""),
    ],
)
def test_the_settings_file(there: bool, refused: str, level: Level, mend: str) -> None:
    finding = health.of_settings("/my own/config.toml", there, Plan(refused=refused))
    assert (finding.level, finding.mend) == (level, mend)
    assert (refused or "/my own/config.toml") in finding.says
    assert health.of_plan(Plan(refused=refused)) == []


def test_what_it_comes_to() -> None:
    every = [Finding("x", level, "") for level in ("ok", "unmeasured", "warn", "bad", "warn")]
    assert health.summary(every) == "1 wrong, 2 to look at."
    assert health.summary(every[:3]) == "1 to look at."
    assert health.summary(every[:2]) == "All is well."


def test_what_came_of_asking_a_model() -> None:
    assert health.of_answer(Answer("fast", 1.25)).says == "fast was loaded and answered after 1.2 s."
    assert health.of_answer(Answer("deep", 1.25, own=False)).level == "warn"
    assert health.of_answer(Answer("fast", fault="It is broken.")).says == "fast does not answer: It is broken."


@pytest.mark.parametrize(
    ("kind", "level", "mend"),
    [
        ("none", "ok", ""),
        ("unreadable", "warn", "rm /run/server.json"),
        ("gone", "warn", "rm /run/server.json"),
        ("mute", "bad", "kill 7  # the next command starts another"),
        ("stranger", "bad", "rm /run/server.json"),
        ("locked", "bad", "kill 7  # the next command starts another"),
        ("answers", "ok", ""),
    ],
)
def test_who_is_where_the_server_should_be(
    kind: Literal["none", "unreadable", "gone", "mute", "stranger", "locked", "answers"], level: Level, mend: str
) -> None:
    (finding,) = health.of_server(replace(SERVER, kind=kind), "0.1.0")
    assert (finding.level, finding.mend) == (level, mend)


@pytest.mark.parametrize("kind", ["mute", "locked"])
def test_a_process_that_is_no_server_of_ours_is_not_ended(kind: Literal["mute", "locked"]) -> None:
    (finding,) = health.of_server(replace(SERVER, kind=kind, pid=0), "0.1.0")
    assert finding.mend == "rm /run/server.json"


def test_a_server_of_another_version_or_with_a_broken_engine() -> None:
    assert levels(health.of_server(SERVER, "0.2.0")) == ["warn"]
    _, failed = health.of_server(replace(SERVER, failed=["deep"]), "0.1.0")
    assert (failed.level, failed.mend) == ("bad", "offhook models verify deep")


def test_folders() -> None:
    fine, shut = FolderSeen("/f", writable=True), FolderSeen("/f", writable=False)
    judges = (health.of_runtime_folder, health.of_data_folder, health.of_models_folder)
    assert levels([judge(fine) for judge in judges]) == ["ok", "ok", "ok"]
    assert levels([judge(shut) for judge in judges]) == ["bad", "bad", "warn"]
    assert all("export OFFHOOK_" in judge(shut).mend for judge in judges)
    assert health.of_runtime_folder(FolderSeen("/f", writable=True, shared=True)).mend == "chmod 700 /f"


@pytest.mark.parametrize(
    ("free_bytes", "level", "words"),
    [(10**8, "bad", "Only 0.1 GB"), (10**9, "warn", "takes 2.3 GB"), (10**10, "ok", "10.0 GB of disk are free at /m.")],
)
def test_room_on_the_disk(free_bytes: int, level: Level, words: str) -> None:
    finding = health.of_disk("/m", free_bytes, Plan("/m", [replace(LISTED, fetch_bytes=2_300_000_000)]))
    assert finding.level == level
    assert words in finding.says


def test_room_in_memory() -> None:
    plan = Plan("/m", [replace(LISTED, role="fast", needs_bytes=900_000_000), LISTED])
    assert levels(health.of_memory(None, plan)) == ["unmeasured"]
    assert levels(health.of_memory(8 * 10**9, plan)) == ["ok"]
    (deep,) = health.of_memory(4 * 10**9, plan)
    assert deep.says == "4.0 GB of memory are free; the deep model is loaded from 6.0 GB on."
    assert deep.mend.startswith("deep_floor_gb = 3")
    assert [f.mend for f in health.of_memory(10**8, plan)] == ["close other programs", deep.mend]


def test_sound() -> None:
    assert health.of_sound(None).level == "unmeasured"
    assert health.of_sound(SoundSeen("ALSA", 1, 2)).says == "Microphones: 1, loudspeakers: 2, says ALSA."
    assert health.of_sound(SoundSeen("ALSA", 0, 0)).says.startswith("No microphone and no loudspeaker, says ALSA")
    assert health.of_sound(SoundSeen("ALSA", 1, 0)).level == "warn"
