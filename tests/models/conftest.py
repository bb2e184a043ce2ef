"""The built-in model's file for tests that decode with it; fetched once, kept in the user's cache like everybody's."""

import asyncio
from pathlib import Path

import pytest

from offhook_server.models.manifest import entry
from offhook_server.models.store import default_folder, ensure, find

FAST = entry("qwen2.5-coder-0.5b")


@pytest.fixture(scope="session")
def model_path() -> Path:
    return find(FAST, default_folder()) or asyncio.run(ensure(FAST, default_folder()))
