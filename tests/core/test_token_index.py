"""The index's own stories: long files, steps, and the memory of what was dropped."""

import pytest

from offhook_server.core.copying import Caret, CopyIndex
from offhook_server.core.token_index import MOST_STEPS, SEGMENT_TOKENS, TokenIndex
from offhook_server.core.tokens import MOST_CHARS, MOST_LINE_CHARS, UNKNOWN, indexable, pieces, split, with_lf

pytestmark = pytest.mark.pure

LONG = "".join(f"key_{n}.go(kind, {n})\n" for n in range(8_000))


def said(index: CopyIndex, before: str, name: str = "here", hidden: range = range(0)) -> str | None:
    guess = index.suggest(Caret(name, before, hidden=hidden))
    return guess.text if guess else None


@pytest.fixture(scope="module")
def long_text() -> str:
    assert sum(map(len, pieces(LONG))) > SEGMENT_TOKENS
    return LONG


def test_a_file_longer_than_a_segment_is_one_file(long_text: str) -> None:
    index = CopyIndex()
    index.put("long", long_text)
    for line in (0, 1, 3_000, 7_999):
        before = f"\nkey_{line}."
        assert said(index, before) == f"go(kind, {line})"
        assert said(index, before, "long", range(line, line + 1)) != f"go(kind, {line})"
        assert said(index, before, "long", range(line + 1, line + 2)) == f"go(kind, {line})"
    guess = index.suggest(Caret("here", "\nkey_7900.", prompt_from=0))
    assert guess is not None
    assert guess.neighbours[-1].text.startswith("key_7896.go")


def test_a_file_is_seen_when_its_last_step_is_done(long_text: str) -> None:
    index = CopyIndex()
    index.put("long", "key_1.old\n")
    before = "\nkey_1."
    for _ in index.putting("long", long_text):
        assert said(index, before) == "old"
    assert said(index, before) == "go(kind, 1)"


def test_a_put_given_up_leaves_what_was_there(long_text: str) -> None:
    index = CopyIndex()
    index.put("long", "key_1.old\n")
    steps = index.putting("long", long_text)
    next(steps)
    steps.close()
    assert said(index, "\nkey_1.") == "old"
    index.put("other", "key_9999.new\n")
    assert said(index, "\nkey_9999.") == "new"


def test_memory_does_not_grow_with_the_number_of_puts() -> None:
    index = CopyIndex()
    index.put("kept", "kept(one, two)\n")
    text = LONG[:60_000]
    sizes = []
    for _ in range(12):
        index.put("edited", text)
        sizes.append(index.bytes)
    assert max(sizes) < sizes[2] * 1.5
    assert said(index, "kept(one, ") == "two)"
    assert said(index, "\nkey_1.") == "go(kind, 1)"
    assert not index.untidy


def test_a_file_as_long_as_a_segment_is_tidied_once() -> None:
    index = CopyIndex()
    line = "a b c d e f g h i j\n"  # 20 tokens
    index.put("half", line * (SEGMENT_TOKENS // 20 * 2 // 3))
    for more in range(4):
        index.put("long", line * (SEGMENT_TOKENS // 20 - 1) + f"x{more}\n")
        assert not index.untidy


def test_long_chains_of_dropped_places_are_walked_in_part_only() -> None:
    index = CopyIndex()
    index.put("kept", "a b c\n")
    index.put("gone", "a b c\n" * (MOST_STEPS + 1))
    index.drop("gone")
    assert said(index, "a b ") is None
    assert said(index, "a") is None


def test_a_segment_filled_to_the_brim() -> None:
    index = TokenIndex()
    index.put("full", "x" + ";" * (SEGMENT_TOKENS - 3))  # with what stands before it and the line's start
    index.put("next", "go(a)")
    assert sorted(index.files) == ["full", "next"]
    index.drop("full")
    assert index.untidy
    index.drop("next")
    index.put("again", "go(b)")
    assert not index.untidy


def test_pieces_are_the_whole_text_and_begin_with_lines() -> None:
    cut = list(pieces(LONG))
    assert "".join("".join(piece) for piece in cut) == LONG
    assert all(piece[0].startswith("\n") for piece in cut[1:])


def test_numbers_stay() -> None:
    vocabulary = TokenIndex().vocabulary
    numbers = vocabulary.number(["a", "b", "a", "\n  "])
    assert vocabulary.number(["a", "b", "a", "\n  "]) == numbers
    assert vocabulary.spell(numbers) == "aba\n  "
    assert vocabulary.find(["b", "c"]) == [numbers[1], UNKNOWN]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a.b1 = 2.5", ["a", ".", "b1", " ", "=", " ", "2.5"]),
        ('"""x"""', ['"""', "x", '"""']),
        ("a\n\t b", ["a", "\n\t ", "b"]),
        ("größe+x²", ["größe", "+", "x²"]),
        ("y" * 70, ["y" * 64, "y" * 6]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert split(text) == tokens


def test_line_ends_are_lf() -> None:
    assert with_lf("a\r\nb\rc\n") == "a\nb\nc\n"


def test_what_no_person_wrote_is_not_indexed() -> None:
    assert indexable("a\n" * 100)
    assert indexable("x" * MOST_LINE_CHARS)
    assert not indexable("a\n" + "x" * (MOST_LINE_CHARS + 1) + "\n")
    assert not indexable("\n" * (MOST_CHARS + 1))
