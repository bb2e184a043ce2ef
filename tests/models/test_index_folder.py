"""Which files of a folder count, and in what order they are indexed."""

from pathlib import Path

import pytest

from offhook_server.core.copying import Guess
from offhook_server.models import folder as folder_module
from offhook_server.models.folder import MOST_FILE_BYTES, Folder, Found, chosen
from offhook_server.models.index_messages import Ask
from offhook_server.models.workspace import Workspace

pytestmark = pytest.mark.loopback
MARKER = "hunter2hunter2"


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def names(root: Path) -> list[str]:
    return sorted(found.name for found in Folder(root).files() if found)


def test_ignore_files_are_respected_in_every_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n/top.py\n!kept.log\n",
            "a.py": "a",
            "top.py": "ignored here",
            "sub/top.py": "not there",
            "x.log": "",
            "kept.log": "",
            "build/made.py": "",
            "sub/.gitignore": "!loud.log\n*.tmp\n",
            "sub/loud.log": "",
            "sub/deep/x.tmp": "",
            "x.tmp": "",
        },
    )
    assert names(tmp_path) == [
        ".gitignore",
        "a.py",
        "kept.log",
        "sub/.gitignore",
        "sub/loud.log",
        "sub/top.py",
        "x.tmp",
    ]
    folder = Folder(tmp_path)
    assert folder.find("sub/top.py") is not None
    for name in ("top.py", "build/made.py", "x.log", "sub/deep/x.tmp", "not there"):
        assert folder.find(name) is None, name


def test_secrets_binaries_links_and_giants_are_left_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    write(outside, {"b.py": "outside"})
    write(
        root,
        {
            "a.py": "a",
            ".env": "KEY=1",
            ".ssh/config": "x",
            "big.txt": b"x" * (MOST_FILE_BYTES + 1),
            "image": b"\x89PNG\0\0",
            "latin.txt": "größe".encode("latin-1"),
            "bom.py": "\ufeffx = 1",
            "node_modules/m/index.js": "x",
            ".venv/lib.py": "x",
            ".git/config": "x",
        },
    )
    (root / "link.py").symlink_to(outside / "b.py")
    (root / "linked").symlink_to(outside)
    folder = Folder(root)
    assert names(root) == ["a.py", "bom.py", "image", "latin.txt"]
    assert {name: folder.read(name) for name in names(root)} == {
        "a.py": "a",
        "bom.py": "x = 1",
        "image": None,
        "latin.txt": None,
    }
    assert folder.read("big.txt") is None
    assert folder.read("gone.py") is None
    assert folder.find("linked/b.py") is None
    assert folder.name_of(str(root.resolve() / "sub" / "a.py")) == "sub/a.py"
    assert folder.name_of(str(outside / "b.py")) is None


def test_a_folder_too_large_gives_its_newest_files(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Found(f"f{n}", 10, n) for n in range(5)]
    assert [file.name for file in chosen(found)] == ["f4", "f3", "f2", "f1", "f0"]
    monkeypatch.setattr(folder_module, "MOST_FILES", 4)
    monkeypatch.setattr(folder_module, "MOST_BYTES", 30)
    assert [file.name for file in chosen(found)] == ["f4", "f3", "f2"]


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert names(tmp_path / "nowhere") == []


class Indexed:
    """A workspace on a fake clock, worked until it has nothing to do."""

    def __init__(self, root: Path) -> None:
        self.work = Workspace()
        self.now = 0.0
        self.work.open(str(root))
        self.settle()

    def settle(self) -> None:
        while self.work.step(self.now):
            pass

    def ghost(self, before: str, name: str = "here.py", line: int = 0) -> str | None:
        guess = self.ask(before, name, line)
        return guess.text if guess else None

    def ask(self, before: str, name: str = "here.py", line: int = 0, *, prompt_from: int | None = None) -> Guess | None:
        return self.work.answer(Ask(1, name, line, before, prompt_from=prompt_from))


def test_documents_stand_for_their_files(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "go(disk)\n", "here.py": ""})
    indexed = Indexed(tmp_path)
    assert indexed.work.ready
    assert indexed.ghost("go(") == "disk)"
    indexed.work.document("a.py", "go(editor)\n", indexed.now)
    assert not indexed.work.ready
    indexed.settle()
    assert indexed.ghost("go(") == "editor)"
    indexed.work.close("a.py")
    indexed.settle()
    assert indexed.ghost("go(") == "disk)"
    indexed.work.close("a.py")


def test_a_document_is_put_again_in_a_pause_and_its_edited_lines_are_not_read_before(tmp_path: Path) -> None:
    indexed = Indexed(tmp_path)
    work = indexed.work
    work.document("here.py", "a->first()\nb->second()\n", 0.0)
    assert indexed.ghost("a->") is None  # not put yet
    indexed.settle()
    assert indexed.ghost("a->first()\nb->second()\na->", line=2) == "first()"
    work.document("here.py", "a->changed()\nb->second()\na->", 1.0)
    indexed.now = 1.0
    indexed.settle()
    deadline_s = work.deadline_s
    assert deadline_s is not None
    assert deadline_s > 1.0
    assert indexed.ghost("a->changed()\nb->second()\na->", line=2) is None
    indexed.now = deadline_s
    indexed.settle()
    assert work.deadline_s is None
    assert indexed.ghost("a->changed()\nb->second()\na->", line=2) == "changed()"


def test_changes_on_the_disk_are_followed(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "go(one)\n", "sub/b.py": "to.here\n"})
    indexed = Indexed(tmp_path)
    root = tmp_path.resolve()

    def changed(*names: str) -> None:
        indexed.work.changed([str(root / name) for name in names])
        indexed.settle()

    write(tmp_path, {"a.py": "go(second)\n", "new/c.py": "up->there\n"})
    changed("a.py", "new", "/elsewhere")
    assert (indexed.ghost("go("), indexed.ghost("up->")) == ("second)", "there")
    write(tmp_path, {".gitignore": "new/\n"})
    changed(".gitignore")
    assert indexed.ghost("up->") is None
    (tmp_path / "a.py").unlink()
    (tmp_path / "sub" / "b.py").unlink()
    (tmp_path / "sub").rmdir()
    changed("a.py", "sub")
    assert (indexed.ghost("go("), indexed.ghost("to.")) == (None, None)
    assert sorted(indexed.work.index.files) == [".gitignore"]
    indexed.work.open(None)
    indexed.settle()
    indexed.work.changed([str(root / "a.py")])
    assert indexed.work.status.files == 0


def test_no_secret_is_in_any_answer(tmp_path: Path) -> None:
    line = f"password = '{MARKER}'\n"
    write(tmp_path, dict.fromkeys((".env", "id_rsa", ".aws/credentials", "secrets.yml", "private.key"), line))
    write(
        tmp_path, {".gitignore": "mine.py\n", "mine.py": line, "min.js": line + "x" * 3_000, "a.py": "password = 1\n"}
    )
    indexed = Indexed(tmp_path)
    indexed.work.document(".env", line, 0.0)
    indexed.settle()
    for before in ("password = ", "password = '", "password = 'hunt", line):
        for name in ("here.py", ".env"):
            assert MARKER not in repr(indexed.ask(before, name, prompt_from=0))
    assert MARKER not in "".join(indexed.work.index.vocabulary.words)


def test_a_document_no_person_wrote_is_not_indexed(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "go(disk)\n"})
    indexed = Indexed(tmp_path)
    indexed.work.document("a.py", "go(x)" * 1_000, 0.0)
    indexed.settle()
    assert indexed.ghost("go(") is None


def test_another_folder_takes_the_place_of_the_last(tmp_path: Path) -> None:
    write(tmp_path, {"one/a.py": "go(one)\n" * 3_000, "two/a.py": "to->two\n"})
    indexed = Indexed(tmp_path / "one")
    indexed.work.document("d.py", "up->document\n" * 3_000, 0.0)
    indexed.work.step(0.0)  # in the middle of it
    indexed.work.open(str(tmp_path / "two"))
    indexed.settle()
    assert (indexed.ghost("go("), indexed.ghost("to->"), indexed.ghost("up->")) == (None, "two", "document")
