"""Which lines of the folder a prompt is shown: alike in rare words, or going on from a line that begins alike."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offhook_server.core.copying import Caret, CopyIndex
from offhook_server.core.neighbours import ALIKE_CHARS, WENT_ON_CHARS, Neighbour

pytestmark = pytest.mark.pure

PADDING = "".join(f"filler_{n} = {n}\n" for n in range(60))
TELEGRAM = "def send_telegram(receiver, postage):\n    envelope = Envelope(receiver)\n    envelope.stamp(postage)\n"


def index(**files: str) -> CopyIndex:
    made = CopyIndex()
    for name, text in files.items():
        made.put(name, text)
    return made


def near(
    made: CopyIndex, before: str, name: str = "here", hidden: range = range(0), line: int = 0, prompt_from: int = 0
) -> list[Neighbour]:
    guess = made.suggest(Caret(name, before, hidden=hidden, line=line, prompt_from=prompt_from))
    return list(guess.neighbours) if guess else []


def test_rare_words_in_common_bring_the_lines_they_stand_in() -> None:
    made = index(post=PADDING + TELEGRAM, other=PADDING)
    (found,) = near(made, "def send_letter(receiver, postage):\n    ")
    assert found.name == "post"
    assert "envelope.stamp(postage)" in found.text


def test_words_of_the_last_two_lines_count_twice() -> None:
    made = index(far="alpha beta\n", late="gamma\ndelta\n")
    (found,) = near(made, "alpha\nbeta\nx\ngamma\ndelta ")
    assert found.name == "late"


def test_what_went_on_from_a_line_that_begins_alike_stands_last() -> None:
    made = index(post=TELEGRAM + PADDING, net="x = 1\nwith open(path) as stream:\n    stream.flush()\n")
    alike, went_on = near(made, "# send_telegram receiver postage Envelope envelope stamp\nwith open(path) as ")
    assert alike.name == "post"
    assert went_on == Neighbour("net", "with open(path) as stream:\n    stream.flush()\n")


def test_it_is_not_said_twice() -> None:
    made = index(post=TELEGRAM)
    (found,) = near(made, "def send_telegram(receiver, ")
    assert "stamp" in found.text


def test_the_word_at_the_caret_may_be_half_of_one() -> None:
    assert near(index(a="send = 1\n"), "send") == []


def test_a_word_that_stands_everywhere_tells_nothing() -> None:
    assert near(index(a="self\n" * 300), "self ") == []


def test_of_its_own_file_what_a_prompt_does_not_show() -> None:
    own = TELEGRAM + PADDING + "x = 1\n" * 40
    before = own + "def send_letter(receiver, postage):\n    "
    made = index(here=before)
    line = before.count("\n")
    (found,) = near(made, before, hidden=range(line, line + 1), line=line, prompt_from=line - 40)
    assert "envelope.stamp(postage)" in found.text
    assert near(made, before, hidden=range(line, line + 1), line=line) == []


def test_nothing_of_what_follows_soon_and_nothing_hidden() -> None:
    before = "def send_letter(receiver, postage):\n    "
    made = index(here=before + "\n" + TELEGRAM)
    assert near(made, before, hidden=range(1, 2), line=1) == []
    made = index(here=PADDING + TELEGRAM)
    assert near(made, before, hidden=range(999), line=1) == []
    assert near(made, before, line=1)


def test_lines_of_its_own_file_end_where_the_prompt_begins() -> None:
    own = "with open(path) as stream:\n    stream.flush()\n" + "shown = 1\n" * 89 + "with open(path) as "
    line = own.count("\n")
    made = index(here=own)
    (found,) = near(made, own, hidden=range(line, line + 1), line=line, prompt_from=2)
    assert found.text == "with open(path) as stream:\n    stream.flush()"


WORDS = st.text(st.sampled_from("ab1_é(){}.,= \t\n\r"), max_size=120)


@settings(max_examples=200, deadline=None)
@given(WORDS, WORDS, WORDS, st.integers(0, 9))
def test_they_are_lines_of_their_files_and_short(one: str, other: str, before: str, line: int) -> None:
    one, other = one.replace("\r", ""), other.replace("\r", "")
    made = index(one=one, other=other)
    texts = {"one": one, "other": other}
    for found in near(made, before, "one", range(line, line + 1), line, line):
        assert found.text.strip()
        assert len(found.text) <= max(ALIKE_CHARS, WENT_ON_CHARS)
        assert ("\n" + found.text) in ("\n" + texts[found.name])


def test_of_a_long_line_its_beginning() -> None:
    (found,) = near(index(a="rare = " + "x + " * 200), "rare ")
    assert found.text.startswith("rare = x")
    assert len(found.text) == ALIKE_CHARS
