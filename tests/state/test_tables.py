"""Keys without doubles; colours against the contrast table of the design."""

from collections import Counter
from itertools import product

import pytest

from offhook_app.state.keys import BY_ID, KEYS, of_layer
from offhook_app.state.theme import DARK, LIGHT, Theme, contrast

pytestmark = pytest.mark.pure

KEPT_FREE = {"Ctrl+Space", "Shift+Space", "Ctrl+.", "Alt+Backspace"}


def test_no_key_means_two_things() -> None:
    """A ghost's key may hide an editor's, never one that holds everywhere."""
    for layers in (("any", "editor"), ("any", "ghost")):
        used = Counter(s for key in KEYS if key.layer in layers for s in (key.sequence, *key.also))
        assert [sequence for sequence, times in used.items() if times > 1] == []
        assert not KEPT_FREE & set(used)


def test_caps_are_what_stands_on_the_keys() -> None:
    assert BY_ID["accept_word"].caps == ["Ctrl", "→"]
    assert BY_ID["larger"].caps == ["Ctrl", "+"]
    assert BY_ID["suggest"].caps == ["Alt", "\\"]
    hinted = [key.id for key in of_layer("ghost") if key.hinted]
    assert hinted == ["accept", "accept_word", "accept_line", "dismiss"]


PANELS = ("chrome", "editor", "card", "raised", "hover")
CODE = ("keyword", "string", "number", "function", "type", "decorator", "self")


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda t: t.name)
def test_contrast(theme: Theme) -> None:
    def lowest(colours: tuple[str, ...], surfaces: tuple[str, ...]) -> float:
        return min(contrast(getattr(theme, c), getattr(theme, s)) for c, s in product(colours, surfaces))

    assert lowest(("t1", "t2", "t3"), PANELS) >= 4.5
    assert lowest(CODE, ("editor", "curline", "okbg", "badbg")) >= 4.5
    assert lowest(("ghost", "comment"), ("editor", "curline")) >= 4.5
    assert lowest(("num",), ("editor",)) >= 4.5
    assert lowest(("accent", "ok", "warn", "bad"), ("chrome", "editor", "card")) >= 4.5
    assert lowest(("t1",), ("sel", "warnbg", "badbg", "accentbg")) >= 7
    assert lowest(("onacc",), ("accent",)) >= 4.5
    assert lowest(("edge",), ("chrome", "editor", "card")) >= 3
    bars = tuple(f"lat_{family}{shade}" for family in ("app", "line", "server", "screen") for shade in ("", "2"))
    assert lowest(bars, ("card",)) >= 3


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
