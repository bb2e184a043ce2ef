"""Positions, edits and hashes agree with the plain string they stand for, in all three encodings."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from offhook_wire.text import ENCODINGS, Encoding, OutOfText, Point, Text, advance, index_of, text_hash, units_of

pytestmark = pytest.mark.pure

CHARACTERS = st.sampled_from("ab (\n\n\t\u00e9e\u0301\u8bb7\U0001f642\r\u200d\U0001f469")
TEXTS = st.text(CHARACTERS, max_size=40) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
UNIT = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def wire_position(text: str, offset: int, encoding: Encoding) -> tuple[int, int]:
    """The model: line and units of an offset of a plain string."""
    *above, head = text[:offset].split("\n")
    codec, size = UNIT[encoding]
    return len(above), len(head.encode(codec)) // size


@st.composite
def replacements(draw: st.DrawFn) -> tuple[str, int, int, str]:
    text = draw(TEXTS)
    start = draw(st.integers(0, len(text)))
    return text, start, draw(st.integers(start, len(text))), draw(TEXTS)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(replacements())
@example(("a\U0001f642\nb", 2, 3, ""))
def test_replace_does_what_slicing_a_string_does(encoding: Encoding, case: tuple[str, int, int, str]) -> None:
    before, start, end, new = case
    text = Text(before)
    points = [text.point(*wire_position(before, offset, encoding), encoding) for offset in (start, end)]

    edit = text.replace(points[0], points[1], new)

    after = before[:start] + new + before[end:]
    assert str(text) == after
    assert edit.removed == before[start:end]
    assert (edit.new_end.line, text.units(edit.new_end, encoding)) == wire_position(after, start + len(new), encoding)
    assert text.hash == text_hash(after)


@given(TEXTS, st.data())
def test_before_and_after_are_whole_lines_around_the_point(plain: str, data: st.DataObject) -> None:
    text = Text(plain)
    offset = data.draw(st.integers(0, len(plain)))
    point = advance(Point(0, 0), plain[:offset])

    assert text.between(Point(0, 0), point) == plain[:offset]
    assert text.between(point, text.end) == plain[offset:]
    assert text.before(point, 1) == "\n".join(plain[:offset].split("\n")[-2:])
    assert text.after(point, 1) == "\n".join(plain[offset:].split("\n")[:2])


def test_a_caret_behind_an_emoji_has_another_number_in_each_encoding() -> None:  # T8a
    line = 's = "\U0001f642\u00e9\u8bb7" + '
    text = Text(line)

    assert [text.units(Point(0, 12), encoding) for encoding in ("utf-32", "utf-16", "utf-8")] == [12, 13, 18]
    text.replace(text.point(0, 13, "utf-16"), text.point(0, 13, "utf-16"), "name")
    assert str(text) == line + "name"


@pytest.mark.parametrize(
    ("line", "units", "encoding"),
    [
        ("\U0001f642", 1, "utf-16"),
        ("\U0001f642b", 1, "utf-16"),
        ("\u00e9", 1, "utf-8"),
        ("\u00e9b", 1, "utf-8"),
        ("a", -1, "utf-32"),
    ],
)
def test_a_place_inside_a_character_is_no_place(line: str, units: int, encoding: Encoding) -> None:
    with pytest.raises(OutOfText):
        index_of(line, units, encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_past_the_end_of_a_line_means_its_end(encoding: Encoding) -> None:
    assert index_of("ab", 99, encoding) == 2
    assert index_of("\u8bb7", 99, encoding) == 1
    assert units_of("ab\u8bb7", 2, encoding) == 2


@pytest.mark.parametrize("line", [-1, 2])
def test_a_line_too_far_is_no_place(line: int) -> None:
    with pytest.raises(OutOfText):
        Text("a\nb").point(line, 0, "utf-16")


def test_a_range_does_not_end_before_it_starts() -> None:
    text = Text("abc")
    with pytest.raises(OutOfText):
        text.replace(Point(0, 2), Point(0, 1), "")
    assert str(text) == "abc"


def test_the_hash_is_blake2b_128_of_the_utf8_text() -> None:
    assert text_hash("") == "b2:cae66941d9efbd404e4d88758ea67670"
    assert text_hash("\u8bb7\n") != text_hash("\u8bb7")
