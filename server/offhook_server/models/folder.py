"""The source files of a folder as git would see them: ignore files respected, secrets and binaries left out.

Reads ignore files and source, writes nothing, follows no link, watches nothing.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from offhook_wire.privacy import never_sent

MOST_FILES = 20_000
MOST_BYTES = 200_000_000
MOST_FILE_BYTES = 1_000_000
MOST_SEEN = 200_000  # entries looked at, in a folder that is no project
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__"})
IGNORE_FILE = ".gitignore"
_SNIFFED_BYTES = 8_192


@dataclass(frozen=True, slots=True)
class Found:
    """`name` is the path relative to the folder, with slashes."""

    name: str
    size_bytes: int
    changed_ns: int


class Folder:
    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def files(self) -> Iterator[Found | None]:
        """Every file that counts, in no order; None for each folder and each entry that does not, to pause at."""
        self._specs.clear()
        folders = [""]
        seen = 0
        while folders and seen < MOST_SEEN:
            for entry in self._entries(folders.pop()):
                seen += 1
                if isinstance(entry, str):
                    folders.append(entry)
                yield entry if isinstance(entry, Found) else None

    def find(self, name: str) -> Found | None:
        """One file, if it counts."""
        return self._stat(name) if self.counts(name) else None

    def counts(self, name: str) -> bool:
        """Whether a file of that name would, by its name and where it lies."""
        parts = name.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        return not (
            any(self._skips(folder, is_folder=True) or self._path(folder).is_symlink() for folder in above)
            or self._skips(name, is_folder=False)
        )

    def read(self, name: str) -> str | None:
        """The text of a file; None if it is binary, or went away."""
        try:
            with self._path(name).open("rb") as file:
                data = file.read(MOST_FILE_BYTES + 1)
        except OSError:
            return None
        if len(data) > MOST_FILE_BYTES or b"\0" in data[:_SNIFFED_BYTES]:
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None

    def name_of(self, path: str) -> str | None:
        """The name of a file at `path`; None if it lies elsewhere."""
        try:
            return Path(path).relative_to(self.root).as_posix()
        except ValueError:
            return None

    def _path(self, name: str) -> Path:
        return self.root / name

    def _entries(self, folder: str) -> Iterator[Found | str | None]:
        """Files, the names of folders to look into, and None for what does not count."""
        try:
            entries = list(os.scandir(self._path(folder)))
        except OSError:
            return
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if self._skips(name, is_folder=is_folder):
                yield None
            elif is_folder:
                yield name
            else:
                yield self._stat(name)

    def _stat(self, name: str) -> Found | None:
        try:
            status = self._path(name).lstat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_FILE_BYTES:
            return None
        return Found(name, status.st_size, status.st_mtime_ns)

    def _skips(self, name: str, *, is_folder: bool) -> bool:
        """Whether this entry of a folder that counts does not."""
        if is_folder and name.rpartition("/")[2] in SKIPPED_FOLDERS:
            return True
        return never_sent(name) or self._ignored(f"{name}/" if is_folder else name)

    def _ignored(self, name: str) -> bool:
        """The ignore file nearest to `name` that speaks of it decides."""
        folder = name.rstrip("/").rpartition("/")[0]
        while True:
            spec = self._spec(folder)
            if spec:
                verdict = spec.check_file(name[len(folder) + 1 :] if folder else name).include
                if verdict is not None:
                    return verdict
            if not folder:
                return False
            folder = folder.rpartition("/")[0]

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            try:
                lines = (self._path(folder) / IGNORE_FILE).read_text("utf-8", "replace").splitlines()
                self._specs[folder] = GitIgnoreSpec.from_lines(lines)
            except (OSError, ValueError):
                self._specs[folder] = None
        return self._specs[folder]


def chosen(found: list[Found]) -> list[Found]:
    """Newest first, as many as fit the limits."""
    newest = sorted(found, key=lambda file: -file.changed_ns)[:MOST_FILES]
    room = MOST_BYTES
    for at, file in enumerate(newest):
        room -= file.size_bytes
        if room < 0:
            return newest[:at]
    return newest
