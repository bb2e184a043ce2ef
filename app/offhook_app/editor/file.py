"""A file on the disk: read whole, written whole, every byte that was not edited kept. Not the buffer.

Writing goes to a new file beside the old one, which then takes its place in one step: a crash or a full disk leaves
the old bytes. What changed on the disk meanwhile is never written over without being asked.
"""

import codecs
import contextlib
import errno
import os
import stat
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from offhook_app.editor import line_ends


class FileProblem(Exception):
    """A file that cannot be read or written; the message is a sentence for the person."""


class ChangedOnDisk(FileProblem):
    """Somebody else wrote the file since it was opened."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A file as it was opened: `lines` and `ends` as `line_ends.split` gives them. They stay through every save, so that
    undo leads back to the very bytes. `content` is what is on the disk now."""

    path: Path
    lines: tuple[str, ...]
    ends: tuple[str, ...]
    bom: bool
    content: bytes

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def line_end(self) -> str:
        return line_ends.name(list(self.ends))

    @property
    def encoding(self) -> str:
        return "UTF-8 with BOM" if self.bom else "UTF-8"


def load(path: Path) -> Saved:
    """Raises FileProblem."""
    try:
        content = path.read_bytes()
    except OSError as e:
        raise FileProblem(f"{path.name} could not be opened: {_reason(e)}.") from None
    bom = content.startswith(codecs.BOM_UTF8)
    try:
        text = content[len(codecs.BOM_UTF8) if bom else 0 :].decode("utf-8")
    except UnicodeDecodeError as e:
        raise FileProblem(
            f"{path.name} is not UTF-8 text (byte {e.start + 1}). Convert it to UTF-8 to edit it here."
        ) from None
    lines, ends = line_ends.split(text)
    return Saved(path, tuple(lines), tuple(ends), bom, content)


def changed_on_disk(saved: Saved) -> bool:
    """A file that is gone counts as unchanged: saving brings it back."""
    try:
        return saved.path.read_bytes() != saved.content
    except OSError:
        return False


def save(saved: Saved, text: str, *, over_changes: bool = False) -> Saved:
    """Writes `text`, edited out of `saved`. Raises ChangedOnDisk, FileProblem."""
    if not over_changes and changed_on_disk(saved):
        raise ChangedOnDisk(f"{saved.path.name} changed on disk.")
    lines = text.split("\n")
    ends = line_ends.restored(list(saved.lines), list(saved.ends), lines)
    content = line_ends.join(lines, ends).encode("utf-8")
    if saved.bom:
        content = codecs.BOM_UTF8 + content
    try:
        replace_content(saved.path.resolve(), content)
    except OSError as e:
        raise FileProblem(f"Not saved: {_reason(e)}.") from None
    return replace(saved, content=content)


def replace_content(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Puts `content` at `path` in one step, with the mode the file had. Raises OSError.

    `durable` waits until the disk has it, so that it outlives a power cut and not only a crash of the app.
    """
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "not writable")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            if durable:
                os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


_REASONS = {
    errno.ENOENT: "it is not there",
    errno.EACCES: "you may not write or read it",
    errno.EPERM: "you may not write or read it",
    errno.EISDIR: "it is a folder",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EROFS: "the disk is read-only",
}


def _reason(error: OSError) -> str:
    return _REASONS.get(error.errno or 0, (error.strerror or "the system refused").lower())
