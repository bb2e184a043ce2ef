"""llama.cpp inside the worker's process, through xllamacpp. Loads one GGUF file; opens no port, prints nothing.

Prompts are evaluated in batches of BATCH_TOKENS and the engine calls back after each, so a cancel in the prompt waits
for one batch (the default, 512 at a time, holds a cancelled engine for 10 s on a small machine); the callback's answer
is kept back so that it is not two (backends.holding).

Threads: one for tokens (two gain nothing there), two for prompts. OpenMP's threads spin while they wait for each other;
on a busy machine a spinning thread takes the very core its sibling needs, and a prompt of 10 s then takes minutes.
SPIN_COUNT bounds that.
"""

import os
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from offhook_server.backends.base import Call, Delta, Emit, Finished, Generate, Progress
from offhook_server.backends.holding import Holding, Rates
from offhook_server.errors import BackendError

BATCH_TOKENS = 24
DEFAULT_BATCH_TOKENS = 512  # the engine's own, of one evaluation
SLOTS = 2
SLOT_TOKENS = 4096
PROMPT_THREADS = 2
SPIN_COUNT = "2000"
FETCH_AGAIN = "Run `make setup` to fetch it again."

Chunk = dict[str, Any]
Reason = Literal["stop", "length", "cancelled", "tool_calls"]
_REASONS: dict[str, Reason] = {"stop": "stop", "length": "length", "tool_calls": "tool_calls"}


def check_file(path: Path) -> None:
    """Looks at size and first bytes, which costs nothing. Raises BackendError."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError:
        raise BackendError(f"The model file cannot be read. {FETCH_AGAIN}") from None
    if not magic:
        raise BackendError(f"The model file is empty. {FETCH_AGAIN}")
    if magic != b"GGUF":
        raise BackendError(f"The model file is not a GGUF file. {FETCH_AGAIN}")


class LlamaEngine:
    name = "llama"
    slots = SLOTS

    def __init__(self, path: Path, *, batch_tokens: int | None = BATCH_TOKENS) -> None:
        """`batch_tokens` None leaves the engine's default, for comparison. Raises BackendError."""
        check_file(path)
        self._batch_tokens = batch_tokens or DEFAULT_BATCH_TOKENS
        self._rates: Rates = {}
        os.putenv("GOMP_SPINCOUNT", SPIN_COUNT)  # read by OpenMP when the engine's library is loaded
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = SLOTS * SLOT_TOKENS
        params.n_parallel = SLOTS
        if batch_tokens is not None:
            params.n_batch = params.n_ubatch = batch_tokens
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = PROMPT_THREADS
        params.fit_params = params.ui = params.endpoint_slots = False
        params.cache_ram_mib = 0  # else every prompt that leaves a slot is copied aside, up to 8 GB of them
        params.verbosity = 0
        # the engine insists on an HTTP listener: a socket in a folder of ours, unlinked as soon as it stands
        with tempfile.TemporaryDirectory(prefix="offhook-") as folder:
            params.hostnames = [f"{folder}/http.sock"]
            try:
                self._server = xllamacpp.Server(params)
            except (RuntimeError, ValueError):
                raise BackendError(
                    f"The model file cannot be loaded; it is cut short or of a kind this engine does not know. {FETCH_AGAIN}"
                ) from None
        self.model = path.stem

    def generate(self, request: Generate, emit: Emit) -> Finished:
        run = _Run(request, emit, self._batch_tokens, Holding(self._rates))
        body = _body(request)
        handle = self._server.handle_completions if request.prompt is not None else self._server.handle_chat_completions
        try:
            handle(body, run.on_chunk)
        except (RuntimeError, ValueError):
            raise BackendError("The engine refused the request; look at its tools and response format.") from None
        return run.finished()


def _body(request: Generate) -> dict[str, Any]:
    body: dict[str, Any] = {
        "stream": True,
        "return_progress": True,
        "cache_prompt": True,
        "id_slot": request.slot % SLOTS,
        "max_tokens": request.max_tokens,
    }
    optional = {
        "prompt": request.prompt,
        "messages": request.messages,
        "tools": request.tools,
        "tool_choice": request.tool_choice,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop or None,
        "response_format": request.response_format,
        "grammar": request.grammar,
    }
    return body | {name: value for name, value in optional.items() if value is not None}


class _Run:
    """One request's stream: turns the engine's chunks (OpenAI's, with `prompt_progress` and `timings`) into pieces."""

    def __init__(self, request: Generate, emit: Emit, batch_tokens: int, holding: Holding) -> None:
        self._id = request.id
        self._most_tokens = request.max_tokens
        self._batch_tokens = batch_tokens
        self._holding = holding
        self._emit = emit
        self._started = perf_counter()
        self._prefilled: float | None = None
        self._progress = Progress(request.id, 0, 0, 0)
        self._output_tokens = 0
        self._reason: Reason | None = None
        self._timings: dict[str, float] = {}
        self._error: str | None = None

    def on_chunk(self, chunk: Chunk) -> bool:
        """The engine's callback: True stops it."""
        if "error" in chunk:
            self._error = chunk["error"].get("type", "")
            return True
        now = perf_counter()
        stopped = self._emit.wait(0)
        if progress := chunk.get("prompt_progress"):
            self._progress = Progress(self._id, progress["processed"], progress["total"], progress["cache"])
            stopped = self._emit(self._progress)
        for choice in chunk.get("choices", ()):
            stopped = self._on_choice(choice) or stopped
        self._timings = chunk.get("timings", self._timings)
        return stopped or self._emit.wait(self._hold_s(now))

    def _hold_s(self, now: float) -> float:
        """See backends.holding. Where the next chunk follows at once, nothing is kept back."""
        left = self._progress.total - self._progress.done
        if self._output_tokens:
            decoding = self._reason is None and self._output_tokens < self._most_tokens
            work, kind = int(decoding), "token"
        else:
            work, kind = min(left, self._batch_tokens), "prompt"
        hold_s = self._holding.stepped(now, kind, work, text_follows=left <= self._batch_tokens)
        return max(0.0, hold_s - (perf_counter() - now))

    def _on_choice(self, choice: Chunk) -> bool:
        self._reason = _REASONS.get(choice.get("finish_reason") or "", self._reason)
        delta = choice.get("delta", {})
        text = choice.get("text") or delta.get("content")
        stopped = self._emit(Delta(self._id, self._token(text))) if text else False
        for call in delta.get("tool_calls", ()):
            function = call.get("function", {})
            arguments = self._token(function.get("arguments") or "")
            piece = Call(self._id, call["index"], call.get("id") or "", function.get("name") or "", arguments)
            stopped = self._emit(piece) or stopped
        return stopped

    def _token(self, text: str) -> str:
        self._prefilled = self._prefilled or perf_counter()
        self._output_tokens += 1
        return text

    def finished(self) -> Finished:
        """Raises BackendError when the engine sent an error in place of an answer."""
        if self._error == "exceed_context_size_error":
            raise BackendError(f"The prompt is longer than the model's {SLOT_TOKENS} tokens; send less.")
        if self._error is not None:
            raise BackendError("The engine refused the request; look at its parameters.")
        now = perf_counter()
        prefilled = self._prefilled or now
        timings = self._timings
        return Finished(
            self._id,
            self._reason or "cancelled",
            prompt_tokens=int(timings.get("cache_n", 0) + timings.get("prompt_n", 0)) or self._progress.total,
            cached_tokens=int(timings.get("cache_n", self._progress.cached)),
            output_tokens=int(timings.get("predicted_n", self._output_tokens)),
            prefill_ms=timings.get("prompt_ms", (prefilled - self._started) * 1000),
            decode_ms=timings.get("predicted_ms", (now - prefilled) * 1000),
        )
