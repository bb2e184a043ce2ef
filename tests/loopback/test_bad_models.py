"""The real server with a model file that is none: it says what is wrong and how to mend it, and the copy model goes on."""

import struct
from pathlib import Path

import pytest

from offhook_wire.messages import Quiet, ServerStatus, SuggestionDone, Usage, UsageWatch, WorkspaceDidChange
from support.line_client import LineClient
from support.processes import ServerProcess

pytestmark = pytest.mark.loopback

CODE = "def settle(account, amount):\n    check(amount)\n    ledger.append((account, amount))\n    return balance_of(account)\n"


def gguf(architecture: bytes) -> bytes:
    """The header of a GGUF file without tensors."""

    def text(value: bytes) -> bytes:
        return struct.pack("<Q", len(value)) + value

    string = 8
    return (
        b"GGUF"
        + struct.pack("<IQQ", 3, 0, 1)
        + text(b"general.architecture")
        + struct.pack("<I", string)
        + text(architecture)
    )


def statuses(client: LineClient) -> list[ServerStatus]:
    return [event for event in client.events if isinstance(event, ServerStatus)]


async def copies(client: LineClient, folder: Path) -> None:
    """The copy model finishes a line that stands in another file of the folder."""
    (folder / "settle.py").write_text(CODE)
    client.driver.send(WorkspaceDidChange([folder.as_uri()]))
    await client.until(lambda: any(status.index_ready and status.index_files for status in statuses(client)))
    client.uri = (folder / "new.py").as_uri()
    client.open("def settle(account, amount):\n    check(amount)\n    ledger.append((acc")
    client.ask("q_copy")

    def copied() -> bool:
        return any(
            isinstance(e, SuggestionDone) and (e.request_id, e.source, e.outcome) == ("q_copy", "copy", "finished")
            for e in client.events
        )

    await client.until(copied)
    assert client.ghost.startswith("ount, amount))")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"MZ\x90\x00", "not a GGUF file"),
        (gguf(b"a-kind-nobody-knows"), "of a kind this engine does not know"),
    ],
    ids=["empty", "not a model", "of another kind"],
)
async def test_a_file_that_is_no_model_is_a_sentence_and_the_copy_model_goes_on(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    model, folder = tmp_path / "model.gguf", tmp_path / "project"
    model.write_bytes(content)
    folder.mkdir()
    async with (
        await ServerProcess.start(tmp_path / "run", "--model", str(model)) as server,
        LineClient(server) as client,
    ):
        await client.until(lambda: any(status.model == "failed" for status in statuses(client)))
        said = statuses(client)[-1].detail
        assert sentence in said
        assert said.endswith(".")
        await copies(client, folder)
        client.ask("q_small")
        assert (await client.until_done("q_small")).outcome == "no_model"


async def test_quiet_stops_what_nobody_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with await ServerProcess.start(tmp_path / "run", "--engine", "null") as server, LineClient(server) as client:
        client.driver.send(Quiet(True))
        await client.until(lambda: any("Quiet" in status.notice for status in statuses(client)))
        await copies(client, folder)
        client.ask("q_automatic", invoked=False)
        assert (await client.until_done("q_automatic")).outcome == "no_model"
        client.type("\nzebra = ")  # where no copy is sure
        client.ask("q_invoked")
        assert (await client.until_done("q_invoked")).outcome == "finished"
        client.driver.send(Quiet(False))
        await client.until(lambda: not statuses(client)[-1].notice)


async def test_who_looks_is_told_what_it_costs(tmp_path: Path) -> None:
    async with await ServerProcess.start(tmp_path / "run", "--engine", "null") as server, LineClient(server) as client:
        await client.until(lambda: any(status.model == "ready" for status in statuses(client)))
        client.driver.send(UsageWatch(True))
        await client.until(lambda: len([e for e in client.events if isinstance(e, Usage)]) >= 2)
        first = next(e for e in client.events if isinstance(e, Usage))
        assert {"null", "index"} <= {one.name for one in first.models}
        assert first.cpu_s > 0
        assert first.rss_mb > 1
