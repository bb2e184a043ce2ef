"""Server-sent events out of bytes, wherever these were cut (WHATWG HTML 9.2.6). Only their data; knows no JSON."""

import re

from offhook_server.errors import BackendError

MOST_EVENT_BYTES = 1024 * 1024
LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"


class EventStream:
    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._after_cr = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[str]:
        """The data of each event that `chunk` completes. Raises BackendError for one without end."""
        if not chunk:
            return []
        text = chunk[1:] if self._after_cr and chunk.startswith(b"\n") else chunk
        self._after_cr = chunk.endswith(b"\r")
        *lines, self._rest = LINE_END.split(self._rest + text)
        events = [event for line in lines if (event := self._line(line)) is not None]
        if len(self._rest) + sum(map(len, self._data)) > MOST_EVENT_BYTES:
            raise BackendError("The place sends something without end; look at url in the settings.")
        return events

    def finish(self) -> list[str]:
        """The last event of a stream that ends without a blank line."""
        last = [self._line(self._rest), self._line(b"")]
        self._rest = b""
        return [event for event in last if event is not None]

    def _line(self, line: bytes) -> str | None:
        if not self._begun:
            self._begun, line = True, line.removeprefix(BOM)
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            return None
        data, self._data = self._data, []
        return b"\n".join(data).decode("utf-8", "replace") if data else None
