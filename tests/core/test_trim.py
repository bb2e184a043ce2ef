"""What is shown of a model's text is fit to be seen, at once where it can be, and the same however it comes in pieces."""

from itertools import pairwise

import pytest
import tree_sitter
import tree_sitter_python
from hypothesis import example, given
from hypothesis import strategies as st

from offhook_server.core.prompt import STOPS
from offhook_server.core.trim import CLOSING, END, MOST_LINES, TALK, Trim
from offhook_wire.text import Text

pytestmark = pytest.mark.pure


def line(after: str = "", below: str = "") -> Trim:
    return Trim(after, below, indent=0, block=False)


def block(indent: int = 0, below: str = "") -> Trim:
    return Trim("", below, indent, block=True)


def shown(trim: Trim, *deltas: str) -> list[str]:
    """What each delta brings on the screen, and at last what the end of the text does."""
    return [*(trim.feed(delta) for delta in deltas), trim.finish()]


# -- right of the caret -----------------------------------------------------------------------------------------------


def test_the_bracket_right_of_the_caret_is_not_doubled() -> None:  # T1a
    assert shown(line(")"), '"he', 'llo")') == ['"he', 'llo"', ""]


@pytest.mark.parametrize(
    ("after", "text", "ghost"),
    [
        (")", '"hello")\nprint(', '"hello"'),  # the model goes on below
        (")", '"hello") ', '"hello"'),
        (")", "str(x)", "str(x)"),  # its own bracket
        (")", "str(x))", "str(x)"),
        (")", '":("', '":("'),  # a bracket in a string is none
        ("))", "f(x))", "f(x)"),
        ("):", "a, b):\n    return a", "a, b"),
        ("):", "a, b)", "a, b"),
        (" c)", "b,", "b,"),  # T3
        (" c)", "b, ", "b,"),
        (" c)", "b, c)", "b,"),
        ("]", "a[0]", "a[0]"),
        ('")', 'hello")', "hello"),
        ("}", ")}", ")"),
        ("else 0", "1 if x else", "1 if x "),
        ("else 0", "shape", "shape"),  # one letter proves nothing
        ("void", "static ", "static "),  # T14: the blank is needed
        ("  # why  ", "1  # why", "1"),
        ("    return 0", "return 0", ""),  # the caret stands left of the indent
        ("   ", "1  ", "1"),
    ],
)
def test_what_stands_right_of_the_caret_is_left_out(after: str, text: str, ghost: str) -> None:
    assert "".join(shown(line(after), text)) == ghost
    assert "".join(shown(line(after), *text)) == ghost


def test_a_line_ends_at_its_end() -> None:
    trim = line()
    assert trim.feed("1\nprint") == "1"
    assert (trim.ended, trim.feed("more"), trim.finish()) == (True, "", "")
    assert "".join(shown(line(), "\n1")) == ""


# -- a block ----------------------------------------------------------------------------------------------------------


def test_the_line_below_is_not_doubled() -> None:  # T1b
    assert shown(block(8, "    return 0"), "return 1\n    return 0\n") == ["return 1", ""]


def test_blank_lines_at_its_end_are_left_out() -> None:  # T6
    assert shown(block(4, "h()"), "return 1", "\n\n\n") == ["return 1", "", ""]


def test_crlf_is_one_line_end_also_in_two_pieces() -> None:  # T7b
    assert "".join(shown(block(), "x\r", "\ny")) == "x\ny"
    assert "".join(shown(line(), "x\r", "\ny")) == "x"


@pytest.mark.parametrize(
    ("indent", "below", "text", "ghost"),
    [
        (4, "", "x = 1\n    y = 2\nz", "x = 1\n    y = 2"),  # less indented
        (4, "", "if x:\n        y()\n    else:\n        z()", "if x:\n        y()\n    else:\n        z()"),
        (0, "", "x\n\ny", "x"),
        (0, "", "x\n   \ny", "x"),
        (4, "", "\n    x = 1", "x = 1"),  # begins with a line end: its indent is the caret's
        (4, "", "   \n\n        x = 1", "    x = 1"),
        (4, "", "\n\nx = 1", ""),  # a new block further out belongs elsewhere
        (4, "", "   \n", ""),
        (0, "", "    x = 1", "    x = 1"),
        (4, "    return x", "return x\n", ""),  # the line below, first
        (4, "    return x", "return x", ""),
        (4, "    return x", "return y", "return y"),
        (4, "    return x", "a = 1\n    return x\n    b", "a = 1"),
        (4, "    return x", "a = 1\n    return x", "a = 1"),
        (4, "    return x", "a = 1\n    return x + 1", "a = 1\n    return x + 1"),
        (4, "    return x", "if a:\n        return x\n    b()", "if a:\n        return x\n    b()"),  # deeper: not it
        (8, "    return x", "turn x", "turn x"),
        (0, "", "\n".join("abcdefgh"), "\n".join("abcdefgh"[:MOST_LINES])),
        (1, "", "x\n\ty", "x\n\ty"),
        (1, "\tx", "x\n", ""),
    ],
)
def test_a_block_is_what_belongs_to_the_caret(indent: int, below: str, text: str, ghost: str) -> None:
    assert "".join(shown(block(indent, below), text)) == ghost
    assert "".join(shown(block(indent, below), *text)) == ghost


# -- model junk -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trim", [line(), block()], ids=["line", "block"])
def test_fences_and_markers_are_cut_although_split(trim: Trim) -> None:  # T28
    deltas = ["```py", "\nreturn 1\n", "```", "<|file_", "separator|>"]
    assert "".join(shown(trim, *deltas)) == "return 1"


@pytest.mark.parametrize("marker", [*STOPS, "<|file_separator|>", "<|im_start|>", "<think>", "```", "<\u200b|x|>"])
def test_a_marker_ends_the_text_wherever_it_is_split(marker: str) -> None:
    for split in range(1, len(marker)):
        trim = block()
        assert shown(trim, "x = 1", marker[:split], marker[split:] + "y") == ["x = 1", "", "", ""]
        assert trim.ended


@pytest.mark.parametrize("trim", [line(), block()], ids=["line", "block"])
def test_thinking_is_never_shown(trim: Trim) -> None:
    deltas = ["<th", "ink>Let me\n see", ".</thi", "nk>", "\n\n", "```py\n", "x = 1"]
    assert shown(trim, *deltas) == ["", "", "", "", "", "", "x = 1", ""]


@pytest.mark.parametrize("text", ["<think>Let me see", "```py", "```\n```\n", "<|endoftext|>", "", " "])
def test_nothing_but_junk_is_nothing(text: str) -> None:
    assert "".join(shown(line(), text)) == ""
    assert "".join(shown(block(), *text)) == ""


@pytest.mark.parametrize(
    ("text", "ghost"),
    [
        ("x <", "x <"),
        ("see ``f``", "see ``f``"),
        ("a <t", "a <t"),
        ("x <|im_e", "x"),
        ("x <think", "x"),
        ("x\n``", "x"),
        ("x <| f", "x <| f"),
        ("x << 1", "x << 1"),
    ],
)
def test_at_the_end_half_a_marker_goes_and_code_stays(text: str, ghost: str) -> None:
    assert "".join(shown(block(), text)) == ghost


# -- in Python ----------------------------------------------------------------------------------------------------------


def at(marked: str, name: str = "a.py") -> Trim:
    """The caret stands at ▮."""
    before, after = marked.split("▮")
    return Trim.at(Text(before + after), Text(before).end, name)


@pytest.mark.parametrize(
    ("marked", "text", "ghost"),
    [
        ("def f(x):\n    y = ▮\n", "x + 1\n    return y\n\ndef g():", "x + 1\n    return y"),
        ("def f(x):\n    y = ▮\n", "x + 1\nz = 2", "x + 1"),
        ("def f(x):\n    y = 1▮\n", "\n    return y\n", "\n    return y"),
        ("def f(x):\n    y = ▮\n    return y\n", "1\n    z = 2\n    return y\n", "1\n    z = 2"),
        ("def f(x):\n    ▮\n", "\n".join(f"    a{n} = {n}" for n in range(9))[4:], "a0 = 0\n    a1 = 1\n    a2 = 2"),
        ("g(▮)\n", "a, b)\nh()", "a, b"),  # in brackets, and with something right of the caret: no more than that
        ("x = ▮ + 1\n", "2\ny = 3", "2"),
        ('s = "▮\n', 'abc"\nt = 1', 'abc"'),
    ],
)
def test_more_finishes_the_line_and_goes_on_with_its_block(marked: str, text: str, ghost: str) -> None:
    before, after = marked.split("▮")
    for deltas in ([text], list(text)):
        trim = Trim.at(Text(before + after), Text(before).end, "a.py", most_lines=3)
        assert "".join(shown(trim, *deltas)) == ghost


CLASS = "class A:\n    def a(self):\n        pass\n\n    ▮"


@pytest.mark.parametrize(
    ("marked", "text", "ghost"),
    [
        # behind a colon the block begins below
        ("def f(x):▮", "\n    return x\n\ndef g():\n    pass", "\n    return x"),
        ("def f(x):▮", "\n\n    return x\n", "\n    return x"),
        ("    if x:▮", "\n        y()\n    z()", "\n        y()"),
        ("    if x:▮", "\n    z()", ""),
        ("def f(\n    x,\n):▮", "\n    return x", "\n    return x"),
        ("def f(x):▮", "  # why\n    return x", "  # why"),
        ("if x:▮", " return\n", " return"),
        ("if x:▮", "\n", ""),
        ("if x:▮", "\n    if y:\n        z()\n    a()", "\n    if y:\n        z()\n    a()"),
        ("if x:▮\n    y()", "\n    z()", ""),  # there is one already
        ("if x:▮\ny()", "\n    z()\ny()", "\n    z()"),
        ("x = {a:▮", "\n    1}", ""),
        # nothing new after what was begun
        (CLASS, "def b(self):\n        return 1\n    def c(self):\n        pass", "def b(self):\n        return 1"),
        (CLASS, "@d\n    def b(self):\n        return 1\n    @d", "@d\n    def b(self):\n        return 1"),
        ("def f():\n    ▮", "x = 1\n    def g():\n        pass", "x = 1"),
        ("def f():\n    ▮", "if x:\n        class A:\n            y = 1", "if x:\n        class A:\n            y = 1"),
        # it stays in its brackets and strings
        ("f(a, ▮)", "b, c), d", "b, c"),
        ("f(a, ▮ c)", "b, c)", "b,"),
        ("f(\n    a,\n    ▮\n)", "b,\n    c,\n    )\ng()", "b,\n    c,"),
        ("f(▮\n\nx = 1", "a, b)", "a, b)"),
        ('print("he▮")', 'llo")\n', "llo"),
        ('def f():\n    """Do▮\n    """', ' it."""\n    x', " it."),
        ('def f():\n    """Do▮\n    """', ' "it" now', ' "it" now'),
        ('def f():\n    """Do▮\n', ' it."""  # x', ' it."""'),
        ("# to do: ▮", "Sure, x\n", "Sure, x"),
        # what would do harm is left out
        ("def f():\n    ▮", "x = 1\n        y = 2\n    z", "x = 1"),
        ("def f():\n    ▮", "x = g(\n        1,\n    )\n    y", "x = g(\n        1,\n    )\n    y"),
        ("def f():\n    ▮", "x = 1\n    y = g(\n        1,", "x = 1"),
        ("def f():\n    ▮", "x = 1\n    if y:", "x = 1"),
        ("def f():\n    ▮", "for x in y:", "for x in y:"),
    ],
)
def test_python_says_where_a_text_ends(marked: str, text: str, ghost: str) -> None:
    assert "".join(shown(at(marked), text)) == ghost
    assert "".join(shown(at(marked), *text)) == ghost


def test_the_first_line_streams_and_those_below_come_whole() -> None:
    assert shown(at("def f():\n    ▮"), "x", " = 1", "\n    ", "y =", " 2", "\n", "    z") == [
        *("x", " = 1", "", "", "", "\n    y = 2", "", "\n    z")
    ]


@pytest.mark.parametrize("name", ["a.py", "a.rs"])
def test_a_loop_is_cut(name: str) -> None:
    assert "".join(shown(at("▮", name), *("a()\n" * 5))) == "a()"
    assert "".join(shown(at("▮", name), *("a()\nb()\n" * 3))) == "a()\nb()\na()"
    assert "".join(shown(at("▮", name), *"]\n]\n}\n")) == ("]\n]\n}" if name == "a.rs" else "")


@pytest.mark.parametrize(
    "text", ["Sure, here it is:\n```py\nx", "Here is the code", "The code above.", "Certainly!", "I'm sorry, but"]
)
def test_talk_is_dropped(text: str) -> None:
    for name in ("a.py", "a.rs"):
        trim = at("▮", name)
        assert "".join(shown(trim, *text)) == "" or text == "The code above."
    assert "".join(shown(at("▮", "a.md"), *text)) == text.partition("\n")[0]


def test_what_only_begins_like_talk_is_shown_once_that_is_known() -> None:
    assert shown(at("x = ▮"), "Sur", "e", "Thing()") == ["", "", "SureThing()", ""]
    assert shown(at("x = ▮"), "Sure") == ["", "Sure"]


def test_a_word_that_is_cut_off_is_held_back() -> None:
    trim = at("x = ▮")
    assert [trim.feed("a + "), trim.feed("self", scarce=True), trim.feed(".wid", scarce=True)] == ["a +", "", ""]
    assert trim.finish(cut=True) == ""
    trim = at("x = ▮")
    assert [trim.feed("a + self.wid", scarce=True), trim.finish()] == ["a +", " self.wid"]
    trim = at("x = ▮")
    assert [trim.feed("f(self.wid) + 1\n", scarce=True), trim.finish(cut=True)] == ["f(self.wid) + 1", ""]
    trim = at("f(▮)")
    assert [trim.feed("a, b)", scarce=True), trim.finish(cut=True)] == ["a, b", ""]


def test_a_block_that_is_cut_off_ends_with_a_whole_line() -> None:
    trim = at("def f():\n    ▮")
    assert [trim.feed("x = 1\n    y = self.wid"), trim.finish(cut=True)] == ["x = 1", ""]
    trim = at("▮", "a.rs")
    assert [trim.feed("x\ny = self.wid", scarce=True), trim.finish(cut=True)] == ["x\ny =", ""]


# -- no later than needed ---------------------------------------------------------------------------------------------


def test_plain_text_is_shown_at_once_and_only_blanks_wait_for_what_follows() -> None:
    trim = Trim(")", "below()", 4, block=False)
    assert [trim.feed(delta) for delta in ["name", " ", "= ", "other", "(x", ") + y"]] == [
        "name",
        "",
        " =",
        " other",
        "(x",
        ") + y",
    ]
    assert shown(block(4, "    return x"), "result", " =", " 1\n", "    ", "re", "st") == [
        "result",
        " =",
        " 1",
        "",
        "",
        "\n    rest",
        "",
    ]


# -- however it comes -------------------------------------------------------------------------------------------------

PIECES = [
    *("x", "foo", " ", "    ", "\n", "\r", "\t", ")", "(", "]", '"', ",", ":", "`", "```", "<", "|", "<|", "\u200b"),
    *("file_sep", "|>", "<|file_sep|>", "<think>", "</think>", "<thi", "nk>", "py\n", "return 0", "\n    return 0"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
FILES = st.sampled_from(
    [
        "def f(a):\n    if a:\n        return 0\n    return g(a, [1, 2])\n",
        'class A:\n    """Doc."""\n\n    def b(self):\n        x = "s"  # why\n        return {\n            "k": x,\n        }\n',
        "x = 1\n\n\ndef f():\n    \n\n\nf()\n",
        "for x in y:\n    \nz = f(\n    \n)\n",
        "",
    ]
)
CODE_PIECES = [
    *PIECES,
    *(
        "x = 1",
        "return x",
        "\n    ",
        "\n        ",
        "\n",
        "if x:",
        "def h():",
        "f(",
        ", ",
        '"""',
        "'",
        "# c",
        "Sure, x",
        "\\",
    ),
]
CODE = st.lists(st.sampled_from(CODE_PIECES), max_size=14).map("".join)
TRIMS = st.builds(
    lambda after, below, indent, is_block: (after if not is_block else "", below, indent, is_block),
    st.sampled_from(["", ")", "))", " x)", "):", '")', "  ", "`", "foo  ", "(x)", "return 0"]),
    st.sampled_from(["", "return 0", "    return 0", "    x", "x", ")"]),
    st.sampled_from([0, 4]),
    st.booleans(),
)


@given(TRIMS, TEXTS, st.data())
@example((")", "", 0, False), "<think>x</think>\n```py\nf(x))\n", None)
def test_the_cut_into_deltas_never_matters(
    shape: tuple[str, str, int, bool], text: str, data: st.DataObject | None
) -> None:
    cuts = data.draw(st.sets(st.integers(0, len(text)))) if data else set(range(len(text)))
    edges = sorted({0, len(text), *cuts})
    deltas = [text[a:b] for a, b in pairwise(edges)]

    ghost = "".join(shown(Trim(*shape), text))

    assert "".join(shown(Trim(*shape), *deltas)) == ghost
    assert "".join(shown(Trim(*shape), *text)) == ghost
    assert not END.search(ghost)
    assert "\r" not in ghost
    _, below, indent, is_block = shape
    lines = ghost.split("\n")
    assert len(lines) <= (MOST_LINES if is_block else 1)
    if is_block:
        assert ghost == ghost.rstrip()
        assert all(row.strip() and len(row) - len(row.lstrip()) >= indent for row in lines[1:])
        assert not below or below not in [" " * indent + lines[0], *lines[1:]]


@given(st.text("abc= \n", max_size=12), st.sampled_from([")", "))", "):", " x)", '")', "foo  ", "return 0"]))
def test_the_text_right_of_the_caret_never_stands_there_twice(core: str, after: str) -> None:
    first = core.partition("\n")[0]
    ghost = "".join(shown(line(after), *(first + after.rstrip())))
    assert ghost in (first, first.rstrip())


@given(FILES, CODE, st.data())
def test_whatever_a_model_says_what_is_shown_does_no_harm(file: str, text: str, data: st.DataObject) -> None:
    caret = data.draw(st.integers(0, len(file)))
    cuts = data.draw(st.sets(st.integers(0, len(text))))
    cut = data.draw(st.booleans())
    before, after = file[:caret], file[caret:]
    most_lines = data.draw(st.sampled_from([0, 0, 12]))
    trim = Trim.at(Text(file), Text(before).end, "a.py", most_lines=most_lines)
    assert trim.room is not None
    edges = sorted({0, len(text), *cuts})

    deltas = [text[a:b] for a, b in pairwise(edges)]
    ghost = "".join([*(trim.feed(delta) for delta in deltas), trim.finish(cut=cut)])

    if not cut:
        again = Trim.at(Text(file), Text(before).end, "a.py", most_lines=most_lines)
        assert "".join(shown(again, *text)) == ghost
    assert not END.search(ghost)
    assert not TALK.match(ghost) or trim.prose
    first, *others = ghost.split("\n")
    line_rest = after.partition("\n")[0].strip()
    assert not (len(line_rest) >= 3 and line_rest.strip(CLOSING) and ghost.rstrip().endswith(line_rest))
    assert trim.room.fitting(ghost) == len(ghost)
    assert all(len(row) - len(row.lstrip()) >= trim.indent + trim.under for row in others)
    if others:
        assert trim.block
        assert trim.under == (not first) or trim.front
    if "\n" in ghost.strip():
        assert errors(before + ghost + after) <= errors(file)


def errors(text: str) -> int:
    """Of a parse that knows nothing of any other."""
    tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language())).parse(text.encode())
    count, nodes = 0, [tree.root_node]
    while nodes:
        node = nodes.pop()
        count += node.is_error or node.is_missing
        nodes += node.children
    return count
