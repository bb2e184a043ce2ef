"""Markdown that streams in comes to the same blocks as Markdown that is there at once, and HTML stays text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_app.panels.markdown import TYPED, WRITTEN, Block, Growing

pytestmark = pytest.mark.pure

PIECES = [
    "word ", "**bold** ", "`code` ", "\n", "\n\n", "- item\n", "  - inner\n", "1. one\n", "2. two\n", "   ```py\n   x = 1\n   ```\n",
    "```\ny\n\nz\n```\n", "```", "# Title\n", "> said\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n", "---\n", "<b>", "    ", "\r\n", "~~~\n",
]  # fmt: skip


def seen(block: Block) -> tuple[object, ...]:
    """What can be seen of a block."""
    words = tuple((token.type, token.content, token.info) for token in block.tokens)
    return (words, block.code, block.language, block.continues)


def at_once(text: str) -> list[Block]:
    settled, last = Growing(WRITTEN).grow(text, ended=True)
    return [*settled, last] if last else settled


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.integers(1, 7))
def test_streamed_is_as_at_once(pieces: list[str], step: int) -> None:
    text = "".join(pieces)
    growing, settled, last = Growing(WRITTEN), list[Block](), None
    for end in [*range(step, len(text), step), len(text)]:
        new, last = growing.grow(text[:end], ended=end == len(text))
        settled += new
    assert [seen(b) for b in [*settled, *([last] if last else [])]] == [seen(b) for b in at_once(text)]


def test_code_in_a_list_is_code_of_its_own() -> None:
    blocks = at_once("1. Do this:\n\n   ```python\n   if x:\n       y()\n   ```\n\n2. Then that.\n3. And\n")
    assert [(b.code, b.language, b.continues) for b in blocks] == [
        (None, "", False),
        ("if x:\n    y()", "python", False),
        (None, "", False),
        (None, "", True),
    ]
    assert blocks[3].tokens[0].info == "3"


def test_a_fence_without_an_end_is_code_to_the_end() -> None:
    assert [b.code for b in at_once("Look:\n```js\na\n\nb")] == [None, "a\n\nb"]


def test_html_is_text() -> None:
    for text in ("<script>alert(1)</script>\n", "a <b>c</b>\n"):
        (block,) = at_once(text)
        assert not any("html" in child.type for token in block.tokens for child in token.children or [])


def test_what_a_person_typed_is_taken_as_it_is() -> None:
    settled, last = Growing(TYPED).grow("why __init__ and *args?\n    indented\n\n`x`", ended=True)
    assert last
    (paragraph,) = settled
    assert paragraph.tokens[1].content == "why __init__ and *args?\n    indented"
    assert [child.type for child in last.tokens[1].children or []] == ["code_inline"]
    assert Growing(TYPED).grow("", ended=True) == ([], None)
