"""One model's answer to one request: decoded, and told to the client as it comes. Decides nothing about which may run."""

from collections.abc import Callable
from contextlib import aclosing
from uuid import uuid4

from msgspec import Struct

from offhook_server import metrics
from offhook_server.backends.base import Delta, Finished, Generate, Model, Progress
from offhook_server.core.answer_times import AnswerTimes
from offhook_server.core.healing import Healing
from offhook_server.core.trim import Trim
from offhook_wire.messages import (
    Lane,
    Outcome,
    Position,
    Source,
    Suggest,
    SuggestionDone,
    SuggestionRebased,
    SuggestionStarted,
    TextDelta,
)

WORD_TOKENS = 6  # of a long word
LANES: dict[Source, Lane] = {"copy": "fast", "small": "fast", "deep": "deep"}


class Answer:
    """Its events, in the order of its life, and when its steps happened."""

    def __init__(
        self,
        message: Suggest,
        source: Source,
        times: AnswerTimes,
        emit: Callable[[Struct], None],
        clock: Callable[[], float],
    ) -> None:
        self.times = times
        self._message = message
        self._source: Source = source
        self._emit = emit
        self._clock = clock
        self._suggestion_id: str | None = None
        self._sequence = -1

    def started(self, position: Position, version: int, consumed: int) -> None:
        short = self._suggestion_id = uuid4().hex[:12]
        self._emit(
            SuggestionStarted(
                request_id=self._message.request_id,
                suggestion_id=short,
                response_id=f"resp_{short}",
                item_id=f"msg_{short}",
                source=self._source,
                uri=self._message.uri,
                version=version,
                position=position,
                consumed=consumed,
                stream_id=LANES[self._source],
            )
        )

    def said(self, text: str) -> None:
        self._sequence += 1
        self.times.words_at = self.times.words_at or self._clock()
        self._emit(TextDelta(f"msg_{self._suggestion_id}", text, self._sequence, LANES[self._source]))
        self.times.handed_at = self.times.handed_at or self._clock()

    def rebased(self, version: int, consumed: int) -> None:
        assert self._suggestion_id is not None
        self._emit(SuggestionRebased(self._suggestion_id, version, consumed))

    def done(self, outcome: Outcome) -> None:
        metrics.suggestions.labels(source=self._source, outcome=outcome).inc()
        timing = self.times.timing(self._clock())
        self._emit(SuggestionDone(self._message.request_id, self._source, outcome, self._suggestion_id, timing))

    async def decode(
        self, model: Model, request: Generate, trim: Trim, healing: Healing, say: Callable[[str], None]
    ) -> None:
        """Hands what may be shown to `say`, and stops the model where nothing more will come. Raises BackendError."""
        self.times.asked_at = self._clock()
        cut = False
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case Progress():
                        self.times.prompt(piece.done, piece.total, piece.cached, self._clock())
                    case Delta(text=delta):
                        self.times.token(self._clock())
                        scarce = request.max_tokens - self.times.output_tokens <= WORD_TOKENS
                        say(trim.feed(healing.feed(delta), scarce=scarce))
                    case Finished():
                        cut = piece.reason == "length"
                        self.times.ended(piece.prompt_tokens, piece.cached_tokens, piece.output_tokens, self._clock())
                    case _:
                        pass
                if trim.ended or healing.failed:
                    break
        say(trim.finish(cut=cut))
