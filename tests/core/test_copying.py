"""The copy model's stories: what stands elsewhere, what the caret asks for, what may be shown."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offhook_server.core.copying import Caret, CopyIndex, Guess, confident, fitted, hidden_lines

pytestmark = pytest.mark.pure

CLIENT = """\
import socket

def connect(host, port):
    for name, value in self.headers.items():
        request.add_header(name, value)
        log(name)

    return socket.create_connection((host, port))
"""


def index(**files: str) -> CopyIndex:
    made = CopyIndex()
    for name, text in files.items():
        made.put(name, text)
    return made


def ghost(made: CopyIndex, before: str, after: str = "", more_lines: int = 0) -> str | None:
    guess = made.suggest(Caret("here", before, after), more_lines=more_lines)
    return guess.text if guess else None


def test_the_rest_of_a_line_that_stands_elsewhere() -> None:
    guess = index(client=CLIENT).suggest(Caret("here", "import socket\n\ndef connect(host, port):\n    for name, val"))
    assert guess is not None
    assert (guess.text, guess.match_tokens, guess.at_line_start) == ("ue in self.headers.items():", 22, False)
    assert guess.share > 0.99
    assert confident(guess)


def test_the_first_line_of_a_file_is_known_by_its_start() -> None:
    assert ghost(index(client=CLIENT), "imp") == "ort socket"
    assert ghost(index(a="import socket"), "") == "import socket"


def test_the_longer_match_outvotes_the_shorter() -> None:
    made = index(a="x = load(path, mode)\n" * 3, b="with open(name):\n    y = load(path, strict)\n")
    assert ghost(made, "with open(name):\n    y = load(path, ") == "strict)"


def test_votes_are_shared() -> None:
    guess = index(a="go(a, b)\n", b="go(a, c)\n", c="go(a, c)\n").suggest(Caret("here", "go(a, "))
    assert guess is not None
    assert (guess.text, round(guess.share, 2)) == ("c)", 0.67)
    assert not confident(guess)


def test_one_token_is_better_than_nothing() -> None:
    assert ghost(index(a="value = compute(x)\n"), "other.compute") is None
    assert ghost(index(a="value = compute(x)\n"), "zzz compute(") == "x)"


def test_nothing_known_nothing_said() -> None:
    assert ghost(index(), "def f") is None
    assert ghost(index(a="x = 1\n"), "été") is None


def test_a_line_that_ends_here_is_left_alone() -> None:
    assert ghost(index(client=CLIENT), "import socket") is None


def test_words_of_any_script_and_line_ends_of_any_kind() -> None:
    made = index(a="größe = zähle(wörter)\r\nпривет = 1\r\n")
    assert ghost(made, "größe = zäh") == "le(wörter)"
    assert ghost(made, "größe = zähle(wörter)\r\nпри") == "вет = 1"


def test_a_start_of_line_is_marked_and_needs_a_long_match() -> None:
    before = "import socket\n\ndef connect(host, port):\n    "
    guess = index(client=CLIENT).suggest(Caret("here", before))
    assert guess is not None
    assert guess.at_line_start
    assert not confident(guess)
    guess = index(client=CLIENT).suggest(Caret("here", CLIENT[: CLIENT.index("log")]))
    assert guess is not None
    assert (guess.text, confident(guess)) == ("log(name)", True)
    assert not confident(Guess("", share=1.0, match_tokens=64))


@pytest.mark.parametrize(
    ("places", "tokens", "sure"),
    [
        (1, 19, False),
        (1, 20, True),
        (2, 11, False),
        (2, 12, True),
        (3, 4, True),
        (3, 3, False),
        (9, 4, True),
        (9, 3, False),
    ],
)
def test_places_that_agree_make_up_for_a_short_match(places: int, tokens: int, sure: bool) -> None:
    assert confident(Guess("x", share=1.0, match_tokens=tokens, places=places)) is sure
    assert not confident(Guess("x", share=0.79, match_tokens=tokens, places=places))


def test_places_that_go_on_alike_are_counted() -> None:
    made = index(a="go(one)\n", b="go(two)\ngo(one)\n", c="go(one)\n")
    guess = made.suggest(Caret("here", "go("))
    assert guess is not None
    assert (guess.text, guess.places) == ("one)", 3)


def test_lines_below_come_on_request_and_in_the_indentation_of_the_caret() -> None:
    made = index(client=CLIENT)
    line = "for name, value in "
    assert ghost(made, line) == "self.headers.items():"
    expected = "self.headers.items():\n    request.add_header(name, value)\n    log(name)"
    assert ghost(made, line, more_lines=9) == expected
    assert ghost(made, line, more_lines=1) == expected[: expected.rindex("\n")]
    assert ghost(made, f"\t{line}", more_lines=9) == "self.headers.items():"  # tabs here, spaces there
    assert ghost(made, f"  {line}", more_lines=1) == "self.headers.items():\n      request.add_header(name, value)"
    assert ghost(made, line, after=":", more_lines=9) == "self.headers.items()"
    assert ghost(index(a="go(a)"), "go(", more_lines=2) == "a)"


@pytest.mark.parametrize(
    ("text", "before", "after", "shown"),
    [
        ('"hello")', "print(", ")", '"hello"'),
        ("a):", "if go(", ")", "a"),
        ("f(a), b):", "if go(", "):", "f(a), b"),
        ("a, b", "go(", ")", "a, b"),
        ("[1, (2)]", "go(", "]", "[1, (2)]"),
        (")", "go(", ")", ""),
        ("hello')", "print('", "')", "hello"),
        ("hello') + 1", "print('", "')", "hello"),
        ("name = value", "", "value", "name = "),
        ("name = val", "", "value + 1", "name = "),
        ("value", "x = ", "value", ""),
        ("val", "x = ", "value", ""),
        ("other", "x = ", "value", ""),
        ("ther", "x = o", "ther", ""),
        ("name, ", "go(", "value)", "name,"),
        ("a  ", "x = ", "", "a"),
        ("a", "x = ", "  ", "a"),
        ("   ", "x =", "", ""),
    ],
)
def test_what_stands_right_of_the_caret_is_not_said_again(text: str, before: str, after: str, shown: str) -> None:
    assert fitted(text, before, after) == shown


def test_the_line_being_edited_is_not_its_own_model() -> None:
    made = index(here="a->first(x)\nb+>second(y)\nc*>third(z)\n")

    def own(before: str, hidden: range) -> str | None:
        guess = made.suggest(Caret("here", before, hidden=hidden))
        return guess.text if guess else None

    assert own("a->first(x)\nb+>sec", range(1, 2)) is None
    assert own("a->first(x)\nc*>", range(1, 2)) == "third(z)"
    assert own("a->first(x)\nb+>sec", range(9)) is None
    assert own("c*>", range(2, 9)) is None
    assert own("c*>", range(7, 9)) == "third(z)"
    assert own("c*>", range(0)) == "third(z)"
    # that the line ends there is known from the line itself only
    assert own("a->first(x)\nb+>second(y)", range(1, 2)) is None


@pytest.mark.parametrize(
    ("indexed", "now", "line", "hidden"),
    [
        ("a\nb\nc", "a\nb\nc", 1, range(1, 2)),
        ("a\nb\nc", "a\nbx\nc", 1, range(1, 2)),
        ("a\nb\nc", "a\nx\ny\nb\nc", 4, range(1, 3)),
        ("a\nb\nc", "a\nb\nc\nd\ne", 0, range(3)),
        ("a\nx\nb\nc", "a\nb\nc", 2, range(1, 4)),
        ("", "a", 0, range(1)),
    ],
)
def test_lines_hidden_are_the_carets_and_those_that_differ(indexed: str, now: str, line: int, hidden: range) -> None:
    found = hidden_lines(indexed, now, line)
    assert set(hidden) <= set(found)


def test_replaced_and_dropped_files_are_forgotten() -> None:
    made = index(a="go(one)\n")
    made.put("a", "go(two)\n")
    assert ghost(made, "go(") == "two)"
    made.drop("a")
    made.drop("a")
    assert ghost(made, "go(") is None
    assert (made.files, made.chars) == ({}, 0)


CODE = st.text(st.sampled_from("ab1_é(){}[]\"'.,:= \t\n\r#"), max_size=60)
LINE = st.text(st.sampled_from("ab(). ="), max_size=8)
FILE = st.lists(LINE, max_size=6).map("\n".join)
CHANGE = st.tuples(st.sampled_from("xyz"), st.none() | FILE)


@settings(max_examples=200, deadline=None)
@given(st.lists(CHANGE, max_size=8), FILE, LINE)
def test_changes_leave_what_a_fresh_index_has(changes: list[tuple[str, str | None]], before: str, after: str) -> None:
    changed = CopyIndex()
    texts: dict[str, str] = {}
    for name, text in changes:
        if text is None:
            changed.drop(name)
            texts.pop(name, None)
        else:
            changed.put(name, text)
            texts[name] = text
    fresh = index(**texts)
    for name in ("x", "other"):
        caret = Caret(name, before, after, range(1, 2), 1, prompt_from=0)
        assert changed.suggest(caret, more_lines=2) == fresh.suggest(caret, more_lines=2)


@settings(max_examples=300, deadline=None)
@given(CODE | st.text(max_size=40), CODE, CODE | st.text(max_size=40), CODE, st.integers(0, 3), st.integers(0, 9))
def test_any_text_is_answered_with_one_line_that_is_not_there_yet(
    one: str, other: str, before: str, after: str, more_lines: int, line: int
) -> None:
    after = after.split("\n")[0].split("\r")[0]
    made = index(one=one, other=other)
    caret = Caret("one", before, after, range(line, line + 1))
    guess = made.suggest(caret)
    if guess:
        assert guess.text.strip()
        assert "\n" not in guess.text
        assert "\r" not in guess.text
        assert not (after.strip() and guess.text.strip().startswith(after.strip()))
        assert 0 < guess.share <= 1
    more = made.suggest(replace(caret, prompt_from=0), more_lines=more_lines)
    if guess:
        assert more is not None
        assert more.text.startswith(guess.text)
        assert more.text.count("\n") <= more_lines
