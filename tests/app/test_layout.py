"""The shape of the repository: rules that no linter has."""

from pathlib import Path

import pytest

import offhook_app
import offhook_resources
import offhook_server
import offhook_wire

pytestmark = pytest.mark.pure

ROOT = Path(__file__).parents[2]
MOST_LINES = 450
NO_NAMES = {"utils", "helpers", "manager", "common", "misc"}
CODE = [*(ROOT / "app").rglob("*.py"), *(ROOT / "server").rglob("*.py")]


def test_this_checkout_is_what_is_tested() -> None:
    for package in (offhook_app, offhook_server, offhook_wire, offhook_resources):
        assert package.__file__ is not None
        assert Path(package.__file__).is_relative_to(ROOT)


def test_no_folder_shadows_a_library() -> None:
    for folder in ("packaging", "resources", "tests", "requirements"):
        assert not (ROOT / folder / "__init__.py").exists()


@pytest.mark.parametrize("path", CODE, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_is_one_idea(path: Path) -> None:
    assert path.stem not in NO_NAMES
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_requirements_name_hashes_and_no_address() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text()
        assert "--hash=sha256:" in text
        assert "://" not in text
