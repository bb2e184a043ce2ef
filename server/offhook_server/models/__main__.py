"""`offhook models list | fetch | verify | add | remove`, as a process of its own. Dispatch only.

Ctrl+C, or SIGTERM, stops a download and keeps what has arrived.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

import msgspec

from offhook_server.errors import UserError
from offhook_server.models import inventory, own, store
from offhook_server.models.manifest import entries, entry, named
from offhook_server.models.shown import Shown, say

T = TypeVar("T")

STOPPED = "Stopped; what has arrived is kept, and the same line goes on."
NOT_READABLE = "The file can't be read. Look at its path and owner."
NOTHING_HERE = "No model is on this machine yet. `offhook models fetch fast` fetches the small one."
UNUSED = 'To use it, write `fast = "{name}"`, or `deep`, under [models] in the settings file.'


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="offhook models", description="The models on this machine.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    every = argparse.ArgumentParser(add_help=False)
    every.add_argument(
        "--folder", type=Path, metavar="DIR", help="not the folder of OFFHOOK_MODELS_DIR or the settings"
    )
    every.add_argument("--json", action="store_true", help="for programs: JSON, one object a line")
    listed = commands.add_parser("list", parents=[every], help="names, sizes, licences, and what is here")
    listed.add_argument("--licences", action="store_true", help="whose they are, and the licences in full")
    fetch = commands.add_parser("fetch", parents=[every], help="bring one here; goes on where it was stopped")
    fetch.add_argument("name", metavar="NAME|ROLE", help="a name of the list, or fast, or deep")
    verify = commands.add_parser("verify", parents=[every], help="read what is here whole and compare its SHA-256")
    verify.add_argument("name", metavar="NAME|ROLE", nargs="?")
    add = commands.add_parser("add", parents=[every], help="check a model file of your own and remember it")
    add.add_argument("path", type=Path, metavar="PATH.gguf")
    remove = commands.add_parser("remove", parents=[every], help="free its space; files of your own stay")
    remove.add_argument("name", metavar="NAME|ROLE")
    return parser


def main() -> int:
    asked = _parser().parse_args()
    shown = Shown(as_json=asked.json)
    try:
        return _do(asked, asked.folder or store.default_folder(), shown)
    except UserError as e:
        shown.stopped(str(e))
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        shown.stopped(STOPPED)
        return 130
    except BrokenPipeError:
        return 141


def _do(asked: argparse.Namespace, folder: Path, shown: Shown) -> int:
    match asked.command:
        case "list":
            _list(folder, as_json=asked.json, with_licences=asked.licences)
        case "fetch":
            _fetch(asked.name, folder, shown)
        case "verify":
            return _verify(asked.name, folder, shown)
        case "add":
            _add(asked.path, folder)
        case _:
            _remove(asked.name, folder)
    return 0


def _list(folder: Path, *, as_json: bool, with_licences: bool) -> None:
    models = inventory.inventory(folder)
    if as_json:
        said = "\n".join(msgspec.json.encode(model).decode() for model in models)
    else:
        said = inventory.licences() if with_licences else inventory.table(models, folder)
    say(said)


def _fetch(name: str, folder: Path, shown: Shown) -> None:
    model = entry(name)
    shown.size_bytes = model.size_bytes
    shown.done(str(_run(store.ensure(model, folder, shown.tell))))


def _verify(name: str | None, folder: Path, shown: Shown) -> int:
    """The one of this name, or all that are here; 1 when one is not right."""
    names = [named(name)] if name else [name for name, model in entries().items() if (folder / model.file).exists()]
    if not names:
        raise UserError(NOTHING_HERE)
    wrong = 0
    for one in names:
        model = entry(one)
        shown.size_bytes = model.size_bytes
        try:
            shown.done(str(_run(store.verify(model, folder, shown.tell))))
        except UserError as e:
            shown.stopped(f"{one}: {e}")
            wrong = 1
    return wrong


def _add(path: Path, folder: Path) -> None:
    try:
        name, model = own.add(path, folder)
    except OSError:
        raise UserError(NOT_READABLE if not path.is_file() else store.UNWRITABLE.format(role="fast")) from None
    say(f"{name}: a {model.architecture} model, {model.size_bytes // 1_000_000} MB. It stays where it is.")
    say(UNUSED.format(name=name))


def _remove(name: str, folder: Path) -> None:
    if name in own.registered(folder):
        own.forget(name, folder)
        say(f"{name} is forgotten. The file is yours and stays where it is.")
        return
    freed = _run(store.remove(entry(name), folder))
    say(f"{named(name)}: {freed / 1e6:,.0f} MB freed." if freed else f"{named(name)} is not here; nothing to remove.")


def _run(work: Coroutine[None, None, T]) -> T:
    return asyncio.run(_until_stopped(work))


async def _until_stopped(work: Coroutine[None, None, T]) -> T:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


if __name__ == "__main__":
    sys.exit(main())
