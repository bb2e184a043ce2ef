"""How a module of the program is started in a process of its own, frozen or not."""

import sys

import pytest

from offhook_wire import reentry

pytestmark = pytest.mark.pure


def test_python_runs_a_module_and_looks_for_it_in_no_folder_of_the_persons() -> None:
    assert reentry.command("pip", "download") == [sys.executable, "-P", "-m", "pip", "download"]


def test_a_frozen_program_enters_itself_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert reentry.command("pip", "download") == [sys.executable, reentry.RUN, "pip", "download"]


def test_it_becomes_the_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["offhook"])
    reentry.run("this", "a")
    assert sys.argv[1:] == ["a"]
    assert capsys.readouterr().out.startswith("The Zen of Python")
