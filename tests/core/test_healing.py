import pytest

from offhook_server.core.healing import Healing

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("lead", "said", "ghost"),
    [
        ("    ", "    return x", "return x"),
        ("    ", "        x()\n        y()", "    x()\n        y()"),
        ("    ", "\n    return x", "return x"),
        ("    ", "return x", ""),
        ("\t", "\treturn x", "return x"),
        ("", "return x", "return x"),
        ("    ", "   ", ""),
    ],
)
def test_blanks_at_the_start_of_a_line(lead: str, said: str, ghost: str, at_once: bool) -> None:
    healing = Healing(lead, at_line_start=True)
    assert "".join(healing.feed(piece) for piece in ([said] if at_once else said)) == ghost
    assert healing.failed == (said == "return x" and lead != "")


@pytest.mark.parametrize("said", [" 3", "3", "  3"])
def test_a_blank_in_mid_line_is_no_matter_of_structure(said: str) -> None:
    healing = Healing(" ", at_line_start=False)
    assert "".join(map(healing.feed, said)).strip() == "3"
    assert not healing.failed


def test_what_comes_after_the_front_is_passed_on() -> None:
    healing = Healing("  ", at_line_start=True)
    assert healing.feed("  a") + healing.feed("  b") == "a  b"
    failed = Healing("  ", at_line_start=True)
    assert failed.feed("a") == ""
