"""A folder as the copy model knows it while one place of it is hidden. Chooses no place and measures nothing."""

from pathlib import Path

from offhook_server.bench.ghost import Place
from offhook_server.core.copying import Guess
from offhook_server.core.tokens import with_lf
from offhook_server.models.folder import Folder
from offhook_server.models.index_messages import Ask
from offhook_server.models.workspace import Workspace

EVER = float("inf")


class HeldOut:
    """The index process's own `Workspace`, without the process, so that nothing waits for a timer.

    `hide` before a question: the file is then what the place shows of it, in the index as on the screen.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder)
        self._workspace = Workspace()
        self._workspace.open(str(self._folder.root))
        self._settle()
        self._place: Place | None = None

    @property
    def files(self) -> int:
        return self._workspace.status.files

    def hide(self, place: Place) -> None:
        """What `place` does not show of its file; what was hidden last is there again."""
        if self._place:
            self._workspace.close(self._place.name)
            self._settle()
        self._place = place
        self._workspace.document(place.name, place.before + place.after, 0.0)
        self._settle()
        index = self._workspace.index
        tokens = [token for run in index.runs_of(place.name) for token in run.segment.tokens[run.start : run.end]]
        shown = "\n" + place.before + place.after
        assert index.vocabulary.spell(tokens) == shown, "the index knows what is hidden"

    def guess(self, line: int, before: str, after_line: str, *, prompt_from: int | None = None) -> Guess | None:
        """As the index process answers the lane."""
        place = self._place
        assert place is not None
        guess = self._workspace.answer(Ask(0, place.name, line, before, after_line, prompt_from=prompt_from))
        for near in guess.neighbours if guess else ():
            own = near.name == place.name
            shown = place.before + place.after if own else with_lf(self._folder.read(near.name) or "")
            assert near.text in shown, "a neighbour is not what its file shows"
        return guess

    async def ask(self, uri: str, line: int, before: str, after_line: str, *, prompt_from: int | None) -> Guess | None:
        """The lane's way to ask."""
        assert self._place is not None
        assert uri == self._place.uri
        return self.guess(line, before, after_line, prompt_from=prompt_from)

    def _settle(self) -> None:
        while self._workspace.step(EVER):
            pass
        assert self._workspace.ready
