"""A screen and a window manager of the tests' own. Where they are missing the tests fail; they are never skipped."""

import os
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fake_line import FakeLine

_LIMIT_S = 30.0


def _ended(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait(_LIMIT_S)


@pytest.fixture(scope="session")
def screen() -> Iterator[str]:
    """The display of an Xvfb; it says by itself when it is ready, and on which number."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-dpi", "96"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], _LIMIT_S)
        assert ready, "Xvfb did not come up"
        display = ":" + os.read(reading, 16).decode().strip()
        yield display
    finally:
        os.close(reading)
        _ended(server)


@pytest.fixture(scope="session")
def window_manager(screen: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """openbox; once it manages the screen it runs a command that tells."""
    told = tmp_path_factory.mktemp("openbox") / "ready"
    os.mkfifo(told)
    reading = os.open(told, os.O_RDONLY | os.O_NONBLOCK)
    manager = subprocess.Popen(
        ["openbox", "--sm-disable", "--startup", f"sh -c 'echo ready > {told}'"],
        env={**os.environ, "DISPLAY": screen},
        stderr=subprocess.DEVNULL,
    )
    try:
        ready, _, _ = select.select([reading], [], [], _LIMIT_S)
        assert ready, "openbox did not come up"
        yield
    finally:
        os.close(reading)
        _ended(manager)


@pytest.fixture(scope="session")
def qapp_args(screen: str, window_manager: None) -> list[str]:
    """pytest-qt asks for this before it makes the application."""
    os.environ["DISPLAY"] = screen
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    return ["offhook"]


@pytest.fixture
def line() -> FakeLine:
    return FakeLine()


@pytest.fixture
def drafts_folder(tmp_path: Path) -> Path:
    return tmp_path / "drafts"
