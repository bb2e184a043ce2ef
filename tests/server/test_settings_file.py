"""The person's settings file: what may stand in it, and the one sentence about what may not."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from offhook_server import settings
from offhook_server.errors import UserError
from offhook_server.settings import Place, Settings

pytestmark = pytest.mark.loopback


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("OFFHOOK_CONFIG", str(path))
    monkeypatch.delenv("OFFHOOK_MODELS_DIR", raising=False)
    return path


def read(file: Path, text: str, *arguments: str) -> Settings:
    file.write_text(text, "utf-8")
    return settings.load([*arguments])


def test_all_of_it_may_be_left_out(file: Path) -> None:
    said = read(file, "")
    assert (said.fast, said.deep) == (settings.FAST_MODEL, settings.DEEP_MODEL)
    assert (said.engines.fast_idle_s, said.engines.deep_idle_s, said.quiet) == (900.0, 300.0, False)


def test_everything_that_may_stand_in_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    said = read(
        file,
        """
        quiet = true
        [models]
        folder = "/big/disk"
        fast = "own/model.GGUF"
        deep = {url = "https://models.example/v1/", model = "m", key_env = "MY_KEY", fim = "suffix"}
        [engines]
        threads = 1
        fast_idle_s = 60
        deep_idle_s = inf
        deep_floor_gb = 2.5
        """,
    )
    assert said.quiet
    assert said.models == Path("/big/disk")
    assert said.fast == file.parent / "own/model.GGUF"
    assert said.deep == Place("https://models.example/v1", "m", "MY_KEY", "suffix", key="sk-secret")
    assert said.engines == settings.EngineSettings(1, 60.0, math.inf, 2.5)
    assert "sk-secret" not in repr(said)


def test_a_key_that_is_not_set_is_empty(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    said = read(file, '[models.deep]\nurl = "http://127.0.0.1:1/v1"\nkey_env = "MY_KEY"')
    assert said.deep == Place("http://127.0.0.1:1/v1", key_env="MY_KEY")


def test_command_line_and_environment_go_before_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFHOOK_MODELS_DIR", "/other")
    said = read(file, '[models]\nfolder = "/big"\nfast = "a.gguf"', "--model", "b.gguf")
    assert (said.models, said.fast) == (Path("/other"), Path("b.gguf"))


WRONG = [
    ("quiet = 3", 1, "quiet: expected bool, got int"),
    ('# mine\n\n[engines]\nthreads = "two"', 4, "engines.threads: expected int, got str"),
    ("[engines]\nthreads = 0", 2, "engines.threads: expected int >= 1"),
    ("[engines]\nfast_idle_s = -1", 2, "engines.fast_idle_s: expected float > 0"),
    ("[engines]\nthread = 2", 2, "engines.thread: there is no such setting"),
    ("[engine]\nthreads = 2", 1, "engine: there is no such setting"),
    ('[models]\nfast = "gpt"', 2, "models.fast: expected the path of a .gguf file, a table with an url, or one of"),
    ("[models]\nfast = 1", 2, "models.fast: expected str | object, got int"),
    ('[models]\ndeep = {url = "ftp://x"}', 2, "models.deep.url: expected an address that begins with http"),
    ('[models.deep]\nmodel = "m"', 1, "models.deep: object missing required field url"),
    ('[models.deep]\nurl = "http://x"\nfim = "zz"', 3, "models.deep.fim: expected one of infill, suffix"),
]


@pytest.mark.parametrize(("text", "line", "reason"), WRONG, ids=[reason.split(":")[0] for _, _, reason in WRONG])
def test_a_wrong_value_is_one_sentence_with_file_and_line(file: Path, text: str, line: int, reason: str) -> None:
    with pytest.raises(UserError) as caught:
        read(file, text)
    assert str(caught.value).startswith(f"mine.toml, line {line}: {reason}")
    assert str(caught.value).count("\n") == 0


def test_what_is_no_toml_says_where(file: Path) -> None:
    with pytest.raises(UserError, match=r"^mine\.toml is not valid TOML: .* \(at line 2, column 5\)\.$"):
        read(file, "quiet = true\na = = 2")


def test_what_is_no_text_and_what_is_not_there(file: Path) -> None:
    with pytest.raises(UserError, match=r"OFFHOOK_CONFIG names mine\.toml, which is not there"):
        settings.load([])
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="can't be read as text in UTF-8"):
        settings.load([])


def test_without_a_file_where_it_is_looked_for_all_is_as_usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OFFHOOK_CONFIG", raising=False)
    monkeypatch.setattr("platformdirs.user_config_dir", lambda app: str(tmp_path))
    assert settings.load([]).fast == settings.FAST_MODEL


@pytest.mark.parametrize("json", [True, False])
def test_the_server_ends_with_2_and_starts_nothing(file: Path, tmp_path: Path, json: bool) -> None:
    file.write_text("quiet = 3")
    runtime = tmp_path / "run"
    command = [sys.executable, "-m", "offhook_server", "serve", "--runtime", str(runtime), *["--json"] * json]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    said = ended.stdout if json else ended.stderr
    assert "mine.toml, line 1: quiet: expected bool, got int." in said
    assert not runtime.exists()
