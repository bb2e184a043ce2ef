"""The table of what one key takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_app.state.accepting import Amount, tab_accepts, taken

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("ghost", "steps"),
    [
        ("foo(a, b)\n    return c", ["foo", "(a", ", b", ")", "\n    return", " c"]),
        ("|| []) {", ["||", " [])", " {"]),
        ("    x", ["    x"]),
        ("\n\n    }", ["\n\n    }"]),
        ('"foo", **kw', ['"foo', '",', " **kw"]),
        ("你好 world", ["你好", " world"]),
        ("  ", ["  "]),
        ("\n  ", ["\n  "]),
    ],
)
def test_words(ghost: str, steps: list[str]) -> None:
    found = []
    while ghost:
        found.append(taken(ghost, "word"))
        ghost = ghost[len(found[-1]) :]
    assert found == steps


@pytest.mark.parametrize(
    ("ghost", "line"), [("a\nb", "a"), ("\n  a\nb", "\n  a"), ("a", "a"), ("\n", "\n"), ("\n\nb", "\n")]
)
def test_lines(ghost: str, line: str) -> None:
    assert taken(ghost, "line") == line


@given(st.text(alphabet="ab(,) \n\t你🙂", min_size=1), st.sampled_from(["all", "word", "line"]))
def test_every_key_takes_a_beginning_of_it(ghost: str, amount: Amount) -> None:
    piece = taken(ghost, amount)
    assert piece
    assert ghost.startswith(piece)


def test_tab_with_ink_to_the_right_of_leading_space_indents() -> None:
    assert not tab_accepts("  ", "x", 1.0)
    assert tab_accepts("  ", "  ", 1.0)
    assert tab_accepts("x ", ")", 1.0)
    assert not tab_accepts("x", "", None)
