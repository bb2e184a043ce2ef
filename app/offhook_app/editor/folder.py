"""Which folder a file belongs to: what the copy model may read when that file is open."""

from pathlib import Path


def folder_of(path: Path) -> Path:
    """The folder the copy model may read: the repository around `path`, else its own folder."""
    start = path if path.is_dir() else path.resolve().parent
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start
