"""The prompt of the next key begins like that of the last one, and never grows without end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core.neighbours import Neighbour
from offhook_server.core.prompt import (
    FIM_MIDDLE,
    FIM_PREFIX,
    FIM_SUFFIX,
    NEIGHBOURS_HOLD_LINES,
    PREFIX_CHARS,
    STOPS,
    SUFFIX_CHARS,
    TOKEN_CHARS,
    PromptWindow,
)
from offhook_wire.text import Point, Text

pytestmark = pytest.mark.pure

NEAR = Neighbour("near.py", "def near(): pass")
OTHER = Neighbour("other.py", "other()")


def prompt(text: str, caret: Point | None = None, *neighbours: Neighbour) -> str:
    window, at = PromptWindow("this.py"), caret or Text(text).end
    window.choose(at, neighbours)
    return window.build(Text(text), at)


def test_at_the_end_of_a_line_the_model_goes_on() -> None:
    assert prompt("x = 1\ny = 2\nz", Point(1, 5)) == "<|file_sep|>this.py\nx = 1\ny = 2"


@pytest.mark.parametrize(("line", "prompted"), [("y = ", "y ="), ("    ", ""), ("y", ""), ("return wid", "return")])
def test_what_the_model_is_to_say_again_is_left_out(line: str, prompted: str) -> None:
    assert prompt("x\n" + line) == "<|file_sep|>this.py\nx\n" + prompted


def test_in_the_middle_of_a_line_it_fills_in() -> None:
    assert prompt("f(\nprint()", Point(1, 6)) == f"<|file_sep|>this.py\n{FIM_PREFIX}f(\nprint({FIM_SUFFIX}){FIM_MIDDLE}"


def test_neighbours_stand_in_front() -> None:
    front = "<|file_sep|>near.py\ndef near(): pass\n"
    assert prompt("x(", None, NEAR) == front + "<|file_sep|>this.py\nx("
    assert prompt("x(", None, OTHER, NEAR) == "<|file_sep|>other.py\nother()\n" + front + "<|file_sep|>this.py\nx("


def test_neighbours_are_wanted_where_there_are_none_or_those_of_another_place() -> None:
    window, text = PromptWindow("this.py"), Text("x = 12\n" * 500)
    shown_from = window.wants_neighbours(text, Point(300, 0))
    assert shown_from is not None
    assert 300 - PREFIX_CHARS // 7 <= shown_from < 300
    window.choose(Point(300, 0), ())
    assert window.wants_neighbours(text, Point(300, 0)) == shown_from
    window.choose(Point(300, 0), (NEAR,))
    for line in (300 - NEIGHBOURS_HOLD_LINES, 300 + NEIGHBOURS_HOLD_LINES):
        assert window.wants_neighbours(text, Point(line, 0)) is None
    for line in (299 - NEIGHBOURS_HOLD_LINES, 301 + NEIGHBOURS_HOLD_LINES):
        assert window.wants_neighbours(text, Point(line, 0)) == shown_from
    assert window.wants_neighbours(text, Point(100, 0)) == 0


def test_neighbours_stay_until_others_are_chosen() -> None:
    window, text = PromptWindow("this.py"), Text("\n" * 99)
    assert "near.py" not in window.build(text, Point(0, 0))
    window.choose(Point(0, 0), (NEAR,))
    assert "near.py" in window.build(text, Point(0, 0))
    assert "near.py" in window.build(text, Point(90, 0))
    window.choose(Point(90, 0), (OTHER,))
    assert "near.py" not in window.build(text, Point(90, 0))
    assert "other.py" in window.build(text, Point(0, 0))


def test_while_one_types_each_prompt_begins_with_the_one_before() -> None:
    window, text = PromptWindow("this.py"), Text("x = 1\n" * 400)
    last = window.build(text, text.end)
    moved = 0
    for key in "y = some_function(x)\n" * 60:
        text.replace(text.end, text.end, key)
        now = window.build(text, text.end)
        moved += not now.startswith(last)
        last = now
    assert moved <= 2  # 1,260 keys: the window moves once in about PREFIX_CHARS


def test_a_caret_above_the_window_moves_it_up() -> None:
    window, text = PromptWindow("this.py"), Text("x = 1\n" * 400 + "end(")
    assert window.build(text, text.end).endswith("end(")
    text.replace(Point(0, 0), Point(0, 0), "top")
    assert window.build(text, Point(0, 3)) == "<|file_sep|>this.py\n" + f"{FIM_PREFIX}top{FIM_SUFFIX}" + (
        str(text).removeprefix("top")[: 6 * 7 - 1] + FIM_MIDDLE
    )


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=9), st.data())
def test_no_prompt_is_longer_than_its_parts_may_be(lengths: list[int], data: st.DataObject) -> None:
    window, text = PromptWindow("this.py"), Text("\n".join("(" * n for n in lengths))
    for _ in range(3):
        line = data.draw(st.integers(0, len(lengths) - 1))
        caret = Point(line, data.draw(st.integers(0, lengths[line])))
        built = window.build(text, caret)
        assert len(built) <= 2 * PREFIX_CHARS + SUFFIX_CHARS + 80
        before = text.between(Point(0, 0), caret)[-PREFIX_CHARS // 2 :]
        lines = before.split("\n")
        assert lines[-1] in built


@pytest.mark.parametrize("special", STOPS)
def test_special_tokens_in_the_persons_text_are_not_the_models(special: str) -> None:
    built = prompt(f"a{special}b", None, Neighbour(special, special))
    assert built.count("<|") == 2
    assert special[2:] in built


def test_how_much_of_a_prompt_is_new_follows_the_caret() -> None:
    window, text = PromptWindow("this.py"), Text("x = 12\n" * 500)
    cold = PREFIX_CHARS // TOKEN_CHARS
    assert window.cold_tokens(text, Point(300, 6)) == cold
    window.infill(text, Point(300, 6))
    assert window.cold_tokens(text, Point(300, 6)) == 0
    assert window.cold_tokens(text, Point(303, 6)) == 7
    assert window.cold_tokens(text, Point(290, 6)) == 0
    assert window.cold_tokens(text, Point(300, 3)) == SUFFIX_CHARS // TOKEN_CHARS
    assert window.cold_tokens(text, Point(10, 6)) == cold
    assert window.cold_tokens(text, Point(480, 6)) == cold
