"""Of a chat model's answer only the code that is missing is shown, at once where that can be, however it comes in pieces."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from offhook_server.core.code_only import FENCE, GAP, CodeOnly, question
from offhook_server.core.fim import Infill
from offhook_server.core.neighbours import Neighbour

pytestmark = pytest.mark.pure


def gap(prefix: str = "def f(a, b):\n    return ", suffix: str = "\n\nprint(f(1, 2))\n", lead: str = "") -> Infill:
    return Infill(prefix, suffix, "this.py", (), lead)


def shown(code: CodeOnly, *deltas: str) -> list[str]:
    return [*(code.feed(delta) for delta in deltas), code.finish()]


def said(answer: str, infill: Infill | None = None) -> str:
    """The same whole as letter by letter."""
    infill = infill or gap()
    whole = "".join(shown(CodeOnly.of(infill, asked_in_words=True), answer))
    assert "".join(shown(CodeOnly.of(infill, asked_in_words=True), *answer)) == whole
    return whole


def test_the_question_shows_the_gap_and_what_resembles_it() -> None:
    near = Neighbour("near.py", "def near(): pass")
    system, user = question(Infill("x = ", "\ny", "this.py", (near,)))
    assert "code only" in system["content"]
    assert user == {
        "role": "user",
        "content": "near.py, for comparison:\n```\ndef near(): pass\n```\n\nthis.py:\n```\nx = <gap/>\ny\n```\n"
        f"Which code belongs in place of {GAP}? Answer with that piece alone.",
    }


@pytest.mark.parametrize(
    "answer",
    [
        "a + b",
        "```python\na + b\n```",
        "```\na + b\n```\nThis adds the two.",
        "  \n```py\na + b",
        "Sure! Here is the missing code:\n\n```python\na + b\n```",
        "Sure!\n\nHere's what belongs there:\n```\na + b\n```",
        "Certainly, the missing piece is:\n\na + b",
        "Sure.\nThe two numbers are added here.\n\n```\na + b\n```",
        "Here is `x = 1` for you:\r\n```\r\na + b\r\n```",
        "I’m happy to help:\n```\na + b\n```",
        "<think>What is\nmissing? ```x```</think>\n\n```\na + b\n```",
        "<think>Hm.</think>a + b",
        "return a + b",
        "    return a + b",
        "def f(a, b):\n    return a + b",
        "```\n    return a + b\n\nprint(f(1, 2))\n```",
        "a + b\n\nprint(f(1, 2))\n",
        "a + b\n\nprint(f(1, 2))",
        "a + b\n```\nThat is all.",
        "a + b\n   ```",
    ],
)
def test_only_what_is_missing_is_left(answer: str) -> None:
    assert said(answer) == "a + b"


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't see your file.",
        "Sure! What would you like me to write?",
        "Here is the code:\n\n",
        "Okay",
        "Sure\nThe function adds two numbers and returns them.",
    ],
)
def test_talk_alone_is_nothing_and_said_to_be_talk(answer: str) -> None:
    code = CodeOnly.of(gap(), asked_in_words=False)
    assert "".join(shown(code, *answer)) == ""
    assert code.only_talk


@pytest.mark.parametrize("answer", ["", " \n", "<think>Sure", "```", "```py\n", "```\n```", "`"])
def test_nothing_is_not_talk(answer: str) -> None:
    code = CodeOnly.of(gap(), asked_in_words=True)
    assert "".join(shown(code, *answer)).strip("`") == ""
    assert not code.only_talk


@pytest.mark.parametrize(
    "answer",
    [
        "ok = sure(a)",
        "ok_value",
        "okay",
        "surely + b",
        "let me = 5;",
        "<thin",
        "<thing>",
        "this is f(x)",
        "`a`",
        "a\n\nb",
        "sum(a)\n`b",
        "return_value",
        "p",
        "\n    x",
    ],
)
def test_code_that_only_begins_like_talk_or_like_a_repetition_stays(answer: str) -> None:
    expected = "" if answer == "okay" else answer
    assert said(answer) == expected


def test_code_after_talk_that_was_no_introduction() -> None:
    assert said("Sure!\n  a + b\n") == "  a + b\n"


@pytest.mark.parametrize(
    ("prefix", "answer"),
    [
        ("# ", "Sure signs of spring"),
        ('def f():\n    """', 'Here is what it does."""'),
        ("def f():\n    '''First.\n    ", "This is what it does."),
    ],
)
def test_in_a_comment_talk_is_what_belongs_there(prefix: str, answer: str) -> None:
    assert said(answer, gap(prefix)) == answer


def test_a_half_word_said_whole_is_not_doubled() -> None:
    assert said("width * h", gap("area = wid", "", lead=" wid")) == "th * h"
    assert said("area = width * h", gap("area = wid", "", lead=" wid")) == "th * h"
    assert said("th * h", gap("area = wid", "", lead=" wid")) == "th * h"


def test_the_indentation_that_stands_there_is_not_doubled() -> None:
    infill = gap("def f():\n    ", "\n", lead="    ")
    assert said("```\n    return 1\n```", infill) == "return 1"
    assert said("return 1", infill) == "return 1"
    assert said("        x()", infill) == "    x()"


def test_the_line_below_ends_it_only_when_it_comes_whole() -> None:
    infill = gap("x = (\n", "\n)\nreturn x\n")
    assert said("    1,\n)\nreturn x\nand more", infill) == "    1,"
    assert said("    1,\n)\nreturn xy", infill) == "    1,\n)\nreturn xy"
    assert said("y\n)", gap("x\n", "\n)")) == "y\n)"  # too little to prove anything


def test_one_who_fills_in_by_marks_may_repeat_what_stands_there() -> None:
    code = CodeOnly.of(gap(), asked_in_words=False)
    assert shown(code, "return", " a\n") == ["return", " a", "\n"]


def test_plain_code_is_shown_at_once() -> None:
    code = CodeOnly.of(gap(), asked_in_words=True)
    assert shown(code, "x", " +", " b", "\n", "c") == ["x", " +", " b", "", "\nc", ""]


def test_after_its_end_nothing_comes() -> None:
    code = CodeOnly.of(gap(), asked_in_words=True)
    assert code.feed("```\na\n```\n") == "a"
    assert (code.ended, code.feed("more"), code.finish()) == (True, "", "")


PIECES = [
    *("<think>", "</think>", "<thi"),
    *(
        "sure",
        "Sure",
        ", here is",
        ":",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "    ",
        "`",
        "``",
        FENCE,
        "```py\n",
        "a",
        "+ b",
        "=",
    ),
    *("Here's", " the code", ".", "I", "'m", "return ", "    return ", "def f(a, b):\n", "print(f(1, 2))", "wid", "th"),
]
ANSWERS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
INFILLS = st.sampled_from(
    [gap(), gap("def f():\n    ", "\n    g()\n", "    "), gap("area = wid", ")\n", " wid"), gap("# ", ""), gap("", "")]
)


@given(INFILLS, ANSWERS, st.booleans(), st.data())
@example(gap(), "Sure:\n```\nreturn a\n\nprint(f(1, 2))\n```", True, None)
def test_the_cut_into_deltas_never_matters(
    infill: Infill, answer: str, in_words: bool, data: st.DataObject | None
) -> None:
    cuts = data.draw(st.sets(st.integers(0, len(answer)))) if data else set(range(len(answer)))
    deltas = [answer[a:b] for a, b in pairwise(sorted({0, len(answer), *cuts}))]
    whole = CodeOnly.of(infill, asked_in_words=in_words)
    pieces = CodeOnly.of(infill, asked_in_words=in_words)

    code = "".join(shown(whole, answer))

    assert "".join(shown(pieces, *deltas)) == code
    assert whole.only_talk == pieces.only_talk
    assert "".join(shown(CodeOnly.of(infill, asked_in_words=in_words), *answer)) == code
    assert "\n```" not in "\n" + code
    assert code in answer.replace("\r", "")


CODE = st.lists(st.sampled_from(["a", "b", " + ", "f(", ")", "\n    ", "x = ", "[0]"]), min_size=1, max_size=9).map(
    "".join
)


@given(
    CODE.filter(str.strip),
    st.sampled_from(["", "Sure, here is the code:\n\n", "Of course!\n", "Here's the missing code:\n"]),
    st.sampled_from(["", "    return ", "return ", "def f(a, b):\n    return "]),
    st.sampled_from(["", "\n\nprint(f(1, 2))", "\n\nprint(f(1, 2))\n"]),
)
def test_a_fenced_answer_is_freed_of_all_that_is_not_missing(code: str, talk: str, again: str, below: str) -> None:
    core = code.strip()
    assert said(f"{talk}```python\n{again}{core}{below}\n```\nHope this helps!") == core
