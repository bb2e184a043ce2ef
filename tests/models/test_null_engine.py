"""The null engine keeps the promises of a back end: it streams, counts, caches, obeys the script and stops when told."""

import threading

import pytest

from offhook_server.backends.base import Call, Delta, Finished, Generate, Piece, Progress
from offhook_server.backends.null import NullEngine
from offhook_server.errors import BackendError

pytestmark = pytest.mark.loopback  # it waits on real threads


class Ticket:
    """Collects; is cancelled when `stop_at` pieces have come."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.pieces: list[Piece] = []
        self.cancelled = threading.Event()
        self._stop_at = stop_at

    def __call__(self, piece: Piece) -> bool:
        self.pieces.append(piece)
        if len(self.pieces) == self._stop_at:
            self.cancelled.set()
        return self.cancelled.is_set()

    def wait(self, seconds: float | None) -> bool:
        return self.cancelled.wait(seconds)

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, Delta))


def chat(text: str, **more: object) -> Generate:
    return Generate(1, messages=[{"role": "user", "content": text}], **more)  # type: ignore[arg-type]  # keywords of tests


def run(request: Generate, ticket: Ticket | None = None, engine: NullEngine | None = None) -> tuple[Finished, Ticket]:
    ticket = ticket or Ticket()
    return (engine or NullEngine()).generate(request, ticket), ticket


def test_answers_a_chat_with_the_last_user_message() -> None:
    finished, ticket = run(chat("hello there"))
    assert ticket.text == "This is the null engine. You said: hello there"
    assert finished.reason == "stop"
    assert finished.output_tokens == len(ticket.text.split())


def test_reads_content_that_comes_in_parts() -> None:
    request = Generate(1, messages=[{"role": "user", "content": [{"type": "text", "text": "[[say: parts]]"}]}])
    assert run(request)[1].text == "parts"


def test_goes_on_with_code_and_always_the_same() -> None:
    texts = {run(Generate(1, prompt="def total(items):\n    "))[1].text for _ in range(3)}
    assert len(texts) == 1
    assert texts.pop().endswith("\n")


def test_says_what_it_is_told_and_stops_at_a_stop_string() -> None:
    assert run(chat(r"[[say: one\ntwo three]]"))[1].text == "one\ntwo three"
    assert run(chat(r"[[say: one\ntwo three]]", stop=["\n"]))[1].text == "one"


def test_counts_tokens_to_order_and_ends_at_the_limit() -> None:
    finished, _ = run(chat("[[tokens: 50]]"))
    assert (finished.output_tokens, finished.reason) == (50, "stop")
    finished, _ = run(chat("[[tokens: 50]]", max_tokens=7))
    assert (finished.output_tokens, finished.reason) == (7, "length")


def test_calls_the_tool_it_is_told_to() -> None:
    finished, ticket = run(chat('[[call: weather {"city":"Rome"}]] [[call: time]]'))
    calls = [piece for piece in ticket.pieces if isinstance(piece, Call)]
    assert finished.reason == "tool_calls"
    assert [(call.index, call.name) for call in calls if call.name] == [(0, "weather"), (1, "time")]
    assert "".join(call.arguments for call in calls if call.index == 0) == '{"city":"Rome"}'
    assert [bool(call.call_id) for call in calls] == [True, False, True, False]


@pytest.mark.parametrize(
    "choice",
    ["required", {"type": "function", "function": {"name": "weather"}}, {"type": "function", "name": "weather"}],
)
def test_calls_a_tool_when_the_request_forces_one(choice: object) -> None:
    tools = [{"type": "function", "function": {"name": "weather"}}]
    finished, ticket = run(chat("how is it?", tools=tools, tool_choice=choice))
    assert finished.reason == "tool_calls"
    assert [piece.name for piece in ticket.pieces if isinstance(piece, Call) and piece.name] == ["weather"]


def test_tells_what_a_tool_said_and_does_not_call_again() -> None:
    messages = [{"role": "user", "content": "[[call: weather]]"}, {"role": "tool", "content": "sunny"}]
    tools = [{"type": "function", "function": {"name": "weather"}}]
    finished, ticket = run(Generate(1, messages=messages, tools=tools, tool_choice="required"))
    assert ticket.text == "The tool said: sunny"
    assert finished.reason == "stop"


def test_each_slot_remembers_its_own_prompt() -> None:
    engine = NullEngine()
    run(Generate(1, prompt="a b c d", slot=0), engine=engine)
    again, ticket = run(Generate(2, prompt="a b c d e", slot=0), engine=engine)
    other, _ = run(Generate(3, prompt="a b c d e", slot=1), engine=engine)
    assert (again.prompt_tokens, again.cached_tokens, other.cached_tokens) == (5, 4, 0)
    assert ticket.pieces[0] == Progress(2, 4, 5, 4)


def test_a_prompt_cancelled_half_way_is_cached_half_way() -> None:
    engine = NullEngine()
    prompt = " ".join(map(str, range(64)))
    finished, _ = run(Generate(1, prompt=prompt, slot=0), Ticket(stop_at=3), engine)
    assert (finished.reason, finished.output_tokens) == ("cancelled", 0)
    assert run(Generate(2, prompt=prompt, slot=0), engine=engine)[0].cached_tokens == 32


@pytest.mark.parametrize("slow", ["[[prefill_ms: 1000000]]", "[[token_ms: 1000000]]", "[[hang]]"])
def test_a_wait_ends_with_the_cancel(slow: str) -> None:
    ticket = Ticket()
    threading.Timer(0.01, ticket.cancelled.set).start()
    assert run(chat(slow), ticket)[0].reason == "cancelled"


def test_fails_after_its_text_when_told() -> None:
    ticket = Ticket()
    with pytest.raises(BackendError, match="told to fail"):
        run(chat("[[say: so far]][[fail]]"), ticket)
    assert ticket.text == "so far"
