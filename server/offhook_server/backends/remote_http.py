"""The connection to a place: kept, checked, patient for so long and no longer. Every fault is a sentence. No formats."""

import asyncio
from dataclasses import dataclass
from typing import Any

import aiohttp

from offhook_server.backends.remote_errors import CERTIFICATE, CUT, NOBODY, SILENT
from offhook_server.errors import BackendError

KEPT_S = 60.0
MOST_STALE = 4


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds."""

    connect_s: float = 3.0
    first_byte_s: float = 30.0
    between_bytes_s: float = 30.0
    after_end_s: float = 0.5  # for figures that follow the text


PATIENCE = Patience()


class Connection:
    """To be used in one event loop. `key` goes into a header and nowhere else."""

    def __init__(self, key: str, patience: Patience) -> None:
        self._key = key
        self._patience = patience
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    async def request(self, method: str, url: str, body: dict[str, Any] | None = None) -> aiohttp.ClientResponse:
        """The response, as soon as its head is here; to be closed. Raises BackendError."""
        if self._session is None:
            self._session = self._opened()
        try:
            async with asyncio.timeout(self._patience.first_byte_s):
                return await self._sent(self._session, method, url, body)
        except (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError):
            raise BackendError(CERTIFICATE) from None
        except aiohttp.ConnectionTimeoutError:
            raise BackendError(NOBODY, retryable=True) from None
        except TimeoutError:
            raise BackendError(SILENT.format(f"{self._patience.first_byte_s:.0f}"), retryable=True) from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise BackendError(NOBODY, retryable=True) from None

    async def _sent(
        self, session: aiohttp.ClientSession, method: str, url: str, body: dict[str, Any] | None
    ) -> aiohttp.ClientResponse:
        """A connection that was kept may be closed at the other end by now (llama.cpp's server closes it after each
        stream, whatever it promises); that shows only when it is used."""
        for _ in range(MOST_STALE):
            try:
                return await session.request(method, url, json=body, allow_redirects=False)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                continue
        return await session.request(method, url, json=body, allow_redirects=False)

    def _opened(self) -> aiohttp.ClientSession:
        headers = {"Accept-Encoding": "identity"}  # a packed stream comes late
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._patience.connect_s),
            connector=aiohttp.TCPConnector(keepalive_timeout=KEPT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def chunk(self, response: aiohttp.ClientResponse) -> bytes:
        """More of the body, empty at its end. Raises BackendError."""
        limit_s = self._patience.between_bytes_s
        try:
            async with asyncio.timeout(limit_s):
                return await response.content.readany()
        except TimeoutError:
            raise BackendError(SILENT.format(f"{limit_s:.0f}"), retryable=True) from None
        except (aiohttp.ClientError, OSError):
            raise BackendError(CUT, retryable=True) from None

    async def last_chunk(self, response: aiohttp.ClientResponse) -> bytes:
        """What may yet follow where nothing has to; the connection is kept if the body ends with it."""
        try:
            async with asyncio.timeout(self._patience.after_end_s):
                return await response.content.readany()
        except (TimeoutError, aiohttp.ClientError, OSError):
            return b""

    async def whole(self, response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
        """The body, as much of it as is allowed. Raises BackendError."""
        body = bytearray()
        while len(body) < most_bytes and (chunk := await self.chunk(response)):
            body += chunk
        return bytes(body[:most_bytes])
