import pytest

from offhook_server.core.healing import Healing, Lead, lead_of
from offhook_wire.text import Point, Text

pytestmark = pytest.mark.pure


def ghost(healing: Healing, said: str, at_once: bool) -> str:
    return "".join(healing.feed(piece) for piece in ([said] if at_once else said))


@pytest.mark.parametrize(
    ("line", "lead"),
    [
        ("y = ", Lead(" ", "", False)),
        ("    ", Lead("    ", "", True)),
        ("\t", Lead("\t", "", True)),
        ("", Lead("", "", True)),
        ("return wid", Lead(" ", "wid", False)),
        ("    ret", Lead("    ", "ret", True)),
        ("self.na", Lead("", "na", False)),
        ("x = 12", Lead("", "", False)),
        ("größ", Lead("", "größ", True)),
        ("print(", Lead("", "", False)),
    ],
)
def test_what_is_left_to_the_model(line: str, lead: Lead) -> None:
    assert lead_of(Text("x\n" + line), Point(1, len(line))) == lead


def test_nothing_is_left_to_it_where_it_fills_in() -> None:
    assert lead_of(Text("foo(ba, c)"), Point(0, 6)) == Lead()


@pytest.mark.parametrize(
    ("lead", "grammar"),
    [(Lead(" ", "wid"), 'root ::= " wid" .*'), (Lead("\t", "x"), 'root ::= "\\tx" .*'), (Lead("  "), None)],
)
def test_half_a_word_is_held_to_by_a_grammar(lead: Lead, grammar: str | None) -> None:
    assert lead.grammar == grammar


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("blanks", "said", "shown"),
    [
        ("    ", "    return x", "return x"),
        ("    ", "        x()\n        y()", "    x()\n        y()"),
        ("    ", "\n    return x", "return x"),
        ("\t", "\treturn x", "return x"),
        ("", "return x", "return x"),
        ("", "  return x", "  return x"),
        ("    ", "   ", ""),
    ],
)
def test_blanks_at_the_start_of_a_line(blanks: str, said: str, shown: str, at_once: bool) -> None:
    healing = Healing(Lead(blanks, at_line_start=True))
    assert ghost(healing, said, at_once) == shown
    assert not healing.failed


@pytest.mark.parametrize("at_once", [True, False])
def test_a_block_further_out_does_not_belong_here(at_once: bool) -> None:
    healing = Healing(Lead("    ", at_line_start=True))
    assert ghost(healing, "def g():", at_once) == ""
    assert healing.failed


@pytest.mark.parametrize("said", [" 3", "3", "  3"])
def test_a_blank_in_mid_line_is_no_matter_of_structure(said: str) -> None:
    healing = Healing(Lead(" "))
    assert ghost(healing, said, at_once=False).strip() == "3"
    assert not healing.failed


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("lead", "said", "shown"),
    [
        (Lead(" ", "wid"), " width * height", "th * height"),
        (Lead(" ", "wid"), " wid", ""),
        (Lead("    ", "ret", at_line_start=True), "    return x", "urn x"),
        (Lead("", "na"), "name.x", "me.x"),
        (Lead(" ", "al"), "alpha", "pha"),
    ],
)
def test_half_a_word_is_said_again_and_taken_off(lead: Lead, said: str, shown: str, at_once: bool) -> None:
    healing = Healing(lead)
    assert ghost(healing, said, at_once) == shown
    assert not healing.failed


@pytest.mark.parametrize("at_once", [True, False])
def test_another_word_does_not_belong_here(at_once: bool) -> None:
    healing = Healing(Lead(" ", "wid"))
    assert ghost(healing, " height", at_once) == ""
    assert healing.failed
