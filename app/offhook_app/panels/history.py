"""What was said in each folder, kept on this disk: one SQLite file of the user's. Not what is shown of it.

Every exchange is written when it changes, so that ending the app at any moment loses at most a second of an answer.
Forgetting is real: the rows are overwritten and the log is emptied, not only marked.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from offhook_app.state.exchange import Exchange

MOST_LOADED = 200
_PATIENCE_S = 1.0  # another window writes
_TABLES = """
CREATE TABLE IF NOT EXISTS exchange (folder TEXT, id INTEGER, body BLOB, PRIMARY KEY (folder, id));
CREATE TABLE IF NOT EXISTS draft (folder TEXT PRIMARY KEY, text TEXT);
CREATE TABLE IF NOT EXISTS place (folder TEXT PRIMARY KEY, width INTEGER, shown INTEGER);
"""


class NotKept(Exception):
    """The message is a sentence for the person."""


class History:
    """Without a file (None) it lives as long as the window."""

    def __init__(self, file: Path | None) -> None:
        """Raises NotKept; then `History(None)` still works."""
        with _told():
            if file:
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                file.touch(mode=0o600)
            self._database = sqlite3.connect(file or ":memory:", timeout=_PATIENCE_S, isolation_level=None)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")  # a crash of the app loses nothing
            self._database.execute("PRAGMA secure_delete=ON")
            self._database.executescript(_TABLES)

    def close(self) -> None:
        self._database.close()

    def of(self, folder: str) -> list[Exchange]:
        """The newest ones, oldest first. What cannot be read (of a newer version) is left out. Raises NotKept."""
        query = "SELECT body FROM exchange WHERE folder = ? ORDER BY id DESC LIMIT ?"
        found = []
        for (body,) in self._rows(query, folder, MOST_LOADED):
            with suppress(msgspec.DecodeError):
                found.append(msgspec.json.decode(body, type=Exchange))
        return found[::-1]

    def keep(self, folder: str, exchange: Exchange) -> None:
        """Raises NotKept."""
        self._rows("REPLACE INTO exchange VALUES (?, ?, ?)", folder, exchange.id, msgspec.json.encode(exchange))

    def forget(self, folder: str) -> None:
        """Raises NotKept."""
        self._rows("DELETE FROM exchange WHERE folder = ?", folder)
        self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def draft(self, folder: str) -> str:
        """What was typed and not sent. Raises NotKept."""
        rows = self._rows("SELECT text FROM draft WHERE folder = ?", folder)
        return str(rows[0][0]) if rows else ""

    def keep_draft(self, folder: str, text: str) -> None:
        """Raises NotKept."""
        if text:
            self._rows("REPLACE INTO draft VALUES (?, ?)", folder, text)
        else:
            self._rows("DELETE FROM draft WHERE folder = ?", folder)

    def place(self, folder: str) -> tuple[int, bool] | None:
        """Width in pixels and whether it is shown. Raises NotKept."""
        rows = self._rows("SELECT width, shown FROM place WHERE folder = ?", folder)
        return (int(rows[0][0]), bool(rows[0][1])) if rows else None

    def keep_place(self, folder: str, width: int, *, shown: bool) -> None:
        """Raises NotKept."""
        self._rows("REPLACE INTO place VALUES (?, ?, ?)", folder, width, shown)

    def _rows(self, query: str, *values: object) -> list[Any]:
        with _told(), closing(self._database.execute(query, values)) as cursor:
            return cursor.fetchall()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as e:
        reason = "the disk is full" if "full" in str(e) else "its file cannot be written"
        raise NotKept(f"This conversation is not kept: {reason}.") from None
