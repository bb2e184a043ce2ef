"""A client that was cut off gets exactly what it missed, in order, or is told that some of it is gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core.replay import KEEP_BYTES, KEEP_S, Replay, Sent

pytestmark = pytest.mark.pure


def sent(*names: str, at: float = 0.0, size: int = 0) -> list[Sent]:
    """`3` is the session's event 3, `a2` the delta 2 of the text a."""
    frames = [name.encode().ljust(size) for name in names]
    return [
        Sent(at, int(name.lstrip("ab")), None if name.isdigit() else name[0], frame)
        for name, frame in zip(names, frames, strict=True)
    ]


def kept(*frames: Sent) -> Replay:
    record = Replay()
    for frame in frames:
        record.add(frame)
    return record


def names(frames: list[bytes] | None) -> str | None:
    return None if frames is None else b" ".join(frame.strip() for frame in frames).decode()


def test_events_and_texts_go_on_where_the_client_stopped() -> None:
    record = kept(*sent("0", "a0", "a1", "1", "b0", "a2", "2"))
    assert names(record.since(1, {"a": 1, "b": 0})) == "a2 2"
    assert names(record.since(0, {"a": 0})) == "a1 1 b0 a2 2"
    assert names(record.since(-1, {})) == "0 a0 a1 1 b0 a2 2"
    assert names(record.since(2, {})) == ""


def test_a_text_the_client_no_longer_lists_does_not_come_again() -> None:
    assert names(kept(*sent("0", "a0", "1", "b0")).since(1, {})) == "b0"


def test_a_delta_may_have_overtaken_an_event_by_merging() -> None:
    assert names(kept(*sent("0", "a0", "1", "a1")).since(0, {"a": 1})) == "1"


def test_after_a_minute_frames_are_let_go() -> None:
    record = kept(*sent("0", "a0", "1"), *sent("2", at=KEEP_S + 1))
    assert names(record.since(1, {})) == "2"
    assert record.since(0, {"a": 0}) is None


def test_deltas_let_go_are_missed_only_by_who_has_not_seen_them() -> None:
    record = kept(*sent("0", "a0"), *sent("a1", "1", at=KEEP_S + 1))
    assert names(record.since(0, {"a": 0})) == "a1 1"
    assert record.since(0, {}) is None


@pytest.mark.parametrize("size", [KEEP_BYTES // 2, KEEP_BYTES + 1])
def test_only_so_many_bytes_are_kept(size: int) -> None:
    record = kept(*sent("0", "1", "2", size=size))
    assert record.since(-1, {}) is None
    assert names(record.since(2, {})) == ""


@given(st.lists(st.sampled_from("0aab"), max_size=20), st.data())
def test_whatever_was_seen_the_rest_follows_or_is_known_to_be_gone(kinds: list[str], data: st.DataObject) -> None:
    numbers = dict.fromkeys("0ab", -1)
    frames, now = [], 0.0
    for kind in kinds:
        now += KEEP_S / data.draw(st.sampled_from([1, 4, 100]), label="gap")
        numbers[kind] += 1
        frames += sent(f"{kind}{numbers[kind]}".removeprefix("0"), at=now)
    record = kept(*frames)
    seen = frames[: data.draw(st.integers(0, len(frames)), label="seen")]
    last_seq = max((s.number for s in seen if s.item is None), default=-1)
    items = {s.item: s.number for s in seen if s.item}

    missed = record.since(last_seq, items)

    rest = [s.frame for s in frames[len(seen) :]]
    gone = [s for s in frames[len(seen) :] if now - s.at > KEEP_S]
    assert missed == (None if gone else rest)
