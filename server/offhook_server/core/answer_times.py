"""When the steps of one answer happened, and the milliseconds between them. Not the steps, not a clock.

    read ─ mirrored ─ copied ┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈ first words ─ handed to the socket   the copy model
                    └ asked ─ reached the engine ─ prompt read ─ first token ┘                       a language model

Each part counts from the newest step before it, so the parts add up to `ttft_ms` also where a step is missing.
"""

from dataclasses import dataclass

from offhook_wire.messages import Timing


@dataclass(slots=True)
class AnswerTimes:
    """Loop seconds; None: has not happened, or cannot happen with this model."""

    read_at: float
    mirrored_at: float
    copied_at: float | None = None
    asked_at: float | None = None
    reached_at: float | None = None
    prompt_read_at: float | None = None
    first_token_at: float | None = None
    newest_token_at: float | None = None
    words_at: float | None = None
    handed_at: float | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    @property
    def first_token_s(self) -> float | None:
        """From asking the model to its first token."""
        if self.first_token_at is None or self.asked_at is None:
            return None
        return self.first_token_at - self.asked_at

    def prompt(self, done: int, total: int, cached: int, now: float) -> None:
        """So many of the prompt's tokens are evaluated or came from the cache."""
        self.reached_at = self.reached_at or now
        self.prompt_tokens, self.cached_tokens = total, cached
        if done >= total:
            self.prompt_read_at = self.prompt_read_at or now

    def token(self, now: float) -> None:
        """A piece of text. Engines send one for a token; how many they really were tells `ended`, where it comes."""
        self.first_token_at = self.first_token_at or now
        self.newest_token_at = now
        self.output_tokens += 1

    def ended(self, prompt_tokens: int, cached_tokens: int, output_tokens: int, now: float) -> None:
        """The engine ended by itself: its own counts hold. Its last token may be one without text."""
        if self.first_token_at is not None:
            self.newest_token_at = now
        self.prompt_tokens, self.cached_tokens, self.output_tokens = prompt_tokens, cached_tokens, output_tokens

    def timing(self, now: float) -> Timing:
        steps = {
            "mirrored_ms": self.mirrored_at,
            "copied_ms": self.copied_at,
            "waited_ms": self.asked_at,
            "queue_ms": self.reached_at,
            "prefill_ms": self.prompt_read_at,
            "first_token_ms": self.first_token_at,
            "first_words_ms": self.words_at,
            "handed_ms": self.handed_at,
        }
        parts_ms: dict[str, float] = {}
        before = self.read_at
        for name, at in steps.items():
            if at is not None:
                parts_ms[name] = _ms(at - before)
                before = at
        first_at, newest_at = self.first_token_at, self.newest_token_at
        return Timing(
            **parts_ms,
            ttft_ms=0.0 if self.handed_at is None else round(sum(parts_ms.values()), 3),
            total_ms=_ms(now - self.read_at),
            decode_ms=0.0 if first_at is None or newest_at is None else _ms(newest_at - first_at),
            read_at_ms=_ms(self.read_at),
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.output_tokens,
        )


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)
