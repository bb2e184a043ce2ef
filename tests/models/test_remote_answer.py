"""The chunks that real servers send, turned into pieces; and what is no answer at all."""

import json
from typing import Any

import pytest

from offhook_server.backends.base import Call, Delta, Finished, Piece, Progress
from offhook_server.backends.remote_answer import Answer
from offhook_server.backends.remote_errors import CUT, ENDLESS, NONSENSE, TALK
from offhook_server.core.code_only import CodeOnly
from offhook_server.core.fim import Infill
from offhook_server.errors import BackendError
from support.fake_place import DONE, chat, text, usage

pytestmark = pytest.mark.pure

GAP = Infill("area = wid", ")\n", "this.py", (), lead=" wid")


def read(*chunks: Any, answer: Answer | None = None) -> list[Piece | Finished]:
    answer = answer or Answer(7, 64)
    pieces = [
        piece for chunk in chunks for piece in answer.take(chunk if isinstance(chunk, str) else json.dumps(chunk))
    ]
    return [*pieces, *answer.end(3.0, 4.0)]


def test_openais_chat() -> None:
    chunks = [chat("", role="assistant"), chat("Hel"), chat("lo"), chat(finish="stop"), usage(9, 2, 5), DONE]
    assert read(*chunks) == [Delta(7, "Hel"), Delta(7, "lo"), Finished(7, "stop", 9, 5, 2, 3.0, 4.0)]


def test_completions_without_figures_are_counted_here() -> None:
    assert read(text("a"), text(" b", "length")) == [
        Delta(7, "a"),
        Delta(7, " b"),
        Finished(7, "length", 0, 0, 2, 3.0, 4.0),
    ]


def test_deepseeks_word_for_what_was_cached_and_null_where_nothing_is() -> None:
    counted = {"prompt_tokens": 8, "completion_tokens": 1, "prompt_cache_hit_tokens": 6, "prompt_tokens_details": None}
    chunk = chat("x", finish="stop", reasoning_content=None, tool_calls=None) | {"usage": counted, "error": None}
    assert read(chunk) == [Delta(7, "x"), Finished(7, "stop", 8, 6, 1, 3.0, 4.0)]


def test_thinking_is_not_said() -> None:
    assert read(chat(reasoning_content="Hm."), chat("x"), chat(finish="stop"))[:1] == [Delta(7, "x")]
    parts: Any = [{"type": "thinking", "thinking": []}]
    assert isinstance(read(chat(parts), DONE)[0], Finished)


def test_tool_calls_in_pieces_and_whole() -> None:
    def part(index: int | None, id: str | None, name: str | None, arguments: str | None) -> dict[str, Any]:
        call = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        return chat(tool_calls=[call])

    assert read(
        part(0, "c1", "f", ""), part(0, None, None, '{"a"'), part(0, None, None, ":1}"), chat(finish="stop")
    ) == [
        Call(7, 0, "c1", "f", ""),
        Call(7, 0, "", "", '{"a"'),
        Call(7, 0, "", "", ":1}"),
        Finished(7, "tool_calls", 0, 0, 0, 3.0, 4.0),
    ]
    assert read(part(None, "c1", "f", "{}"), part(None, "c2", "g", "{}"), chat(finish="tool_calls"))[:2] == [
        Call(7, 0, "c1", "f", "{}"),
        Call(7, 1, "c2", "g", "{}"),
    ]


def test_llama_cpps_own_stream() -> None:
    chunks = [
        {"prompt_progress": {"total": 9, "cache": 4, "processed": 4, "time_ms": 0}, "content": "", "stop": False},
        {"index": 0, "content": "a + b", "tokens": [1], "stop": False, "id_slot": 0, "tokens_predicted": 1},
        {
            "content": "",
            "stop": True,
            "stop_type": "limit",
            "timings": {"cache_n": 4, "prompt_n": 5, "predicted_n": 3, "prompt_ms": 20.5, "predicted_ms": 30.5},
        },
    ]
    assert read(*chunks) == [
        Progress(7, 4, 9, 4),
        Delta(7, "a + b"),
        Finished(7, "length", 9, 4, 3, 20.5, 30.5),
    ]
    assert read({"content": "a", "stop": True, "stop_type": "eos"})[-1] == Finished(7, "stop", 0, 0, 1, 3.0, 4.0)


def test_the_half_word_is_said_for_a_model_that_was_told_it() -> None:
    answer = Answer(7, 64, CodeOnly.of(GAP, asked_in_words=False), GAP.lead)
    assert read(text("th *"), text(" h", "stop"), answer=answer)[:2] == [Delta(7, " wid" + "th *"), Delta(7, " h")]
    answer = Answer(7, 64, CodeOnly.of(GAP, asked_in_words=False), GAP.lead)
    assert read(text("", "stop"), answer=answer) == [Finished(7, "stop", 0, 0, 0, 3.0, 4.0)]


def test_of_an_answer_in_words_only_the_code_is_left_and_its_end_is_the_end() -> None:
    answer = Answer(7, 64, CodeOnly.of(GAP, asked_in_words=True), GAP.lead)
    pieces = answer.take(json.dumps(chat("Sure:\n```\nwidth * h\n```\nThat")))
    assert pieces == [Delta(7, " width * h")]
    assert (answer.done, answer.cut_off) == (True, True)
    assert answer.take(json.dumps(chat(" is all."))) == []
    assert answer.end(0, 0) == [Finished(7, "stop", 0, 0, 1)]


def test_talk_in_place_of_code_is_a_fault() -> None:
    answer = Answer(7, 64, CodeOnly.of(GAP, asked_in_words=False), GAP.lead)
    with pytest.raises(BackendError, match=TALK):
        read(text("Sure! "), text("I can help you with that.", "stop"), answer=answer)


@pytest.mark.parametrize(
    "chunk", ["<html>", "[]", '"x"', "{", '{"choices": 5}', '{"choices": [{"text": 7}]}', '{"usage": "much"}']
)
def test_garbage_is_said_to_be_some(chunk: str) -> None:
    with pytest.raises(BackendError, match=NONSENSE) as raised:
        read(chunk)
    assert not raised.value.retryable


def test_a_stream_that_ends_too_early() -> None:
    with pytest.raises(BackendError, match=CUT) as raised:
        read(chat("x"))
    assert raised.value.retryable
    with pytest.raises(BackendError, match=NONSENSE):
        read()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ({"message": "the model crashed on: print(", "code": None}, "fault of its own"),
        ("print(", "fault of its own"),
        ({"message": "slow down", "code": 429}, "ask again in 10 s"),
        ({"message": "context length exceeded", "code": 400}, "send less"),
    ],
)
def test_an_error_in_the_middle(error: Any, sentence: str) -> None:
    with pytest.raises(BackendError, match=sentence) as raised:
        read(chat("x"), {"error": error})
    assert "print(" not in str(raised.value)


def test_a_model_that_does_not_stop() -> None:
    with pytest.raises(BackendError, match=ENDLESS):
        read(*[chat("again and ") for _ in range(1000)])
