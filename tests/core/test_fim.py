"""Every kind of model is asked in its own words, and the built-in one in exactly those that its cache knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core.fim import (
    CODELLAMA,
    CODESTRAL,
    DEEPSEEK,
    PLAIN,
    QWEN,
    STARCODER,
    TEMPLATES,
    Infill,
    Template,
    infill_fields,
    suffix_fields,
    template_named_by,
    template_of_file,
)
from offhook_server.core.neighbours import Neighbour
from offhook_server.core.prompt import PromptWindow
from offhook_wire.text import Point, Text

pytestmark = pytest.mark.pure

NEAR = Neighbour("near.py", "def near(): pass")
GAP = Infill("x = f(", ")\ny", "this.py", (NEAR,))


@pytest.mark.parametrize(
    ("text", "caret", "neighbours", "prompt"),
    [
        ("", Point(0, 0), (), "<|file_sep|>this.py\n"),
        ("x = 1\nreturn wid", Point(1, 10), (), "<|file_sep|>this.py\nx = 1\nreturn"),
        ("def f():\n    \n    g()\n", Point(1, 4), (), "<|file_sep|>this.py\ndef f():\n"),
        (
            "f(\nprint()\nend",
            Point(1, 6),
            (NEAR,),
            "<|file_sep|>near.py\ndef near(): pass\n<|file_sep|>this.py\n"
            "<|fim_prefix|>f(\nprint(<|fim_suffix|>)\nend<|fim_middle|>",
        ),
        (
            "a <|fim_middle|> {0} b",
            Point(0, 17),
            (Neighbour("<|x.py", "{a}<|endoftext|>"),),
            "<|file_sep|><\u200b|x.py\n{a}<\u200b|endoftext|>\n<|file_sep|>this.py\n"
            "<|fim_prefix|>a <\u200b|fim_middle|> <|fim_suffix|>{0} b<|fim_middle|>",
        ),
        ("x" * 2000 + "\ny = ", Point(1, 4), (), "<|file_sep|>this.py\ny ="),
    ],
)
def test_the_built_in_models_prompt_is_to_the_byte_what_it_was(
    text: str, caret: Point, neighbours: tuple[Neighbour, ...], prompt: str
) -> None:
    window = PromptWindow("this.py")
    window.choose(caret, neighbours)
    assert window.build(Text(text), caret) == prompt


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        (
            QWEN,
            "<|file_sep|>near.py\ndef near(): pass\n<|file_sep|>this.py\n"
            "<|fim_prefix|>x = f(<|fim_suffix|>)\ny<|fim_middle|>",
        ),
        (
            STARCODER,
            "<file_sep>near.py\ndef near(): pass\n<file_sep><fim_prefix>this.py\nx = f(<fim_suffix>)\ny<fim_middle>",
        ),
        (
            DEEPSEEK,
            "#near.py\ndef near(): pass\n<｜fim▁begin｜>#this.py\nx = f(<｜fim▁hole｜>)\ny<｜fim▁end｜>",
        ),
        (CODESTRAL, "[SUFFIX])\ny[PREFIX]+++++ near.py\ndef near(): pass\n+++++ this.py\nx = f("),
        (CODELLAMA, "<PRE> # near.py\ndef near(): pass\n# this.py\nx = f( <SUF>)\ny <MID>"),
        (PLAIN, "# near.py\ndef near(): pass\n# this.py\nx = f("),
    ],
)
def test_each_family_is_asked_as_it_was_taught(template: Template, prompt: str) -> None:
    assert template.render(GAP) == prompt
    assert template.keystroke(GAP) == prompt  # in the middle of a line


def test_what_the_model_is_held_to_say_again_is_left_out() -> None:
    gap = Infill("y = wid", "\nz", "this.py", (), lead=" wid")
    assert STARCODER.render(gap) == "<file_sep><fim_prefix>this.py\ny =<fim_suffix>\nz<fim_middle>"
    assert STARCODER.keystroke(gap) == "<file_sep>this.py\ny ="


@given(st.sampled_from(list(TEMPLATES.values())), st.data())
def test_text_of_the_persons_own_is_never_one_of_the_models_marks(template: Template, data: st.DataObject) -> None:
    pieces = st.lists(st.sampled_from([*template.marks, "x", "{0}", "<", "|"]), max_size=4).map("".join)
    text, name = data.draw(pieces), data.draw(pieces)
    bare = template.render(Infill("", "", "", (Neighbour("", ""),)))
    built = template.render(Infill(text, text, name, (Neighbour(name, text),)))
    assert {mark: built.count(mark) for mark in template.marks} == {mark: bare.count(mark) for mark in template.marks}


@pytest.mark.parametrize(
    ("model", "template"),
    [
        ("Qwen/Qwen2.5-Coder-7B", QWEN),
        ("qwen3-coder:30b", QWEN),
        ("bigcode/starcoder2-15b", STARCODER),
        ("deepseek-ai/DeepSeek-Coder-V2-Lite-Base", DEEPSEEK),
        ("codestral-latest", CODESTRAL),
        ("CodeLlama-7b-hf", CODELLAMA),
        ("code-llama", CODELLAMA),
        ("gpt-5", None),
        ("qwen3-32b", None),
    ],
)
def test_a_name_tells_the_family(model: str, template: Template | None) -> None:
    assert template_named_by(model) is template


def test_a_vocabulary_tells_the_family() -> None:
    def entry(token: str) -> bytes:
        return len(token.encode()).to_bytes(8, "little") + token.encode()

    assert template_of_file(b"GGUF" + entry("x") + entry("<|fim_middle|>")) is QWEN
    assert template_of_file(b"GGUF" + entry("<fim_middle>")) is STARCODER
    assert template_of_file(b"GGUF" + entry("say <|fim_middle|> to me")) is PLAIN


def test_llama_cpp_writes_the_marks_itself() -> None:
    gap = Infill("y = wid", "\nz", "this.py", (NEAR,), lead=" wid")
    assert infill_fields(gap) == {
        "input_prefix": "y =",
        "input_suffix": "\nz",
        "input_extra": [{"filename": "near.py", "text": "def near(): pass"}],
    }


def test_where_there_is_but_a_suffix_neighbours_stand_above() -> None:
    gap = Infill("y = wid", "\nz", "this.py", (NEAR,), lead=" wid")
    assert suffix_fields(gap) == {"prompt": "# near.py\ndef near(): pass\n# this.py\ny = wid", "suffix": "\nz"}
    alone = Infill("y = wid", "\nz", "this.py", ())
    assert suffix_fields(alone) == {"prompt": "y = wid", "suffix": "\nz"}
