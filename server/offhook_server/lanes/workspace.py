"""The open folder as the copy model knows it: which documents it may read, under which names. Not the index itself.

Secrets are filtered here, where text would first leave the server's mirror (offhook_wire.privacy): such a document
is neither indexed nor asked about.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from offhook_server.core.copying import Guess
from offhook_wire.privacy import never_sent

QUIET_S = 0.05  # the index gets an edited document so long after the last edit: behind the answer, not before it


class Index(Protocol):
    """models.index_client.IndexClient, as far as it is used here."""

    def open(self, root: str) -> None: ...
    def document(self, name: str, text: str) -> None: ...
    def close_document(self, name: str) -> None: ...
    async def ask(
        self, name: str, line: int, before: str, after_line: str, *, prompt_from: int | None
    ) -> Guess | None: ...


class Workspace:
    def __init__(self, index: Index) -> None:
        self._index = index
        self._root: str | None = None
        self._waiting: dict[str, asyncio.TimerHandle] = {}

    def open_folder(self, uri: str) -> None:
        root = path_of(uri)
        if root != self._root:
            self._root = root
            self._index.open(root)

    def document(self, uri: str, text: str) -> None:
        if not never_sent(path_of(uri)):
            self._index.document(self.name(uri), text)

    def edited(self, uri: str, text: Callable[[], str]) -> None:
        """The document changed; its text is read once the typing pauses."""
        self._forget(uri)
        later = asyncio.get_running_loop().call_later
        self._waiting[uri] = later(QUIET_S, lambda: self.document(uri, text()))

    def close_document(self, uri: str) -> None:
        self._forget(uri)
        self._index.close_document(self.name(uri))

    async def ask(self, uri: str, line: int, before: str, after_line: str, *, prompt_from: int | None) -> Guess | None:
        return await self._index.ask(self.name(uri), line, before, after_line, prompt_from=prompt_from)

    def name(self, uri: str) -> str:
        """The path inside the folder, else the file's own name."""
        path = path_of(uri)
        if self._root and path.startswith(self._root.rstrip("/") + "/"):
            return path[len(self._root.rstrip("/")) + 1 :]
        return Path(path).name

    def _forget(self, uri: str) -> None:
        handle = self._waiting.pop(uri, None)
        if handle:
            handle.cancel()


def path_of(uri: str) -> str:
    """The path of a `file:` URI; of any other, what stands behind its scheme."""
    return unquote(urlsplit(uri).path)
