"""The real engine with the real model, in this process and in its worker: streams whole characters, stops, reuses."""

import os
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path

import pytest

from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.backends.llama import BATCH_TOKENS, LlamaEngine, check_file
from offhook_server.errors import BackendError
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

pytestmark = pytest.mark.models


class Ticket:
    """Collects; `stop_when` says at which piece the request is cancelled."""

    def __init__(self, stop_at: type[Piece] | None = None, nth: int = 1) -> None:
        self.pieces: list[Piece] = []
        self._stop_at = stop_at
        self._nth = nth
        self._cancelled = threading.Event()

    def __call__(self, piece: Piece) -> bool:
        self.pieces.append(piece)
        if self._stop_at and len([p for p in self.pieces if isinstance(p, self._stop_at)]) >= self._nth:
            self._cancelled.set()
        return self._cancelled.is_set()

    def wait(self, seconds: float | None) -> bool:
        return self._cancelled.wait(seconds)

    @property
    def deltas(self) -> list[str]:
        return [piece.text for piece in self.pieces if isinstance(piece, Delta)]

    @property
    def progress(self) -> list[Progress]:
        return [piece for piece in self.pieces if isinstance(piece, Progress)]


@pytest.fixture(scope="module")
def engine(model_path: Path) -> LlamaEngine:
    return LlamaEngine(model_path)


PROMPT = "\n".join(f"def add_{n}(value):\n    return value + {n}\n" for n in range(8))


def greedy(prompt: str, max_tokens: int, slot: int = 1) -> Generate:
    return Generate(1, prompt=prompt, max_tokens=max_tokens, temperature=0.0, slot=slot)


def test_goes_on_with_code_in_batches_and_counts(engine: LlamaEngine) -> None:
    ticket = Ticket()
    finished = engine.generate(greedy(PROMPT + "\ndef add_8(value):\n    return", 6, slot=0), ticket)
    assert "".join(ticket.deltas).startswith(" value + 8")
    assert (finished.reason, finished.output_tokens) == ("length", 6)
    assert finished.prefill_ms > 0
    assert finished.decode_ms > 0
    steps = [after.done - before.done for before, after in pairwise(ticket.progress)]
    assert max(steps) <= BATCH_TOKENS
    assert ticket.progress[-1].done == ticket.progress[-1].total == finished.prompt_tokens


def test_the_prefix_of_a_slot_stays_warm_also_after_a_cancel_in_the_prompt(engine: LlamaEngine) -> None:
    cold = Ticket(stop_at=Progress, nth=4)
    finished = engine.generate(greedy("# warm\n" + PROMPT, 1, slot=0), cold)
    assert (finished.reason, finished.output_tokens) == ("cancelled", 0)
    warm = Ticket(stop_at=Progress)
    engine.generate(greedy("# warm\n" + PROMPT, 1, slot=0), warm)
    assert warm.progress[0].cached >= 2 * BATCH_TOKENS


def test_stops_between_two_tokens(engine: LlamaEngine) -> None:
    ticket = Ticket(stop_at=Delta, nth=2)
    finished = engine.generate(greedy("for x in", 64), ticket)
    assert finished.reason == "cancelled"
    assert len(ticket.deltas) == 2


def test_two_slots_run_at_once(engine: LlamaEngine) -> None:
    tickets = [Ticket(), Ticket()]
    threads = [
        threading.Thread(target=engine.generate, args=(greedy(f"slot_{slot} = [1, 2, 3", 4, slot=slot), tickets[slot]))
        for slot in (0, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ticket.deltas for ticket in tickets)


def test_fills_in_the_middle_by_the_models_own_tokens(engine: LlamaEngine) -> None:
    prefix, suffix = "def area(width, height):\n    return ", "\n\nprint(area(2, 3))\n"
    ticket = Ticket()
    prompt = f"<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>"
    finished = engine.generate(greedy(prompt, 4), ticket)
    assert "".join(ticket.deltas).startswith("width * height")
    assert finished.prompt_tokens < 30  # the three marks are one token each, not their letters


def test_is_held_to_half_a_word_by_a_grammar(engine: LlamaEngine) -> None:
    prompt = "def area(width, height):\n    return"
    ticket = Ticket()
    engine.generate(Generate(1, prompt=prompt, max_tokens=8, temperature=0.0, grammar='root ::= " hei" .*'), ticket)
    assert "".join(ticket.deltas).startswith(" height")


def test_a_character_of_several_tokens_arrives_whole(engine: LlamaEngine) -> None:
    ticket = Ticket()
    engine.generate(greedy('print("🦊🎉 日本語 🦊🎉 日本語 🦊', 16), ticket)
    assert "🎉" in "".join(ticket.deltas)
    assert not any("\ufffd" in delta for delta in ticket.deltas)


def test_chats(engine: LlamaEngine) -> None:
    ticket = Ticket()
    request = Generate(1, messages=[{"role": "user", "content": "Say only: yes"}], max_tokens=8, temperature=0.0)
    finished = engine.generate(request, ticket)
    assert "yes" in "".join(ticket.deltas).lower()
    assert finished.prompt_tokens > finished.output_tokens > 0


def test_answers_in_json_when_told(engine: LlamaEngine) -> None:
    ticket = Ticket()
    messages = [{"role": "user", "content": "A point, please."}]
    shape = {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "point", "schema": shape}}
    engine.generate(Generate(1, messages=messages, max_tokens=16, temperature=0.0, response_format=wanted), ticket)
    assert "".join(ticket.deltas).replace(" ", "").startswith('{"x":')


def test_looking_up_what_comes_next_makes_the_same_text_and_is_told_as_it_is(model_path: Path) -> None:
    looking = LlamaEngine(model_path, lookup=True, slots=1, slot_tokens=512, threads=1)
    ticket, plain = Ticket(), Ticket()
    prompt = PROMPT + "\ndef add_8(value):\n    return"
    finished = looking.generate(greedy(prompt, 24, slot=5), ticket)
    LlamaEngine(model_path).generate(greedy(prompt, 24), plain)
    assert "".join(ticket.deltas) == "".join(plain.deltas)
    assert finished.output_tokens == 24
    assert looking.slots == 1
    with pytest.raises(BackendError, match="512 tokens"):
        looking.generate(greedy("a b c " * 500, 1), Ticket())


def test_says_so_when_the_prompt_is_too_long(engine: LlamaEngine) -> None:
    with pytest.raises(BackendError, match="4096 tokens"):
        engine.generate(greedy("a b c " * 4000, 1), Ticket())


def test_says_so_when_the_request_makes_no_sense(engine: LlamaEngine) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "nonsense"}}}
    with pytest.raises(BackendError, match="refused"):
        engine.generate(
            Generate(1, messages=[{"role": "user", "content": "x"}], max_tokens=1, response_format=wanted), Ticket()
        )


@pytest.mark.parametrize(("content", "sentence"), [(b"", "is empty"), (b"PK\x03\x04", "not a GGUF file")])
def test_a_file_that_is_no_model_is_not_loaded(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(BackendError, match=sentence):
        check_file(path)


# -- in its worker ----------------------------------------------------------------------------------------------------


async def settled(path: Path) -> WorkerClient:
    client = WorkerClient(WorkerSpec("llama", path))
    await client.start()
    await client.settled()
    return client


@pytest.mark.parametrize("kept_bytes", [24, 100_000, 50_000_000])
async def test_a_file_cut_short_is_a_sentence_and_no_loop(model_path: Path, tmp_path: Path, kept_bytes: int) -> None:
    path = tmp_path / "model.gguf"
    with model_path.open("rb") as whole:
        path.write_bytes(whole.read(kept_bytes))
    client = await settled(path)
    assert client.state == "failed"
    assert "cut short" in client.detail
    assert client.counters["starts"] == 1
    await client.close()


@pytest.fixture
async def client(model_path: Path) -> AsyncIterator[WorkerClient]:
    client = await settled(model_path)
    assert client.state == "ready"
    yield client
    await client.close()


async def test_a_cancel_in_the_prompt_frees_the_engine_for_the_next_request(client: WorkerClient) -> None:
    async with aclosing(client.stream(greedy("# first\n" + PROMPT * 4, 1, slot=0))) as pieces:
        async for piece in pieces:
            if isinstance(piece, Progress) and piece.done > piece.cached:
                break
    finished = None
    async with aclosing(client.stream(greedy("x = [1, 2, 3", 4, slot=0))) as pieces:
        async for piece in pieces:
            finished = piece
    assert isinstance(finished, Finished)
    assert finished.output_tokens == 4


async def test_a_worker_ends_in_the_middle_of_a_prompt(client: WorkerClient) -> None:
    async with aclosing(client.stream(greedy("# gone\n" + PROMPT * 4, 1))) as pieces:
        await anext(pieces)
        await client.close()
    assert client.counters["killed"] == 0


def internet_sockets() -> set[str]:
    tables = [Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6", "udp", "udp6")]
    return {f"socket:[{line.split()[9]}]" for table in tables for line in table}


async def test_a_worker_opens_no_port(client: WorkerClient) -> None:
    internet = internet_sockets()
    opened = {os.readlink(f"/proc/{client.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{client.pid}/fd")}
    assert any(name.startswith("socket:") for name in opened)
    assert not opened & internet
