"""What each kind of place is asked, and what its refusals mean."""

from typing import Any

import pytest

from offhook_server.backends.base import Generate
from offhook_server.backends.remote_errors import NONSENSE, Busy, CannotFillIn, refusal, unknown_field
from offhook_server.backends.remote_request import Found, found, is_loopback, sending, without_filling_in
from offhook_server.core.fim import STARCODER, Infill
from offhook_server.core.neighbours import Neighbour
from offhook_server.settings import Fim, Place

pytestmark = pytest.mark.pure

LOCAL = Place("http://127.0.0.1:8080/v1")
GAP = Infill("y = wid", "\nz", "this.py", (Neighbour("near.py", "def near(): pass"),), lead=" wid")
FILL = Generate(1, infill=GAP, max_tokens=24, temperature=0.0, stop=["\n"], slot=0, grammar="root ::= x")
PLAIN = {"model": "m", "stream": True, "max_tokens": 24, "temperature": 0.0}
COUNTED = {"stream_options": {"include_usage": True}}


def asked(fim: Fim, *, slots: int = 0) -> tuple[str, dict[str, Any], str, bool]:
    sent = sending(LOCAL, Found("m", fim, slots), FILL)
    return sent.url.removeprefix("http://127.0.0.1:8080"), sent.body, sent.lead, sent.in_words


def test_llama_cpp_is_asked_at_its_own_address_and_held_to_the_half_word() -> None:
    assert asked("infill", slots=2) == (
        "/infill",
        {
            **PLAIN,
            **COUNTED,
            "stop": ["\n"],
            "n_predict": 24,
            "input_prefix": "y =",
            "input_suffix": "\nz",
            "input_extra": [{"filename": "near.py", "text": "def near(): pass"}],
            "grammar": "root ::= x",
            "cache_prompt": True,
            "id_slot": 0,
            "return_progress": True,
        },
        "",
        False,
    )


FRONT = "# near.py\ndef near(): pass\n# this.py\n"


def test_a_suffix_goes_with_the_whole_prefix_whose_end_is_said_here() -> None:
    body = {**PLAIN, **COUNTED, "stop": ["\n"], "prompt": f"{FRONT}y = wid", "suffix": "\nz"}
    assert asked("suffix") == ("/v1/completions", body, " wid", False)


def test_mistral_has_an_address_of_its_own_and_no_stream_options() -> None:
    body = {**PLAIN, "stop": ["\n"], "prompt": f"{FRONT}y = wid", "suffix": "\nz"}
    assert asked("mistral") == ("/v1/fim/completions", body, " wid", False)


def test_the_marks_of_a_family_go_in_a_raw_prompt() -> None:
    prompt = "<file_sep>near.py\ndef near(): pass\n<file_sep><fim_prefix>this.py\ny = wid<fim_suffix>\nz<fim_middle>"
    body = {**PLAIN, **COUNTED, "prompt": prompt, "stop": [*STARCODER.marks, "\n"]}
    assert asked("starcoder") == ("/v1/completions", body, " wid", False)


def test_a_chat_model_is_asked_in_words_and_has_room_for_some() -> None:
    url, body, lead, in_words = asked("none")
    assert (url, lead, in_words) == ("/v1/chat/completions", " wid", True)
    assert "y = wid<gap/>\nz" in body["messages"][1]["content"]
    assert body["max_tokens"] == 72
    assert body.keys() == {*PLAIN, *COUNTED, "messages"}


def test_chat_goes_as_it_is() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    request = Generate(1, messages=[{"role": "user", "content": "x"}], tools=tools, tool_choice="auto", top_p=0.5)
    sent = sending(LOCAL, Found("m", "none"), request)
    assert sent.url.endswith("/v1/chat/completions")
    assert sent.body == {
        "model": "m",
        "stream": True,
        "max_tokens": 256,
        "top_p": 0.5,
        **COUNTED,
        "messages": request.messages,
        "tools": tools,
        "tool_choice": "auto",
    }


def test_fields_a_place_does_not_want_are_left_out() -> None:
    request = Generate(1, messages=[], tool_choice="auto", temperature=0.0, max_tokens=9)
    left_out = frozenset({"max_tokens", "temperature", "stream_options", "tool_choice"})
    body = {"model": "m", "stream": True, "max_completion_tokens": 9, "messages": []}
    assert sending(LOCAL, Found("m", "none"), request, left_out).body == body
    asked_in_words = sending(LOCAL, Found("m", "none"), FILL, left_out)
    assert asked_in_words.body["max_completion_tokens"] == 72


def test_a_raw_prompt_goes_as_it_is() -> None:
    sent = sending(LOCAL, Found("m", "none", slots=2), Generate(1, prompt="x", grammar="root ::= x", slot=3))
    assert sent.url.endswith("/v1/completions")
    assert (sent.body["prompt"], sent.body["grammar"], sent.body["id_slot"]) == ("x", "root ::= x", 1)


@pytest.mark.parametrize(
    ("url", "slots", "model", "owner", "fim"),
    [
        ("http://127.0.0.1:8080/v1", 4, "any", "llamacpp", "infill"),
        ("http://localhost:11434/v1", 0, "qwen2.5-coder:1.5b", "library", "suffix"),
        ("http://10.0.0.2:8000/v1", 0, "Qwen/Qwen2.5-Coder-7B", "vllm", "qwen"),
        ("http://10.0.0.2:8000/v1", 0, "meta/llama-4", "vllm", "none"),
        ("http://[::1]:1234/v1", 0, "starcoder2-3b", "organization_owner", "starcoder"),
        ("https://api.mistral.ai/v1", 0, "codestral-latest", "mistralai", "mistral"),
        ("https://api.deepseek.com/beta", 0, "deepseek-chat", "deepseek", "suffix"),
        ("https://api.deepseek.com", 0, "deepseek-chat", "deepseek", "none"),
        ("https://openrouter.ai/api/v1", 0, "qwen/qwen3-coder", "", "none"),
    ],
)
def test_what_a_place_offers_is_found_out(url: str, slots: int, model: str, owner: str, fim: Fim) -> None:
    assert found(Place(url), slots, model, owner) == Found(model, fim, slots)
    assert found(Place(url, model="chosen", fim="codellama"), slots, model, owner) == Found(
        "chosen", "codellama", slots
    )


def test_a_place_that_refuses_is_asked_by_marks_and_then_in_words() -> None:
    assert without_filling_in(Found("qwen2.5-coder", "suffix")).fim == "qwen"
    assert without_filling_in(Found("llama", "infill", 2)) == Found("llama", "none", 2)
    assert without_filling_in(Found("qwen2.5-coder", "qwen")).fim == "none"


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.9.9.9:1/v1", True),
        ("http://[::1]/v1", True),
        ("http://192.168.0.9/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://0.0.0.0/v1", False),
        ("nonsense", False),
    ],
)
def test_only_this_machine_is_this_machine(url: str, own: bool) -> None:
    assert is_loopback(Place(url)) is own


# -- refusals

VLLM_SUFFIX = (
    '{"error":{"message":"suffix is not currently supported","type":"BadRequestError","param":null,"code":400}}'
)
OLLAMA_INSERT = (
    '{"error":{"message":"registry.ollama.ai/library/devstral:latest does not support insert","type":"api_error"}}'
)
OLLAMA_MODEL = (
    '{"error":{"message":"model \\"x\\" not found, try pulling it first","type":"api_error","param":null,"code":null}}'
)
LLAMA_INFILL = (
    '{"error":{"code":501,"message":"Infill is not supported by this model: prefix token is missing.",'
    '"type":"not_supported_error"}}'
)
LLAMA_LOADING = '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}'
LLAMA_LONG = '{"error":{"code":400,"message":"request (9 tokens) exceeds the available context size (8 tokens)"}}'
OPENAI_TOKENS = (
    '{"error":{"message":"Unsupported parameter: \'max_tokens\' is not supported with this model. Use '
    '\'max_completion_tokens\' instead.","type":"invalid_request_error","param":"max_tokens",'
    '"code":"unsupported_parameter"}}'
)
OPENAI_KEY = '{"error":{"message":"Incorrect API key provided: sk-abc***","code":"invalid_api_key"}}'
MISTRAL_FIELD = '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"input":{"include_usage":true}}]}'


@pytest.mark.parametrize(
    ("status", "body", "sentence", "retryable"),
    [
        (400, VLLM_SUFFIX, 'to "none"', False),
        (400, OLLAMA_INSERT, 'to "none"', False),
        (501, LLAMA_INFILL, 'to "none"', False),
        (404, OLLAMA_MODEL, "no such model", False),
        (503, LLAMA_LOADING, "loading its model; ask again", True),
        (400, LLAMA_LONG, "send less", False),
        (413, "", "send less", False),
        (401, OPENAI_KEY, "does not accept the key", False),
        (403, "<html>", "does not accept the key", False),
        (402, '{"error":{"message":"Insufficient Balance"}}', "paid", False),
        (429, "{}", "ask again in 10 s", True),
        (500, "Internal Server Error", "fault of its own; ask again", True),
        (502, "<html>Bad Gateway</html>", "ask again", True),
        (422, '{"detail":[]}', "refused the request", False),
        (308, "", "moved", False),
        (418, "", NONSENSE, False),
    ],
)
def test_a_refusal_is_a_sentence_that_mends_it(status: int, body: str, sentence: str, retryable: bool) -> None:
    fault = refusal(status, body, filling_in=True)
    assert sentence in str(fault)
    assert fault.retryable is retryable
    assert isinstance(fault, CannotFillIn) is (sentence == 'to "none"')
    assert "sk-" not in str(fault)


def test_words_of_a_chat_are_no_reason_to_speak_of_filling_in() -> None:
    assert "refused the request" in str(refusal(400, '{"error":"insert a coin"}'))


@pytest.mark.parametrize(
    ("header", "pause_s"), [("7", 7), ("0", 1), ("99999", 3600), ("Wed, 1 Jan 2031", 10), ("", 10)]
)
def test_a_busy_place_says_for_how_long(header: str, pause_s: float) -> None:
    fault = refusal(429, "", retry_after=header)
    assert isinstance(fault, Busy)
    assert fault.pause_s == pause_s


def test_a_field_that_is_not_wanted_is_named() -> None:
    assert unknown_field(400, OPENAI_TOKENS) == "max_tokens"
    assert unknown_field(422, MISTRAL_FIELD) == "stream_options"
    assert unknown_field(400, VLLM_SUFFIX) is None
    assert unknown_field(400, '{"error":"max_tokens is too large"}') is None
    assert unknown_field(500, OPENAI_TOKENS) is None
