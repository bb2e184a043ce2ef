import pytest

from offhook_wire.places import runtime_folder, settings_file

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"OFFHOOK_RUNTIME_DIR": "/mine", "XDG_RUNTIME_DIR": "/run/user/1"}, "/mine"),
        ({"XDG_RUNTIME_DIR": "/run/user/1"}, "/run/user/1/offhook"),
        ({}, "/data/offhook/run"),
    ],
)
def test_the_runtime_folder_is_the_sessions_else_in_the_users_data(environment: dict[str, str], folder: str) -> None:
    assert runtime_folder(environment, "/data/offhook") == folder


def test_the_settings_file_is_the_one_that_is_named() -> None:
    assert settings_file({"OFFHOOK_CONFIG": "/mine.toml"}, "/config/offhook") == "/mine.toml"
    assert settings_file({}, "/config/offhook") == "/config/offhook/config.toml"
