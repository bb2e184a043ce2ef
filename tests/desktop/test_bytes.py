"""Files come back byte for byte, whatever their line ends; nothing is written over without being asked."""

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_app.editor import file, line_ends
from offhook_app.editor.drafts import Drafts

LIMIT_S = 20.0

pytestmark = pytest.mark.window

CASES = [
    b"",
    b"a",
    b"a\n",
    b"a\r\nb\r\n",
    b"a\rb",
    b"a\r\nb\nc\rd\n\r\n",
    b"\xef\xbb\xbfa\r\nb",
    "s = '🙂é讷'\r\n\tnbsp\u00a0\u2028x\n".encode(),
]


@pytest.mark.parametrize("content", CASES)
def test_saving_what_was_opened_changes_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(content)
    saved = file.load(path)
    file.save(saved, saved.text)
    assert path.read_bytes() == content


def test_new_lines_take_the_end_of_the_line_above_and_others_keep_theirs(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(b"a\r\nb\nc\r\nd")
    saved = file.load(path)
    assert saved.line_end == "mixed"
    saved = file.save(saved, "a\nnew\nb2\nmore\nc\nd\ne")
    assert path.read_bytes() == b"a\r\nnew\r\nb2\r\nmore\r\nc\r\nd\r\ne"
    file.save(saved, "a\nb\nc\nd")
    assert path.read_bytes() == b"a\r\nb\nc\r\nd"


@given(st.lists(st.tuples(st.sampled_from(["a", "b", ""]), st.sampled_from(["\n", "\r\n", "\r"])), max_size=8))
def test_ends_of_unchanged_lines_are_restored(pairs: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in pairs)
    lines, ends = line_ends.split(text)
    assert line_ends.join(lines, line_ends.restored(lines, ends, lines)) == text
    longer = [*lines[:1], "new", *lines[1:]]
    assert len(line_ends.restored(lines, ends, longer)) == len(longer) - 1


def test_a_file_changed_on_disk_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text("a")
    saved = file.load(path)
    path.write_text("theirs")
    with pytest.raises(file.ChangedOnDisk):
        file.save(saved, "mine")
    assert path.read_text() == "theirs"
    file.save(saved, "mine", over_changes=True)
    assert path.read_text() == "mine"


def test_a_file_that_is_gone_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text("a")
    saved = file.load(path)
    path.unlink()
    file.save(saved, "b")
    assert path.read_text() == "b"


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "real.sh", tmp_path / "link.sh"
    target.write_text("a")
    target.chmod(0o750)
    link.symlink_to(target)
    file.save(file.load(link), "b")
    assert link.is_symlink()
    assert target.read_text() == "b"
    assert target.stat().st_mode & 0o777 == 0o750
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.sh", "real.sh"]


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    latin = tmp_path / "latin.py"
    latin.write_bytes(b"ok \xe9")
    with pytest.raises(file.FileProblem, match=r"latin.py is not UTF-8 text \(byte 4\)"):
        file.load(latin)
    with pytest.raises(file.FileProblem, match="it is not there"):
        file.load(tmp_path / "missing.py")
    with pytest.raises(file.FileProblem, match="it is a folder"):
        file.load(tmp_path)


def test_a_full_disk_leaves_the_old_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.py"
    path.write_text("old")
    saved = file.load(path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(file.FileProblem, match="Not saved: the disk is full"):
        file.save(saved, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f.py"]


def test_drafts_are_kept_found_and_dropped(tmp_path: Path) -> None:
    drafts, path = Drafts(tmp_path / "d"), tmp_path / "a.py"
    assert drafts.of(path) is None
    drafts.keep(path, "é\n")
    drafts.keep(path, "é2\n")
    assert drafts.of(path) == "é2\n"
    (kept,) = (tmp_path / "d").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_bytes(b"{")
    assert drafts.of(path) is None
    drafts.drop(path)
    drafts.drop(path)
    assert list((tmp_path / "d").iterdir()) == []


def test_a_disk_that_hangs_holds_up_nobody_who_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts, path, answers = Drafts(tmp_path / "d"), tmp_path / "a.py", threading.Event()
    write, written = Drafts._write, []

    def slow(self: Drafts, path: Path, text: str) -> None:
        if answers.wait(LIMIT_S):
            write(self, path, text)
            written.append(text)

    monkeypatch.setattr(Drafts, "_write", slow)
    failed: list[str] = []
    for text in ("one", "two", "three"):
        drafts.keep_soon(path, [text, ""], failed.append)
    answers.set()
    assert drafts.of(path) == "three\n"
    assert (written, failed) == (["one\n", "two\n", "three\n"], [])


def test_a_draft_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("a file where the folder should be")
    with pytest.raises(file.FileProblem, match="draft could not be kept"):
        Drafts(tmp_path / "d").keep(tmp_path / "a.py", "x")
