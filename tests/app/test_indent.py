"""Code put at the caret is indented as the caret's line is."""

import pytest

from offhook_app.editor.indent import at_caret

pytestmark = pytest.mark.pure

CODE = "if x:\n    y()\n\nz()\n"


@pytest.mark.parametrize(
    ("before", "put"),
    [
        ("", "if x:\n    y()\n\nz()"),
        ("    ", "if x:\n        y()\n\n    z()"),
        ("\t", "if x:\n\t    y()\n\n\tz()"),
        ("    a = ", "if x:\n        y()\n\n    z()"),
    ],
)
def test_lines_after_the_first_get_the_lead(before: str, put: str) -> None:
    assert at_caret(CODE, before) == put


def test_what_all_lines_are_indented_by_goes() -> None:
    assert at_caret("\n        if x:\n            y()\n\n", "  ") == "if x:\n      y()"
