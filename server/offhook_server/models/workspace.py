"""What the index process has to index and in what order, a short step at a time. No process, no socket, no watching.

Open ──▶ list the folder ──▶ read and put each file, newest first ──▶ ready
Document ──▶ put it: at once when new, else when the person pauses    (before any file)
changed on the disk ──▶ put or drop that file; list again for a folder or an ignore file
"""

from itertools import islice

from offhook_server.core.copying import Caret, CopyIndex, Guess, hidden_lines
from offhook_server.core.token_index import Steps
from offhook_server.core.tokens import indexable, with_lf
from offhook_server.models.folder import IGNORE_FILE, Folder, Found, chosen
from offhook_server.models.index_messages import Ask, Status
from offhook_wire.privacy import never_sent

MOST_INDEX_BYTES = 110_000_000  # the process then takes 180 MB, of the 200 it may
PAUSE_S = 0.25
_ENTRIES_A_STEP = 10
_WHOLE_FILE = range(1 << 40)
_END = object()


class Workspace:
    def __init__(self) -> None:
        self.index = CopyIndex()
        self._folder: Folder | None = None
        self._listed: Steps | None = None
        self._listing_again = False
        self._job: Steps | None = None
        self._todo: list[Found] = []  # oldest first
        self._known: dict[str, Found] = {}
        self._changed: set[str] = set()
        self._documents: dict[str, str] = {}
        self._put: dict[str, str] = {}  # the documents as they were put
        self._due_s: dict[str, float] = {}

    @property
    def root(self) -> str | None:
        return str(self._folder.root) if self._folder else None

    @property
    def ready(self) -> bool:
        busy = self._job or self._listed or self._listing_again or self._todo or self._changed or self._due_s
        return not busy

    @property
    def status(self) -> Status:
        return Status(len(self.index.files), self.index.bytes, self.ready)

    @property
    def deadline_s(self) -> float | None:
        """When there will be something to do if nothing else comes."""
        return min(self._due_s.values(), default=None)

    def open(self, root: str | None) -> None:
        if self._job:
            self._job.close()
        self.index, self._job = CopyIndex(), None
        self._folder = Folder(root) if root else None
        self._todo, self._known, self._changed, self._put = [], {}, set(), {}
        self._due_s = dict.fromkeys(self._documents, 0.0)
        self._listed = self._list()

    def document(self, name: str, text: str, now: float) -> None:
        if never_sent(name):
            return
        self._documents[name] = with_lf(text)
        self._due_s[name] = now + PAUSE_S if name in self._put else now

    def close(self, name: str) -> None:
        if self._documents.pop(name, None) is not None:
            self._put.pop(name, None)
            self._due_s.pop(name, None)
            self._known.pop(name, None)
            self._changed.add(name)

    def changed(self, paths: list[str]) -> None:
        """Something at these paths was made, written or removed."""
        if not self._folder:
            return
        for path in paths:
            name = self._folder.name_of(path)
            if name is None:
                continue
            if name in self.index.files or self._folder.find(name):
                self._changed.add(name)
            elif self._folder.counts(name):
                self._listing_again = True  # a folder came or went
            if name.rpartition("/")[2] == IGNORE_FILE:
                self._listing_again = True

    def answer(self, ask: Ask) -> Guess | None:
        if never_sent(ask.name):
            return None
        caret = Caret(ask.name, ask.before, ask.after_line, self._hidden(ask), ask.line, ask.prompt_from)
        return self.index.suggest(caret, more_lines=ask.more_lines)

    def step(self, now: float) -> bool:
        """Works for a millisecond or two; False when there is nothing to do before `deadline_s`."""
        if self._job is None:
            self._job = self._next_job(now)
        if self._job is None:
            return False
        if next(self._job, _END) is _END:
            self._job = None
        return True

    def _hidden(self, ask: Ask) -> range:
        text = self._documents.get(ask.name)
        if text is None:
            return range(ask.line, ask.line + 1)
        put = self._put.get(ask.name)
        return _WHOLE_FILE if put is None else hidden_lines(put, text, ask.line)

    def _next_job(self, now: float) -> Steps | None:
        due = [name for name, due_s in self._due_s.items() if due_s <= now]
        if due:
            del self._due_s[due[0]]
            return self._put_document(due[0])
        if self._changed:
            return self._refresh(self._changed.pop())
        if self._listing_again and not self._listed:
            self._listing_again, self._listed = False, self._list()
        if self._listed:
            return self._list_on()
        if self._todo:
            return self._refresh(self._todo.pop().name)
        return self.index.tidying() if self.index.untidy else None

    def _list_on(self) -> Steps:
        """One step of the listing, so that a document waits for one at most."""
        if self._listed and next(self._listed, _END) is _END:
            self._listed = None
        yield

    def _list(self) -> Steps:
        """Finds out what to put and drops what is not in the folder any more."""
        if not self._folder:
            return
        found: list[Found] = []
        entries = self._folder.files()
        while some := list(islice(entries, _ENTRIES_A_STEP)):
            found += [file for file in some if file]
            yield
        files = chosen(found)
        yield
        names = {file.name for file in files}
        self._changed |= self.index.files.keys() - names - self._documents.keys()
        yield
        self._todo = [file for file in reversed(files) if self._known.get(file.name) != file]

    def _put_document(self, name: str) -> Steps:
        text = self._documents[name]
        if not indexable(text):
            self.index.drop(name)
            return
        yield from self.index.putting(name, text)
        if name in self._documents:
            self._put[name] = text

    def _refresh(self, name: str) -> Steps:
        """Makes the index say what the disk says."""
        folder = self._folder
        if name in self._documents:
            return
        file = folder.find(name) if folder else None
        if folder and file and self._known.get(name) == file and name in self.index.files:
            return
        text = folder.read(name) if folder and file else None
        if not file or text is None or not indexable(text):
            self._known.pop(name, None)
            self.index.drop(name)
        elif name in self.index.files or self.index.bytes < MOST_INDEX_BYTES:
            self._known[name] = file
            yield from self.index.putting(name, text)
