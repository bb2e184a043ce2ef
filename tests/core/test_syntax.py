"""What is open around a caret in Python text, what of it ends on the right, and whether a text put there does harm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core.syntax import (
    LINES_ABOVE,
    Reader,
    Room,
    begins_definition,
    is_decorator,
    is_header,
    room_at,
)
from offhook_wire.text import Text

pytestmark = pytest.mark.pure


def room(marked: str) -> Room:
    """The caret stands at ▮."""
    before, after = marked.split("▮")
    return room_at(Text(before + after), Text(before).end)


@pytest.mark.parametrize(
    ("marked", "awaited", "inside", "ends"),
    [
        ("x = ▮", "", "", set()),
        ("f(a, [b,▮])", ")]", "", {0, 1}),
        ("f(a, [b,▮)", ")]", "", {0}),  # the one within was forgotten
        ("f(▮\nx = 1", ")", "", set()),
        ("f(\n    ▮\n)", ")", "", {0}),
        ("f(a) + [▮", "]", "", set()),
        (")▮)", "", "", set()),
        ("x = '(▮", "", "'", set()),
        ("x = 'it\\'s ▮'", "", "'", {None}),
        ("f('▮')", ")", "'", {None, 0}),
        ("f('a▮\n)", ")", "'", {0}),
        ("# f(▮\n)", "", "#", set()),
        ("# it's\nf(▮)", ")", "", {0}),
        ('f("""a "b" (▮""")', ")", '"""', {None}),
        ('def f():\n    """Do▮\n\n\ndef g():\n    """Do it."""\n', "", '"""', set()),
        ("x = ''''''\ny = ▮", "", "", set()),
    ],
)
def test_what_is_open_and_what_of_it_ends_on_the_right(
    marked: str, awaited: str, inside: str, ends: set[int | None]
) -> None:
    found = room(marked)
    assert (found.awaited, found.inside, set(found.ends)) == (awaited, inside, ends)


@pytest.mark.parametrize(
    ("marked", "text", "fits"),
    [
        ("f(▮)", "a)", "a"),
        ("f(▮)", "g(a))", "g(a)"),
        ("f(▮", "a)", "a)"),
        ("f([▮)", "a])", "a]"),
        ("x = ▮", "1)", "1"),
        ("print('▮')", "it')", "it"),
        ("print('▮", "it')", "it')"),
        ("print('▮')", "it\\'s')", "it\\'s"),
        ('"""Do▮', ' it."""\nx = 1', ' it."""'),
        ('"""Do▮"""', ' it."""\nx = 1', " it."),
        ("# a▮", " (b))", " (b))"),
        ("f(▮)", "')', \")\")", "')', \")\""),
    ],
)
def test_a_text_fits_while_it_stays_where_it_was_asked_for(marked: str, text: str, fits: str) -> None:
    assert text[: room(marked).fitting(text)] == fits


@pytest.mark.parametrize(
    ("statement", "opens"),
    [
        ("if x:", True),
        ("    async  def f(\n    a,\n):", True),
        ("else:", True),
        ("try:  # why: so", True),
        ("class A:", True),
        ("x = lambda:", False),
        ("x: int = 1", False),
        ("iffy = {a:", False),
        ("if x: y", False),
        ("print(':')", False),
    ],
)
def test_a_block_is_opened_by_its_keyword_and_a_colon(statement: str, opens: bool) -> None:
    assert is_header(statement) == opens
    assert room(f"x = 1\n{statement}▮").opens_block == (opens and "#" not in statement)


def test_a_colon_in_brackets_or_in_a_string_opens_nothing() -> None:
    assert not room("if f({a:▮").opens_block
    assert not room('if "a:▮').opens_block
    assert room("for x in (\n    y,\n):▮").opens_block


def test_only_a_comment_and_a_plain_string_end_with_their_line() -> None:
    assert room("# a▮").one_line
    assert room("x = 'a▮").one_line
    assert not room('x = """a▮').one_line
    assert not room("x = ▮").one_line


def test_definitions_and_decorators() -> None:
    assert [begins_definition(line) for line in ("def f():", "  async def f():", "class A:", "@d", "define()")] == [
        *(True, True, True, True, False)
    ]
    assert is_decorator("    @d")
    assert not is_decorator("a @ d")


@pytest.mark.parametrize(
    ("marked", "text", "harmless"),
    [
        ("def f():\n    ▮\n", "x = 1\n    return x", True),
        ("def f():\n    ▮\n", "x = 1\n        y = 2", False),
        ("def f():\n    ▮\n", "if x:\n        y = 2\n    z = 3", True),
        ("def f():\n    ▮\n", "if x:", False),
        ("def f():\n    ▮\n", "if x:\n    y = 2", False),
        ("def f():\n    ▮\n", "if x:\n        y = 2\n      z = 3", False),
        ("def f():\n    ▮\n", "x = g(\n  1,\n    )", True),
        ("def f():\n    ▮\n", "x = g(\n        1,", False),
        ("def f():\n    ▮\n", "x = \\\n        1", True),
        ("def f():\n    ▮\n", "x = 1\n  # note\n    y = 2", True),
        ("def f():▮\n", "\n    return 1", True),
        ("def f():▮\n", "\nreturn 1", False),
        ("x = 1\n    ▮\n", "y = 2", False),
        ("▮", "x = 1\ny = 2", True),
        ("    ▮", "x = 1", True),
        ("f(\n    ▮\n)", "a,\n  b,", True),
        ("f(\n    ▮\n)", "a b,\n  b,", False),
        ("x = = 1\n▮\n", "y = 2\nz = 3", True),  # it had an error before
        ("x = 1\n▮\n", "\ud800 = 2", False),
    ],
)
def test_harm_is_an_error_more_or_an_indent_where_none_may_be(marked: str, text: str, harmless: bool) -> None:
    assert room(marked).unharmed(text) == harmless


def test_only_a_window_is_read_and_it_begins_at_the_top_of_something() -> None:
    rows = ["x = 1", *["    y"] * (LINES_ABOVE + 9), "def f():", *["    y"] * 9]
    text = Text("\n".join([*rows, *["    z"] * 99]))
    found = room_at(text, Text("\n".join(rows)).end)
    assert found.before.startswith("def f():\n    y\n")
    assert found.after.count("\n") < 99
    deep = Text("\n".join(["    y"] * 999))
    assert room_at(deep, deep.end).before.count("\n") == LINES_ABOVE


@given(st.lists(st.sampled_from(["(", ")", "[", "]", "'", '"', '"""', "#", "\n", "\\", "a"]), max_size=12))
def test_what_a_text_opens_itself_it_may_end(signs: list[str]) -> None:
    text = "".join(signs)
    opener = Reader()
    list(opener.read(text))
    levels = [closing.level for closing in Reader(opener.awaited, opener.inside).read(opener.inside)]
    assert levels == ([None] if opener.inside.strip("#") else [])
    assert all(closing.level == -1 for closing in Reader().read(text))
