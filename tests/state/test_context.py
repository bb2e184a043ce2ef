"""Which lines go along with a question, how the chip says so, and what the model reads."""

import pytest

from offhook_app.state.context import (
    MOST_CHARACTERS,
    MOST_NEAR_CHARACTERS,
    MOST_NEAR_LINES,
    Context,
    OpenText,
    context_of,
    examples,
)

pytestmark = pytest.mark.pure


def numbered(count: int, width: int = 8) -> list[str]:
    return [f"{n:0{width}}" for n in range(1, count + 1)]


def test_a_small_file_goes_along_whole() -> None:
    context = context_of(OpenText("a.py", "python", ["x = 1", "y = 2"], 1), "near")
    assert context == Context("a.py", "python", 1, 2, 2, "x = 1\ny = 2", 2)
    assert context.words == "a.py · whole file"


def test_the_lines_around_the_caret_are_few() -> None:
    context = context_of(OpenText("a.py", "python", numbered(500), 249), "near")
    assert context
    assert (context.first_line, context.last_line, context.caret_line) == (230, 269, 250)
    assert context.last_line - context.first_line + 1 == MOST_NEAR_LINES
    assert context.words == "a.py · lines 230–269"


@pytest.mark.parametrize(("caret", "first", "last"), [(0, 1, 40), (499, 461, 500), (2, 1, 40)])
def test_at_an_end_of_the_file_the_other_side_gives_more(caret: int, first: int, last: int) -> None:
    context = context_of(OpenText("a.py", "python", numbered(500), caret), "near")
    assert context
    assert (context.first_line, context.last_line) == (first, last)


def test_long_lines_leave_room_for_fewer() -> None:
    context = context_of(OpenText("a.py", "python", numbered(20, 400), 10), "near")
    assert context
    assert len(context.text) <= MOST_NEAR_CHARACTERS
    assert context.first_line <= 11 <= context.last_line


def test_one_endless_line_goes_alone() -> None:
    context = context_of(OpenText("a.js", "javascript", ["x", "y" * 5000, "z"], 1), "near")
    assert context
    assert context.words == "a.js · line 2"


def test_what_is_selected_goes_instead() -> None:
    context = context_of(OpenText("a.py", "python", numbered(500), 249, (99, 101)), "near")
    assert context
    assert (context.words, context.caret_line) == ("a.py · lines 100–102", 0)
    assert context.text == "00000100\n00000101\n00000102"


def test_the_whole_file_on_request_and_what_is_cut_is_said() -> None:
    context = context_of(OpenText("a.py", "python", numbered(1000), 249, (9, 10)), "file")
    assert context
    assert len(context.text) <= MOST_CHARACTERS
    assert context.words == f"a.py · lines 1–{context.last_line}"
    assert context.last_line == (MOST_CHARACTERS + 1) // 9


@pytest.mark.parametrize(
    ("opened", "choice"),
    [
        (OpenText(".env", "", ["KEY=1"], never_sent=True), "near"),
        (OpenText(".env", "", ["KEY=1"], never_sent=True), "file"),
        (OpenText("a.py", "python", ["x = 1"]), "none"),
        (OpenText("a.py", "python", ["", "  "]), "near"),
    ],
)
def test_nothing_goes_along(opened: OpenText, choice: str) -> None:
    assert context_of(opened, choice) is None  # type: ignore[arg-type]  # the table knows the choices


@pytest.mark.parametrize(("length", "tokens"), [(1, 1), (35, 10), (350, 100), (1234, 350), (4000, 1100)])
def test_the_tokens_are_said_to_two_figures(length: int, tokens: int) -> None:
    assert Context("a", "", 1, 1, 1, "x" * length).tokens == tokens


def test_the_model_reads_lines_then_question() -> None:
    assert Context("a.py", "python", 3, 4, 9, "x\ny", 4).before("Why?") == (
        "Lines 3 to 4 of a.py, the caret is in line 4:\n\n```python\nx\ny\n```\n\nWhy?"
    )
    assert (
        Context("a.md", "markdown", 1, 1, 1, "```py\n````")
        .before("Why?")
        .startswith("Lines 1 to 1 of a.md:\n\n`````markdown\n")
    )


def test_examples_are_made_from_the_place_in_the_file() -> None:
    assert examples(OpenText("a.py", "python", ["import os", "", "async def fetch(x):", "    pass"], 3)) == [
        "What does `fetch` do?",
        "Write a test for `fetch`",
        "What could go wrong in `fetch`?",
    ]
    assert examples(OpenText("a.py", "python", ["import os"]))[0] == "What does a.py do?"
    assert len(examples(None)) == 3
    assert examples(OpenText(".env", "", ["def x"], never_sent=True)) == examples(None)
