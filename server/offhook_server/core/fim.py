"""Filling in: what stands around a caret, and how each kind of model is asked for what is missing. Chooses no window.

    where                          form            sent as
    a raw prompt (this engine,     a Template      one text with the model's own marks
      vLLM, LM Studio)
    llama.cpp's server             "infill"        /infill: input_prefix, input_suffix, input_extra
    Ollama, DeepSeek               "suffix"        /completions: prompt, suffix
    Mistral                        "mistral"       /fim/completions: prompt, suffix
    any chat model                 "none"          a question, and an answer to be cleaned (core.code_only)

Every form is told `before` alone where a grammar holds the model to the lead (core.healing), else the whole prefix.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from offhook_server.core.neighbours import Neighbour

Family = Literal["qwen", "starcoder", "deepseek", "codestral", "codellama"]
HIDDEN = "\u200b"  # splits what the person's own text has in common with a model's marks


class Infill(Struct, frozen=True):
    """What stands around the caret in file `name`, as it is, LF line ends. `lead`: the end of `prefix` that the answer
    is to begin with once more."""

    prefix: str
    suffix: str
    name: str
    neighbours: tuple[Neighbour, ...]
    lead: str = ""

    @property
    def before(self) -> str:
        return self.prefix.removesuffix(self.lead)

    @property
    def at_line_end(self) -> bool:
        return not self.suffix.partition("\n")[0].strip()


@dataclass(frozen=True, slots=True)
class Template:
    """How one family of models was taught. `disguised` are beginnings of its marks, `family` is in the names of its models."""

    file: str
    whole: str
    marks: tuple[str, ...]
    disguised: tuple[str, ...]
    family: re.Pattern[str]
    token: bytes  # as it stands in the vocabulary of a GGUF file

    def render(self, infill: Infill) -> str:
        front, head = self._around(infill)
        return self.whole.format(
            front=front,
            head=head,
            name=self._plain(infill.name),
            before=self._plain(infill.prefix).removesuffix(infill.lead),
            after=self._plain(infill.suffix),
        )

    def keystroke(self, infill: Infill) -> str:
        """Goes on from the end of a line and leaves out what stands below: the next key's prompt then begins with this
        one, so that all of it is in the engine's cache. In the middle of a line it fills in."""
        if not infill.at_line_end:
            return self.render(infill)
        return "".join(self._around(infill)) + self._plain(infill.prefix).removesuffix(infill.lead)

    def _around(self, infill: Infill) -> tuple[str, str]:
        files = (f"{self.file.format(self._plain(near.name))}{self._plain(near.text)}\n" for near in infill.neighbours)
        return "".join(files), self.file.format(self._plain(infill.name))

    def _plain(self, text: str) -> str:
        """Text of the person's own must not be read as the model's special tokens."""
        for beginning in self.disguised:
            if beginning in text:
                text = text.replace(beginning, beginning[0] + HIDDEN + beginning[1:])
        return text


QWEN = Template(
    file="<|file_sep|>{}\n",
    whole="{front}{head}<|fim_prefix|>{before}<|fim_suffix|>{after}<|fim_middle|>",
    marks=(
        *("<|endoftext|>", "<|file_sep|>", "<|repo_name|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
        *("<|fim_pad|>", "<|im_end|>"),
    ),
    disguised=("<|",),
    family=re.compile(r"qwen.*coder"),
    token=b"<|fim_middle|>",
)
STARCODER = Template(
    file="<file_sep>{}\n",
    whole="{front}<file_sep><fim_prefix>{name}\n{before}<fim_suffix>{after}<fim_middle>",
    marks=("<|endoftext|>", "<file_sep>", "<repo_name>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>"),
    disguised=("<fim_", "<file_sep>", "<repo_name>", "<|endoftext|>"),
    family=re.compile(r"starcoder"),
    token=b"<fim_middle>",
)
DEEPSEEK = Template(
    file="#{}\n",
    whole="{front}<｜fim▁begin｜>{head}{before}<｜fim▁hole｜>{after}<｜fim▁end｜>",
    marks=("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>", "<｜end▁of▁sentence｜>", "<|EOT|>"),
    disguised=("<｜", "<|EOT|>"),
    family=re.compile(r"deepseek-coder|deepseek-v\d"),
    token="<｜fim▁hole｜>".encode(),
)
CODESTRAL = Template(
    file="+++++ {}\n",
    whole="[SUFFIX]{after}[PREFIX]{front}{head}{before}",
    marks=("[SUFFIX]", "[PREFIX]", "[MIDDLE]", "</s>"),
    disguised=("[SUFFIX]", "[PREFIX]", "[MIDDLE]", "</s>"),
    family=re.compile(r"codestral"),
    token=b"[SUFFIX]",
)
CODELLAMA = Template(
    file="# {}\n",
    whole="<PRE> {front}{head}{before} <SUF>{after} <MID>",
    marks=("<PRE>", "<SUF>", "<MID>", "<EOT>", "</s>"),
    disguised=("<PRE>", "<SUF>", "<MID>", "<EOT>", "</s>"),
    family=re.compile(r"code-?llama"),
    token="▁<MID>".encode(),
)
# of a model that was taught none of this: it goes on from the caret, whatever stands below
PLAIN = Template(
    file="# {}\n",
    whole="{front}{head}{before}",
    marks=("<|endoftext|>", "<|im_end|>", "</s>"),
    disguised=("<|", "</s>"),
    family=re.compile(r"(?!)"),
    token=b"",
)
TEMPLATES: dict[Family, Template] = {
    "qwen": QWEN,
    "starcoder": STARCODER,
    "deepseek": DEEPSEEK,
    "codestral": CODESTRAL,
    "codellama": CODELLAMA,
}


def template_named_by(model: str) -> Template | None:
    """The template of the family that a model's name tells of."""
    return next((template for template in TEMPLATES.values() if template.family.search(model.lower())), None)


def template_of_file(beginning: bytes) -> Template:
    """The template whose marks the vocabulary of a GGUF file holds: strings there have their length in front."""
    known = (t for t in TEMPLATES.values() if len(t.token).to_bytes(8, "little") + t.token in beginning)
    return next(known, PLAIN)


def infill_fields(infill: Infill) -> dict[str, Any]:
    """Of llama.cpp's /infill, which writes the marks of whatever model it runs by itself."""
    extra = [{"filename": near.name, "text": near.text} for near in infill.neighbours]
    return {"input_prefix": infill.before, "input_suffix": infill.suffix, "input_extra": extra}


def suffix_fields(infill: Infill) -> dict[str, Any]:
    """Of /completions and of Mistral's /fim/completions; neither knows of other files, so they stand above as text."""
    front = "".join(f"# {near.name}\n{near.text}\n" for near in infill.neighbours)
    head = f"# {infill.name}\n" if front else ""
    return {"prompt": front + head + infill.prefix, "suffix": infill.suffix}
