"""Small GGUF files for tests, whole and wrong in every way a person's disk may hold them. No model is in them."""

import struct

TEXT, ARRAY, U32 = 8, 9, 4
F32 = 0


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words.encode())) + words.encode()


def fact(key: str, value: str | int | list[str]) -> bytes:
    match value:
        case str():
            return text(key) + struct.pack("<I", TEXT) + text(value)
        case int():
            return text(key) + struct.pack("<II", U32, value)
        case _:
            inner = b"".join(map(text, value))
            return text(key) + struct.pack("<IIQ", ARRAY, TEXT, len(value)) + inner


def gguf(
    architecture: str = "qwen2",
    tensors: tuple[str, ...] = ("token_embd.weight", "output.weight"),
    *,
    version: int = 3,
    tokenizer: bool = True,
    kind: str = "",
) -> bytes:
    """Each tensor is 8 × 4 numbers of 4 bytes."""
    facts = [fact("general.architecture", architecture), fact("general.alignment", 64)]
    if tokenizer:
        facts += [fact("tokenizer.ggml.model", "gpt2"), fact("tokenizer.ggml.tokens", ["a", "b"])]
    if kind:
        facts.append(fact("general.type", kind))
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(facts)) + b"".join(facts)
    for number, name in enumerate(tensors):
        head += text(name) + struct.pack("<IQQIQ", 2, 8, 4, F32, number * 128)
    return head + bytes(-len(head) % 64) + bytes(128 * len(tensors))
