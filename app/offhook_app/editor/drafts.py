"""Unsaved text that outlives the window: one small file for each edited one, in the user's data folder.

No question is asked at the end; what was not saved is kept here and offered when the file is opened again. While one
types, `keep_soon` writes in a thread: a long text takes longer than a frame.
"""

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from hashlib import blake2b
from pathlib import Path

import msgspec

from offhook_app.editor.file import FileProblem, replace_content


class _Draft(msgspec.Struct):
    path: str
    text: str


class Drafts:
    """What reads, drops or keeps at once waits until all that `keep_soon` began is written; `keep_soon` waits for nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, "drafts")
        self._begun: Future[None] | None = None

    def keep(self, path: Path, text: str) -> None:
        """Raises FileProblem."""
        self._settle()
        self._write(path, text)

    def keep_soon(self, path: Path, lines: Sequence[str], failed: Callable[[str], None]) -> None:
        """`failed` is called in another thread, with a sentence for the person."""

        def write() -> None:
            try:
                self._write(path, "\n".join(lines))
            except FileProblem as e:
                failed(str(e))

        self._begun = self._thread.submit(write)  # one thread: in the order they came

    def of(self, path: Path) -> str | None:
        """The text kept for `path`; None where there is none, or none that can be read."""
        self._settle()
        try:
            return msgspec.json.decode(self._place(path).read_bytes(), type=_Draft).text
        except (OSError, msgspec.DecodeError):
            return None

    def drop(self, path: Path) -> None:
        self._settle()
        with contextlib.suppress(OSError):
            self._place(path).unlink()

    def _settle(self) -> None:
        if self._begun:
            wait([self._begun])
            self._begun = None

    def _write(self, path: Path, text: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_content(self._place(path), msgspec.json.encode(_Draft(str(path), text)), durable=False)
        except OSError as e:
            raise FileProblem(f"The draft could not be kept: {(e.strerror or 'the system refused').lower()}.") from None

    def _place(self, path: Path) -> Path:
        return self._folder / f"{blake2b(str(path).encode(), digest_size=12).hexdigest()}.json"
