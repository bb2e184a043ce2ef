"""Unsaved text that outlives the window: one small file for each edited one, in the user's data folder.

No question is asked at the end; what was not saved is kept here and offered when the file is opened again.
"""

import contextlib
from hashlib import blake2b
from pathlib import Path

import msgspec

from offhook_app.editor.file import FileProblem, replace_content


class _Draft(msgspec.Struct):
    path: str
    text: str


class Drafts:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, path: Path, text: str) -> None:
        """Raises FileProblem."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_content(self._place(path), msgspec.json.encode(_Draft(str(path), text)), durable=False)
        except OSError as e:
            raise FileProblem(f"The draft could not be kept: {(e.strerror or 'the system refused').lower()}.") from None

    def of(self, path: Path) -> str | None:
        """The text kept for `path`; None where there is none, or none that can be read."""
        try:
            return msgspec.json.decode(self._place(path).read_bytes(), type=_Draft).text
        except (OSError, msgspec.DecodeError):
            return None

    def drop(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            self._place(path).unlink()

    def _place(self, path: Path) -> Path:
        return self._folder / f"{blake2b(str(path).encode(), digest_size=12).hexdigest()}.json"
