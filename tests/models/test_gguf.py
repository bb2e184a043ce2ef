"""What is said of a person's own model file before an engine ever sees it."""

from pathlib import Path

import pytest

from offhook_server.errors import UserError
from offhook_server.models.gguf import inspect
from support.gguf_file import gguf

pytestmark = pytest.mark.loopback

WHOLE = gguf()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.gguf"


def test_a_whole_language_model_is_named(path: Path) -> None:
    path.write_bytes(WHOLE)
    found = inspect(path)
    assert (found.architecture, found.kind, found.size_bytes) == ("qwen2", "model", len(WHOLE))


def test_bytes_after_the_model_are_nobodys_business(path: Path) -> None:
    path.write_bytes(WHOLE + b"more")
    assert inspect(path).architecture == "qwen2"


def test_wherever_it_is_cut_it_is_said_to_be_cut(path: Path) -> None:
    for have in range(1, len(WHOLE)):
        path.write_bytes(WHOLE[:have])
        with pytest.raises(UserError, match="cut short"):
            inspect(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "file is empty"),
        (b"PK\x03\x04 a zip file", "no GGUF"),
        (b"<html>404", "no GGUF"),
        (gguf(version=1), "GGUF of version 1; Offhook reads 2 and 3"),
        (gguf("clip"), r"another kind \(clip\)"),
        (gguf("nomic-bert"), r"another kind \(nomic-bert\)"),
        (gguf("whisper"), r"another kind \(whisper\)"),
        (gguf(kind="adapter"), r"part for another \(adapter\)"),
        (gguf(kind="mmproj"), r"part for another \(mmproj\)"),
        (gguf(tensors=()), r"only the vocabulary of a model \(qwen2\)"),
        (gguf(tokenizer=False), "without words to write with"),
        (gguf(tensors=("v.blk.0.weight",)), "without words to write with"),
        (gguf("\x1b[2J"), "no named architecture"),
        (WHOLE[:24] + b"\xff" * 40, "makes no sense"),
        (WHOLE.replace(b"\x08\x00\x00\x00\x05", b"\x63\x00\x00\x00\x05", 1), "makes no sense"),
    ],
)
def test_what_is_no_language_model_is_refused_with_words(path: Path, content: bytes, words: str) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError, match=words):
        inspect(path)
