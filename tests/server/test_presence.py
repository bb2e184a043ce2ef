import asyncio
import stat
from pathlib import Path

import pytest

from offhook_server.errors import UserError
from offhook_server.gateway.attendance import Attendance
from offhook_server.gateway.presence import Presence

pytestmark = pytest.mark.loopback


def test_the_token_is_made_once_and_for_the_user_alone(tmp_path: Path) -> None:
    first = Presence(tmp_path / "run").token()
    assert len(first) >= 32
    assert Presence(tmp_path / "run").token() == first
    assert stat.S_IMODE((tmp_path / "run/token").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700


def test_a_token_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("sesame\n")
    (tmp_path / "token").chmod(0o644)
    assert Presence(tmp_path).token() == "sesame"
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def test_one_server_is_found_and_the_next_takes_over_when_it_leaves(tmp_path: Path) -> None:
    one, two = Presence(tmp_path), Presence(tmp_path)
    assert one.other() is None
    assert one.claim()
    assert not two.claim()
    one.announce("http://127.0.0.1:1/v1")
    found = two.other()
    assert found is not None
    assert found.base_url == "http://127.0.0.1:1/v1"
    one.leave()
    assert two.claim()
    assert two.other() is None
    two.leave()


def test_a_folder_that_cannot_be_made_is_said_with_the_way_to_mend_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="OFFHOOK_RUNTIME_DIR"):
        Presence(tmp_path / "file/run").token()


async def test_the_last_to_leave_is_the_last_only_when_nobody_comes_back() -> None:
    left = asyncio.Event()
    attendance = Attendance(0.01, left.set)
    with attendance, attendance:
        pass
    async with asyncio.timeout(10):
        await left.wait()


async def test_without_a_limit_nobody_is_missed() -> None:
    left = asyncio.Event()
    with Attendance(None, left.set):
        pass
    assert not left.is_set()
