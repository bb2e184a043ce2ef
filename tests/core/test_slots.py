import pytest

from offhook_server.core.slots import KEYSTROKES, Slots

pytestmark = pytest.mark.pure


def test_two_documents_in_turn_keep_their_places() -> None:
    slots = Slots()
    a, b = slots.of("a"), slots.of("b")
    assert {a, b} == set(KEYSTROKES)
    assert [slots.of(uri) for uri in ("a", "b", "a", "a", "b")] == [a, b, a, a, b]


def test_a_third_takes_the_place_of_the_one_used_longest_ago() -> None:
    slots = Slots()
    a, b = slots.of("a"), slots.of("b")
    slots.of("a")
    assert slots.of("c") == b
    assert slots.of("a") == a
    assert slots.of("b") == b  # and now c has to go
    assert slots.of("c") == a
