"""The body of a create: checked where it counts, tolerant elsewhere."""

import json
from typing import Any

import pytest

from offhook_server.core import body
from offhook_server.core.create import read_create
from offhook_server.errors import PeerError

pytestmark = pytest.mark.pure


def test_what_is_left_out() -> None:
    create = read_create("{}")
    assert (create.model, create.input, create.stored, create.warm_up) == ("fast", [], True, False)


def test_fields_that_change_nothing_are_tolerated() -> None:
    asked = {"include": ["x"], "stream_options": {}, "prompt_cache_options": {"ttl": "30m"}, "store": None}
    assert read_create(json.dumps({**asked, "type": "response.create"})).stored


def test_a_warm_up_that_is_not_stored() -> None:
    create = read_create('{"generate":false,"store":false}')
    assert create.warm_up
    assert not create.stored


@pytest.mark.parametrize(
    ("asked", "code", "param"),
    [
        ({"model": 7}, "invalid_type", "model"),
        ({"input": [7]}, "invalid_type", "input[0]"),
        ({"max_output_tokens": 0}, "invalid_type", "max_output_tokens"),
        ({"temperature": "hot"}, "invalid_type", "temperature"),
        ({"background": True}, "unsupported_parameter", "background"),
        ({"conversation": "conv_1"}, "unsupported_parameter", "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "unsupported_parameter", "prompt"),
        (
            {"conversation": "conv_1", "previous_response_id": "resp_1"},
            "mutually_exclusive_parameters",
            "previous_response_id",
        ),
    ],
)
def test_what_is_refused(asked: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(PeerError) as e:
        read_create(json.dumps(asked))
    assert (e.value.code, e.value.param) == (code, param)


@pytest.mark.parametrize(("raw", "code"), [(b"{", "invalid_json"), (b"\xff", "invalid_json"), (b"[]", "invalid_type")])
def test_what_is_no_object(raw: bytes, code: str) -> None:
    with pytest.raises(PeerError) as e:
        read_create(raw)
    assert (e.value.code, e.value.param) == (code, None)


def test_the_three_shapes_of_an_error() -> None:
    fault = PeerError("No.", code="c", param="p")
    inner = {"message": "No.", "type": "invalid_request_error", "code": "c", "param": "p"}
    assert body.error(fault) == {"error": inner}
    assert body.error_event(fault, None) == {"type": "error", "status": 400, "error": inner}
    assert body.error_event(fault, "fast") == {"type": "error", "status": 400, "error": inner, "stream_id": "fast"}
    assert body.flat_error_event(fault, 3) == {
        "type": "error",
        "code": "c",
        "message": "No.",
        "param": "p",
        "sequence_number": 3,
    }
    assert body.error(PeerError("Oh.", status=500))["error"]["type"] == "server_error"
