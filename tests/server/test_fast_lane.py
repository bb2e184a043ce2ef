"""The fast lane with a small model that says what it is told: how it is asked, and what of its words becomes a ghost."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest

from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.bench.ghost import NoCopyModel, Place, ghost_at
from offhook_server.lanes.fast import BLOCK_TOKENS, LINE_TOKENS

pytestmark = pytest.mark.loopback


@dataclass
class Model:
    """Says one delta after the other, as many as it may."""

    deltas: list[str]
    name: str = "fake"
    asked: list[Generate] = field(default_factory=list)

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        self.asked.append(request)
        yield Progress(request.id, 9, 9, 0)
        for delta in self.deltas[: request.max_tokens]:
            yield Delta(request.id, delta)
        cut = len(self.deltas) >= request.max_tokens
        yield Finished(request.id, "length" if cut else "stop")


async def ghost(model: Model, before: str, after: str = "") -> str:
    return (await ghost_at(Place("a.py", before, after), NoCopyModel(), model)).text


async def test_behind_a_colon_the_block_below_is_suggested() -> None:
    model = Model(["\n", "    return", " 1", "\n", "\n\n", "def g"])
    assert await ghost(model, "def f():") == "\n    return 1"
    assert (model.asked[0].stop, model.asked[0].max_tokens) == ([], BLOCK_TOKENS)


async def test_behind_a_colon_with_a_block_only_the_line_is_asked_for() -> None:
    model = Model(["  #", " why"])
    assert await ghost(model, "def f():", "\n    return 1\n") == "  # why"
    assert (model.asked[0].stop, model.asked[0].max_tokens) == (["\n"], LINE_TOKENS)


async def test_a_word_cut_off_by_the_limit_is_not_shown() -> None:
    assert await ghost(Model(["a", "+"] * 10 + ["self", ".", "wi", "d", "th"]), "x = ") == "a+" * 10
    assert await ghost(Model(["a", "+"] * 10 + ["self", ".", "w"]), "x = ") == "a+" * 10 + "self.w"


async def test_no_answer_leaves_the_call_it_was_asked_for_in() -> None:
    assert await ghost(Model(["b", ", c", "), d"]), "f(a, ", ")\n") == "b, c"
