"""Keeps a server's engine decoding for somebody else: `python -m offhook_server.bench.suggest_load`.

Reads one line, `{"base_url": …, "token": …}`, says `decoding` as soon as text comes, and goes on until standard input ends.
"""

import asyncio
import sys

import aiohttp
import msgspec

WISH = "Write a long story about a ship. Do not stop."
MOST_TOKENS = 1024


class Server(msgspec.Struct):
    base_url: str
    token: str


async def decode_for_ever(server: Server) -> None:
    body = {"model": "fast", "input": WISH, "max_output_tokens": MOST_TOKENS, "stream": True, "store": False}
    headers = {"Authorization": f"Bearer {server.token}"}
    said = False
    async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=None)) as http:
        while True:
            async with http.post(f"{server.base_url}/responses", json=body) as response:
                response.raise_for_status()
                async for line in response.content:
                    if not said and b"output_text.delta" in line:
                        said = True
                        sys.stdout.write("decoding\n")
                        sys.stdout.flush()


async def main() -> None:
    server = msgspec.json.decode(sys.stdin.buffer.readline(), type=Server)
    work = asyncio.create_task(decode_for_ever(server))
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    ended = asyncio.create_task(reader.read())
    await asyncio.wait({work, ended}, return_when=asyncio.FIRST_COMPLETED)
    work.cancel()


if __name__ == "__main__":
    asyncio.run(main())
