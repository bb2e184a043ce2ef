"""Reads what a GGUF file says of itself and whether all of it is there. Loads no model.

magic · version · count of tensors, of facts │ facts: key, type, value │ tensors: name, shape, type, offset │ padding │ data
"""

import mmap
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from offhook_server.errors import UserError

MAGIC = b"GGUF"
VERSIONS = (2, 3)  # version 1, of 2023, had shorter counts
STRING, ARRAY = 8, 9
SCALARS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
MOST_DIMENSIONS = 8
MOST_KEY_BYTES = 65_535

# bytes of a block of values, and values in a block, by ggml's number of the type; of newer ones only the start is checked
BLOCKS: Final = {
    0: (4, 1), 1: (2, 1), 2: (18, 32), 3: (20, 32), 6: (22, 32), 7: (24, 32), 8: (34, 32), 9: (36, 32),
    10: (84, 256), 11: (110, 256), 12: (144, 256), 13: (176, 256), 14: (210, 256), 15: (292, 256),
    16: (66, 256), 17: (74, 256), 18: (98, 256), 19: (50, 256), 20: (18, 32), 21: (110, 256), 22: (82, 256),
    23: (136, 256), 24: (1, 1), 25: (2, 1), 26: (4, 1), 27: (8, 1), 28: (8, 1), 29: (56, 256), 30: (2, 1),
    34: (54, 256), 35: (66, 256), 39: (17, 32),
}  # fmt: skip

# families that read text into vectors, and parts of other models: no text comes out of them
SILENT = re.compile(r"(.*-)?bert(-.*)?|t5encoder|clip|whisper|.*vae.*|flux|sd.*|wavtokenizer.*")

EMPTY = "The file is empty. Copy or download it again."
NO_GGUF = "The file is no GGUF: it begins with other bytes. Offhook runs models in llama.cpp's GGUF format."
OTHER_VERSION = "The file is GGUF of version {version}; Offhook reads {known}. Get the model in a current format."
CUT_SHORT = "The file is cut short: the model is {whole_mb} MB and {have_mb} MB are here. Copy or download it again."
HEAD_CUT_SHORT = "The file is cut short within its header. Copy or download it again."
DAMAGED = "The file's header makes no sense, so the file is damaged. Copy or download it again."
NO_LANGUAGE_MODEL = "The file holds {what}, which can't write text. Offhook needs a language model."


@dataclass(frozen=True, slots=True)
class Found:
    """`kind`: "model", or what else the file says it is: "adapter", "mmproj", "imatrix", …"""

    architecture: str
    kind: str
    name: str
    size_bytes: int


def inspect(path: Path) -> Found:
    """Raises UserError unless the file is a whole GGUF of a language model, and OSError when it can't be read."""
    with path.open("rb") as file:
        size_bytes = file.seek(0, 2)
        if size_bytes == 0:
            raise UserError(EMPTY)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _inspected(_Reader(data, size_bytes))


class _Reader:
    """Little-endian values one after the other. Raises UserError at the end of the file."""

    def __init__(self, data: mmap.mmap, size_bytes: int) -> None:
        self.data = data
        self.size_bytes = size_bytes
        self.at = 0

    def take(self, count: int) -> bytes:
        begin = self.at
        self.skip(count)
        return self.data[begin : self.at]

    def skip(self, count: int) -> None:
        if count > self.size_bytes - self.at:
            raise UserError(HEAD_CUT_SHORT)
        self.at += count

    def number(self, form: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])

    def text(self) -> str:
        return self.take(self.number("<Q")).decode("utf-8", "replace")

    def key(self) -> str:
        length = self.number("<Q")
        if length > MOST_KEY_BYTES:
            raise UserError(DAMAGED)
        return self.take(length).decode("utf-8", "replace")

    def value(self) -> str | int | None:
        """A text or a number; a list is skipped."""
        kind = self.number("<I")
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            self._skip_list()
            return None
        return self.number(_scalar(kind))

    def _skip_list(self) -> None:
        kind, count = self.number("<I"), self.number("<Q")
        if kind != STRING:
            self.skip(count * struct.calcsize(_scalar(kind)))
            return
        for _ in range(count):
            self.skip(self.number("<Q"))


def _scalar(kind: int) -> str:
    if kind not in SCALARS:
        raise UserError(DAMAGED)
    return SCALARS[kind]


def _inspected(reader: _Reader) -> Found:
    if not reader.data[:4] == MAGIC[: reader.size_bytes]:
        raise UserError(NO_GGUF)
    reader.skip(len(MAGIC))
    version = reader.number("<I")
    if version not in VERSIONS:
        known = " and ".join(map(str, VERSIONS))
        raise UserError(OTHER_VERSION.format(version=version, known=known))
    tensors, count = reader.number("<Q"), reader.number("<Q")
    facts = {reader.key(): reader.value() for _ in range(count)}
    names, end = _tensors(reader, tensors, _whole(facts.get("general.alignment"), 32))
    if end > reader.size_bytes:
        raise UserError(CUT_SHORT.format(whole_mb=-(-end // 1_000_000), have_mb=reader.size_bytes // 1_000_000))
    found = Found(
        _word(facts.get("general.architecture")),
        _word(facts.get("general.type")) or "model",
        str(facts.get("general.name") or ""),
        reader.size_bytes,
    )
    if what := _no_language_model(found, facts, names):
        raise UserError(NO_LANGUAGE_MODEL.format(what=what))
    return found


def _tensors(reader: _Reader, count: int, alignment: int) -> tuple[set[str], int]:
    """Names, and where the last one's bytes end in the file."""
    names: set[str] = set()
    last = 0
    for _ in range(count):
        names.add(reader.key())
        dimensions = reader.number("<I")
        if dimensions > MOST_DIMENSIONS:
            raise UserError(DAMAGED)
        values = 1
        for _ in range(dimensions):
            values *= reader.number("<Q")
        block_bytes, block_values = BLOCKS.get(reader.number("<I"), (0, 1))
        last = max(last, reader.number("<Q") + values // block_values * block_bytes)
    return names, -(-reader.at // alignment) * alignment + last


def _no_language_model(found: Found, facts: dict[str, str | int | None], names: set[str]) -> str:
    """What it is instead, in words; empty for a language model."""
    if found.kind != "model":
        return f"no model of its own but a part for another ({found.kind})"
    if not found.architecture:
        return "a model of no named architecture"
    if SILENT.fullmatch(found.architecture):
        return f"a model of another kind ({found.architecture})"
    if not names:
        return f"only the vocabulary of a model ({found.architecture})"
    if "tokenizer.ggml.model" not in facts or "token_embd.weight" not in names:
        return f"a model without words to write with ({found.architecture})"
    return ""


def _whole(value: str | int | None, otherwise: int) -> int:
    return value if isinstance(value, int) and value > 0 else otherwise


def _word(value: str | int | None) -> str:
    """A name that is safe to print."""
    return value if isinstance(value, str) and re.fullmatch(r"[\w.+-]{1,64}", value) else ""
