"""The memory of finished responses and its bounds."""

import pytest

from offhook_server.core.conversation import History
from offhook_server.core.response_store import ResponseStore, Stored

pytestmark = pytest.mark.pure


def _stored(response_id: str, size_bytes: int = 1) -> Stored:
    return Stored({"id": response_id}, History((), size_bytes))


def test_the_one_used_longest_ago_goes_first() -> None:
    store = ResponseStore(most_responses=2)
    store.put(_stored("a"))
    store.put(_stored("b"))
    assert store.get("a") is not None
    store.put(_stored("c"))
    assert store.get("b") is None
    assert store.get("a") is not None


def test_the_size_is_bounded() -> None:
    store = ResponseStore(most_bytes=10)
    store.put(_stored("a", 6))
    store.put(_stored("b", 6))
    assert store.get("a") is None
    assert store.get("b") is not None
    store.put(_stored("c", 11))
    assert store.get("b") is store.get("c") is None
    store.put(_stored("d", 10))
    assert store.get("d") is not None


def test_a_deleted_one_is_gone_with_its_size() -> None:
    store = ResponseStore(most_bytes=10)
    store.put(_stored("a", 10))
    assert store.delete("a")
    assert not store.delete("a")
    store.put(_stored("b", 10))
    assert store.get("b") is not None
