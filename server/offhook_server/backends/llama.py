"""llama.cpp inside the worker's process, through xllamacpp. Loads one GGUF file; opens no port, prints nothing.

Prompts are evaluated in batches of BATCH_TOKENS and the engine calls back after each, so a cancel in the prompt waits
for one batch (the default, 512 at a time, holds a cancelled engine for 10 s on a small machine); the callback's answer
is kept back so that it is not two (backends.holding).

Threads: one for tokens (two gain nothing there), two for prompts. OpenMP's threads spin while they wait for each other;
on a busy machine a spinning thread takes the very core its sibling needs, and a prompt of 10 s then takes minutes.
SPIN_COUNT bounds that.

Prompt-lookup: where the last LOOKUP_TOKENS tokens stood before in the request, what followed them there is taken for a
draft and verified in one step. The text is the same; where the model copies, a step makes several tokens, and
a cancel waits for a longer step.
"""

import os
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from offhook_server.backends.base import Call, Delta, Emit, Finished, Generate, Progress
from offhook_server.backends.holding import Holding, Step, Times
from offhook_server.backends.talk import WithoutTalk
from offhook_server.core.fim import PLAIN, Template, template_of_file
from offhook_server.errors import BackendError

BATCH_TOKENS = 24
DEFAULT_BATCH_TOKENS = 512  # the engine's own, of one evaluation
SLOTS = 3  # two for keystrokes, one for the rest (backends.base.Generate)
SLOT_TOKENS = 4096
PROMPT_THREADS = 2
LOOKUP_TOKENS = 4
DRAFT_TOKENS = 8  # a step that verifies so many takes as long as six tokens (measured)
SPIN_COUNT = "2000"
VOCABULARY_BYTES = 16 * 1024 * 1024  # in which the names of all its tokens are
CHECK_IT = "`offhook models verify` finds out what is wrong with it."

Chunk = dict[str, Any]
Reason = Literal["stop", "length", "cancelled", "tool_calls"]
_REASONS: dict[str, Reason] = {"stop": "stop", "length": "length", "tool_calls": "tool_calls"}


def check_file(path: Path) -> Template:
    """Looks at size and beginning; how its model fills in. Raises BackendError."""
    try:
        with path.open("rb") as file:
            beginning = file.read(VOCABULARY_BYTES)
    except OSError:
        raise BackendError(f"The model file cannot be read. {CHECK_IT}") from None
    if not beginning:
        raise BackendError(f"The model file is empty. {CHECK_IT}")
    if not beginning.startswith(b"GGUF"):
        raise BackendError(f"The model file is not a GGUF file. {CHECK_IT}")
    return template_of_file(beginning)


class LlamaEngine:
    name = "llama"

    def __init__(
        self,
        path: Path,
        *,
        batch_tokens: int | None = BATCH_TOKENS,
        slots: int = SLOTS,
        slot_tokens: int = SLOT_TOKENS,
        threads: int = PROMPT_THREADS,
        lookup: bool = False,
    ) -> None:
        """`batch_tokens` None leaves the engine's default, for comparison. `threads` are for prompts. Raises BackendError."""
        self._template = check_file(path)
        self._batch_tokens = batch_tokens or DEFAULT_BATCH_TOKENS
        self._slot_tokens = slot_tokens
        self.slots = slots
        self._times: Times = {}
        os.putenv("GOMP_SPINCOUNT", SPIN_COUNT)  # read by OpenMP when the engine's library is loaded
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = slots * slot_tokens
        params.n_parallel = slots
        if batch_tokens is not None:
            params.n_batch = params.n_ubatch = batch_tokens
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = threads
        if lookup:
            params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
            params.speculative.ngram_simple.size_n = LOOKUP_TOKENS
            params.speculative.ngram_simple.size_m = DRAFT_TOKENS
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
                    "The model file cannot be loaded: it is cut short, of a kind this engine does not know, or larger than "
                    f"the memory that is free. {CHECK_IT}"
                ) from None
        self.model = path.stem

    def generate(self, request: Generate, emit: Emit) -> Finished:
        chatty = WithoutTalk(emit, request.infill) if request.infill and self._template is PLAIN else None
        request, emit = request.as_prompt(self._template), chatty or emit
        run = _Run(request, emit, self._batch_tokens, Holding(self._times))
        body = _body(request, request.slot % self.slots)
        handle = self._server.handle_completions if request.prompt is not None else self._server.handle_chat_completions
        try:
            handle(body, run.on_chunk)
        except (RuntimeError, ValueError):
            raise BackendError("The engine refused the request; look at its tools and response format.") from None
        finished = run.finished(self._slot_tokens)
        if chatty:
            chatty.finish(request.id)
        return finished


def _body(request: Generate, slot: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "stream": True,
        "return_progress": True,
        "cache_prompt": True,
        "timings_per_token": True,  # they tell how many tokens a step made
        "id_slot": slot,
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
        self._drafted = 0  # tokens of drafts that held, so far
        self._at_once = 0  # chunks that follow this one in the same step
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
        drafted = int(self._timings.get("draft_n_accepted", 0))
        self._at_once = drafted - self._drafted if drafted > self._drafted else max(0, self._at_once - 1)
        self._drafted = drafted
        return stopped or self._emit.wait(self._hold_s(now))

    def _hold_s(self, now: float) -> float:
        """See backends.holding. Where the next chunk follows at once, nothing is kept back."""
        if self._at_once:
            return 0.0
        left = self._progress.total - self._progress.done
        step: Step | None
        if self._output_tokens:
            decoding = self._reason is None and self._output_tokens < self._most_tokens
            step = "token" if decoding else None
        else:
            step = "batch" if left >= self._batch_tokens else "rest"
        hold_s = self._holding.stepped(now, step, text_follows=left <= self._batch_tokens)
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

    def finished(self, most_tokens: int) -> Finished:
        """Raises BackendError when the engine sent an error in place of an answer."""
        if self._error == "exceed_context_size_error":
            raise BackendError(f"The prompt is longer than the model's {most_tokens} tokens; send less.")
        if self._error is not None:
            raise BackendError("The engine refused the request; look at its parameters.")
        now = perf_counter()
        prefilled = self._prefilled or now
        timings = self._timings
        return Finished(
            self._id,
            self._reason or "cancelled",
            prompt_tokens=self._progress.total or int(timings.get("cache_n", 0) + timings.get("prompt_n", 0)),
            cached_tokens=int(timings.get("cache_n", self._progress.cached)),
            output_tokens=int(timings.get("predicted_n", self._output_tokens)),
            prefill_ms=timings.get("prompt_ms", (prefilled - self._started) * 1000),
            decode_ms=timings.get("predicted_ms", (now - prefilled) * 1000),
        )
