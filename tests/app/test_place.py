from pathlib import Path

import pytest

from offhook_app.cli.place import Place, parse
from offhook_app.editor.folder import folder_of
from offhook_wire.text import Point

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.py", Place(Path("a.py"))),
        ("a.py:3", Place(Path("a.py"), Point(2, 0))),
        ("a.py:3:7", Place(Path("a.py"), Point(2, 6))),
        ("a.py:3-7", Place(Path("a.py"), Point(2, 0), 6)),
        ("C:\\x\\a.py:3:7", Place(Path("C:\\x\\a.py"), Point(2, 6))),
        ("dir/ümlaut:x.py:1:1", Place(Path("dir/ümlaut:x.py"), Point(0, 0))),
    ],
)
def test_a_place_is_a_path_and_where(text: str, place: Place) -> None:
    assert parse(text) == place


@pytest.mark.parametrize("text", ["a.py:0:1", "a.py:1:0"])
def test_lines_and_columns_count_from_one(text: str) -> None:
    with pytest.raises(ValueError, match="from 1"):
        parse(text)


def test_several_lines_are_named_in_their_order() -> None:
    with pytest.raises(ValueError, match="line 3 comes before line 7"):
        parse("a.py:7-3")


def test_a_file_whose_name_looks_like_a_place_is_that_file(tmp_path: Path) -> None:
    odd = tmp_path / "log:12:30"
    odd.touch()
    assert parse(str(odd)) == Place(odd)


def test_the_folder_is_the_repository_else_where_the_file_is(tmp_path: Path) -> None:
    inner = tmp_path / "repo/src"
    inner.mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    (inner / "a.py").touch()
    (tmp_path / "b.py").touch()
    assert folder_of(inner / "a.py") == tmp_path / "repo"
    assert folder_of(tmp_path / "b.py") in (tmp_path, *tmp_path.parents)
