"""What the way from a key to the engine costs, and what it leaves to compute: cold, cached, past the pipeline, without state.

In rounds over a few places in the middle of lines, each a document of about 300 tokens that ends there:

    cold      nothing of the prompt is cached: through the pipeline, and straight to its worker, in random order
    typed     the next words of the line are typed, and asked again through the pipeline
    cached    just that prompt once more: through the pipeline and straight to the worker, in random order

Every time is from the request to the first text. The engine rests before each. Beside it, two files are typed in turn, a
few words and a request each, with shorter texts: over the line, and as requests that send the file's whole conversation
again.
"""

import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from offhook_server.bench.copy_places import HalfLine, half_lines, package_folder
from offhook_server.bench.suggest_client import Client
from offhook_server.bench.suggest_engine import Engine, Taken
from offhook_server.core.tokens import split
from offhook_server.errors import BackendError

SEED = 1
SOURCE = "asyncio"
DRAWN = 60
CHARACTERS = 1650  # about 300 tokens of such code
TYPED_TOKENS = 2
PLACES = 5
ROUNDS = 30
CACHED_A_ROUND = 2
TURNS_CHARACTERS = 600  # of each file when its typing begins
TURNS = 20  # requests of each kind, half of them in each file
ANSWER_TOKENS = 8
KEYS_SLOT, OTHER_SLOT = 0, 1
DOCUMENT = "open.py"
ASKED = "Continue this Python file. Answer with code only."


@dataclass(frozen=True, slots=True)
class Spot:
    """A document that ends in mid-line, and what its author typed next."""

    name: str
    text: str
    typed: str


@dataclass(slots=True)
class Times:
    """Milliseconds; all lists of a line are pairs, place by place."""

    cold: list[float] = field(default_factory=list)
    cold_direct: list[float] = field(default_factory=list)
    typed: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    cached_direct: list[float] = field(default_factory=list)
    prompt_tokens: list[int] = field(default_factory=list)
    cold_cached_tokens: list[int] = field(default_factory=list)
    left_out: int = 0  # rounds in which somebody said nothing


@dataclass(slots=True)
class Shares:
    """Request by request: how many tokens the prompt had and how many came from the cache."""

    line: list[Taken] = field(default_factory=list)
    request: list[Taken] = field(default_factory=list)


def spots() -> Iterator[Spot]:
    for number, half in enumerate(half_lines(SOURCE, DRAWN, SEED)):
        start = half.before.find("\n", max(0, len(half.before) - CHARACTERS)) + 1
        tokens = split(half.rest)
        if start and len(tokens) >= 2 * TYPED_TOKENS:
            yield Spot(f"{number}", half.before[start:], "".join(tokens[:TYPED_TOKENS]))


class Pipeline:
    """One engine and one client of it."""

    def __init__(self, engine: Engine, client: Client) -> None:
        self._engine = engine
        self._client = client
        self._random = random.Random(SEED)

    async def speaking(self, count: int) -> list[Spot]:
        """Places where the model has something to say, now and after the typing; its requests are remembered."""
        found: list[Spot] = []
        for spot in spots():
            if len(found) == count:
                break
            if await self._tried(spot):
                found.append(spot)
        return found

    async def _tried(self, spot: Spot) -> bool:
        await self._client.open(DOCUMENT, spot.text)
        for state in ("cold", "typed"):
            if state == "typed":
                await self._client.type(DOCUMENT, spot.typed)
            if await self._client.ask(DOCUMENT) is None:
                return False
            await self._engine.remember(f"{spot.name}.{state}")
        return True

    async def times(self, places: list[Spot], rounds: int, budget_s: float) -> Times:
        began = perf_counter()
        times = Times()
        for number in range(rounds):
            if perf_counter() - began > budget_s:
                break
            await self._round(places[number % len(places)], times)
        return times

    async def _round(self, spot: Spot, times: Times) -> None:
        await self._client.open(DOCUMENT, spot.text)
        cold = await self._pair(f"{spot.name}.cold", KEYS_SLOT)
        seen = await self._engine.last()
        await self._client.type(DOCUMENT, spot.typed)
        await self._engine.empty(OTHER_SLOT)
        typed = await self._client.ask(DOCUMENT)
        if cold is None or typed is None:
            times.left_out += 1
            return
        times.prompt_tokens.append(seen.prompt_tokens)
        times.cold_cached_tokens.append(seen.cached_tokens)
        times.cold.append(cold[0])
        times.cold_direct.append(cold[1])
        times.typed.append(typed)
        for _ in range(CACHED_A_ROUND):
            if cached := await self._pair(f"{spot.name}.typed", OTHER_SLOT):
                times.cached.append(cached[0])
                times.cached_direct.append(cached[1])

    async def _pair(self, name: str, emptied: int) -> tuple[float, float] | None:
        """Through the pipeline, and straight to the worker."""
        asks: list[Callable[[], Awaitable[Taken | None]]] = [self._through, lambda: self._engine.direct(name)]
        taken: dict[int, Taken | None] = {}
        for which in self._random.sample((0, 1), 2):
            await self._engine.empty(emptied)
            taken[which] = await asks[which]()
        through, direct = taken[0], taken[1]
        if through is None or direct is None:
            return None
        if through.prompt_tokens != direct.prompt_tokens:
            raise BackendError("The two ways asked different things; what they took cannot be compared.")
        return through.first_ms, direct.first_ms

    async def _through(self) -> Taken | None:
        first_ms = await self._client.ask(DOCUMENT)
        return None if first_ms is None else Taken(first_ms, (await self._engine.last()).prompt_tokens)

    async def shares(self, turns: int, budget_s: float) -> Shares:
        """Two files in turn, the same words in both arms."""
        began = perf_counter()
        files = [Typed(self._client, half) for half in _two_files()]
        for each in files:
            await each.open()
        shares = Shares()
        for turn in range(turns):
            if perf_counter() - began > budget_s:
                break
            each = files[turn % 2]
            await each.type()
            before = (await self._engine.last()).number
            await self._client.ask(each.name)
            seen = await self._engine.last()
            if seen.number > before:  # else the copy model answered
                shares.line.append(seen)
            await each.request()
            shares.request.append(await self._engine.last())
        return shares


def _two_files() -> list[HalfLine]:
    """Early in two long files, so that enough of each is left to type."""
    names: set[str] = set()
    found: list[HalfLine] = []
    for half in half_lines(SOURCE, DRAWN, SEED + 1):
        if half.name not in names and len(half.before) > CHARACTERS:
            names.add(half.name)
            found.append(half)
    return found[:2]


class Typed:
    """A file being typed, and its conversation for those who keep no state."""

    def __init__(self, client: Client, half: HalfLine) -> None:
        self.name = half.name
        self._client = client
        start = half.before.find("\n", len(half.before) - TURNS_CHARACTERS) + 1
        self._text = half.before[start:]
        whole = (package_folder(SOURCE) / half.name).read_text(encoding="utf-8")
        self._words = split(whole[len(half.before) :][:CHARACTERS])
        self._at = 0
        self._typed = ""
        self._history: list[dict[str, Any]] = [{"role": "user", "content": f"{ASKED}\n\n{self._text}"}]

    async def open(self) -> None:
        await self._client.open(self.name, self._text)

    async def type(self) -> None:
        self._typed = "".join(self._words[self._at : self._at + TYPED_TOKENS])
        self._at += TYPED_TOKENS
        await self._client.type(self.name, self._typed)

    async def request(self) -> None:
        self._history.append({"role": "user", "content": self._typed})
        answer = await self._client.request(self._history, ANSWER_TOKENS)
        self._history.append({"role": "assistant", "content": answer or "…"})
