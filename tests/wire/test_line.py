"""The line comes back by itself, and both ends then have the same texts: stories, and any mixture of mishaps."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule
from msgspec import structs

from offhook_wire import codec
from offhook_wire.line import KEPT_CHANGES, KEPT_ITEMS, AskByHttp, Connect, Disconnect, Line, State, Transmit
from offhook_wire.messages import (
    Cancel,
    Change,
    DocumentDesync,
    DocumentDidChange,
    DocumentDidClose,
    DocumentDidOpen,
    DocumentState,
    ErrorBody,
    ErrorEvent,
    Flow,
    Ping,
    Pong,
    Position,
    Quiet,
    Range,
    ServerEvent,
    ServerStatus,
    SessionHello,
    SessionReady,
    Suggest,
    SuggestionStarted,
    TextDelta,
    UsageWatch,
    WorkspaceDidChange,
)
from offhook_wire.responses import ResponseCancel, ResponseCompleted, ResponseCreate, ResponseCreated, ResponseState
from offhook_wire.text import Point, Text, text_hash
from support.script import Play, Session, frames

pytestmark = pytest.mark.pure

URI = "file:///w/a.py"
HERE = Position(0, 0)


def opening(text: str, version: int = 1, uri: str = URI) -> DocumentDidOpen:
    return DocumentDidOpen(uri, "python", version, text, text_hash(text))


def insertion(base: int, text: str, at: Position = HERE) -> DocumentDidChange:
    return DocumentDidChange(URI, base, base + 1, [Change(Range(at, at), text)])


def suggest(name: str, version: int = 1) -> Suggest:
    return Suggest(name, URI, version, HERE)


def open_play(text: str = "") -> Play:
    play = Play()
    play.start()
    play.accept()
    play.settle()
    play.send(opening(text))
    play.carry_up()
    return play


def server_text(play: Play, version: int, uri: str = URI) -> str | None:
    assert play.session is not None
    document = play.session.documents.current(uri, version)
    return str(document.text) if document else None


def talking(play: Play) -> Session:
    assert play.session is not None
    return play.session


# -- greeting ---------------------------------------------------------------------------------------------------------


def test_it_greets_then_says_what_the_app_has_open() -> None:
    line = Line(["file:///w"])
    assert line.start() == [Connect()]
    assert line.deadline is None  # the server may have to be started first
    assert line.send(opening("x = 1")) == []
    line.dialling(0.0)
    (hello,) = frames(line.opened(0.1))
    assert isinstance(hello, SessionHello)
    assert (hello.workspace_folders, hello.capabilities.position_encodings) == (["file:///w"], ["utf-16"])
    assert hello.resume is None

    document, ping = frames(line.receive(codec.encode(SessionReady("s", "utf-16", "rt")), 0.2))
    assert (line.state, document) == (State.OPEN, opening("x = 1"))
    assert isinstance(ping, Ping)


def test_round_trip_is_measured_without_the_time_the_server_took() -> None:
    play = open_play()
    play.now += 0.05
    play.do(play.line.receive(codec.encode(Pong(1, play.now * 1e3 - 50, 0, 20)), play.now))
    assert play.line.round_trip_ms == pytest.approx(30)


def test_another_folder_is_said_now_and_at_the_next_greeting() -> None:
    play = open_play()
    assert frames(play.line.send(WorkspaceDidChange(["file:///v"]))) == [WorkspaceDidChange(["file:///v"])]
    play.cut()
    assert play.line.send(WorkspaceDidChange(["file:///u"])) == []
    play.line.start()
    (hello,) = frames(play.line.opened(play.now))
    assert isinstance(hello, SessionHello)
    assert hello.workspace_folders == ["file:///u"]


# -- T18: cut, refused, half open -------------------------------------------------------------------------------------


def test_a_wish_holds_from_before_the_line_is_up_and_over_a_cut() -> None:
    line = Line()
    assert line.send(Quiet(True)) == []
    line.start()
    line.opened(0.0)
    ready = codec.encode(SessionReady("s", "utf-16", "rt"))
    assert Quiet(True) in frames(line.receive(ready, 0.0))
    assert frames(line.send(UsageWatch(True))) == [UsageWatch(True)]
    line.send(Quiet(False))
    line.lost(1.0, 0.0)
    line.tick(2.0, 0.0)
    line.opened(2.0)
    said = frames(line.receive(ready, 2.0))
    assert [message for message in said if not isinstance(message, Ping)] == [Quiet(False), UsageWatch(True)]


def test_cut_in_mid_suggestion_nothing_comes_twice_and_nothing_is_lost() -> None:  # T18a
    play = open_play("x = 1")
    session = talking(play)
    for n, piece in enumerate(["ab", "cd", "ef"]):
        session.emit(TextDelta("msg", piece, n), play.now)
        play.carry_down()
    play.cut()
    play.send(insertion(1, "y"))
    session.emit(TextDelta("msg", "gh", 3), play.now)
    assert (play.line.state, play.line.attempt) == (State.WAITING, 1)
    assert (play.line.retry_at or 9) <= 1.0

    play.settle()

    assert [e.delta for e in play.delivered if isinstance(e, TextDelta)] == ["ab", "cd", "ef", "gh"]
    assert server_text(play, 2) == "yx = 1"


@pytest.mark.parametrize("swallowed", [False, True])
def test_a_refused_or_swallowed_upgrade_means_http_for_a_minute(swallowed: bool) -> None:  # T18b
    play = Play()
    play.send(opening("x"))
    play.start()
    if swallowed:
        play.do(play.line.dialling(play.now))
        play.wait_for(2.0)
    else:
        play.refuse()
    assert play.line.state is State.HTTP

    play.send(insertion(1, "y"))
    play.send(suggest("q_1", 2))
    assert play.by_http == [AskByHttp(opening("yx", 2), suggest("q_1", 2))]

    play.wait_for(59.0)
    assert play.line.state is State.HTTP
    play.wait_for(1.0)
    assert play.connecting
    play.send(suggest("q_2", 2))  # nothing is asked in vain while the WebSocket is tried again
    assert play.by_http[-1].suggest.request_id == "q_2"
    play.send(Cancel("q_2"))
    assert play.by_http == []
    play.accept()
    play.settle()
    assert server_text(play, 2) == "yx"


def test_a_half_open_socket_is_dead_within_five_seconds() -> None:  # T18c
    play = open_play()
    play.carry_down()
    opened_at = play.now
    while play.line.state is State.OPEN:
        play.wait_for((play.line.deadline or 0) - play.now)
    assert play.now - opened_at <= 5.0
    assert play.line.round_trip_ms is None


def test_a_server_that_never_gets_ready_is_lost() -> None:
    play = Play()
    play.start()
    play.accept()
    play.wait_for(1.9)
    assert play.line.attempt == 0
    play.wait_for(0.1)
    assert (play.line.state, play.line.attempt) == (State.WAITING, 1)


def test_pauses_grow_to_five_seconds_and_a_ready_forgets_them() -> None:
    play = open_play()
    pauses = []
    for _ in range(9):
        play.cut()
        pauses.append((play.line.retry_at or 0) - play.now)
        play.wait_for(pauses[-1])
    assert pauses == pytest.approx([0.75 * s for s in (0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 5.0, 5.0, 5.0)])
    play.settle()
    assert play.line.attempt == 0


def test_lost_twice_is_lost_once_and_after_stop_not_at_all() -> None:
    line = Line()
    line.start()
    assert line.lost(0.0, 0.0) == [Disconnect()]
    assert (line.lost(0.0, 0.0), line.attempt) == ([], 1)
    assert line.stop() == [Disconnect()]
    assert (line.lost(0.0, 0.0), line.deadline, line.tick(99.0, 0.0)) == ([], None, [])


def test_a_frame_that_comes_again_is_not_delivered_again() -> None:
    play = open_play()
    for event in [ServerStatus("ready", "small"), TextDelta("msg", "ab", 0), TextDelta("msg", "cd", 1)]:
        frame = codec.encode(event)
        play.do([*play.line.receive(frame, play.now), *play.line.receive(frame, play.now)])
    play.do(play.line.receive(codec.encode(TextDelta("msg", "ab", 0)), play.now))
    assert len([e for e in play.delivered if isinstance(e, ServerStatus | TextDelta)]) == 3


# -- documents after a cut --------------------------------------------------------------------------------------------


def ready(*documents: DocumentState) -> bytes:
    return codec.encode(SessionReady("s", "utf-16", "rt", documents=list(documents)))


def greeted(play: Play, *documents: DocumentState) -> list[object]:
    """What the line says, but for the ping, to a server that has these documents."""
    play.cut()
    play.line.start()
    play.line.opened(play.now)
    return [*frames(play.line.receive(ready(*documents), play.now))[:-1]]


def test_a_server_with_the_same_text_hears_nothing() -> None:
    assert greeted(open_play("x"), DocumentState(URI, 1, text_hash("x"))) == []


def test_a_server_that_is_behind_hears_the_changes_and_the_hash_they_lead_to() -> None:
    play = open_play("x")
    play.send(insertion(1, "a"))
    play.send(insertion(2, "b"))
    last = structs.replace(insertion(2, "b"), hash=text_hash("bax"))
    assert greeted(play, DocumentState(URI, 1, text_hash("x"))) == [insertion(1, "a"), last]


@pytest.mark.parametrize("theirs", [DocumentState(URI, 1, "b2:other"), DocumentState(URI, 7, text_hash("x"))])
def test_a_server_with_another_text_hears_the_whole_text(theirs: DocumentState) -> None:
    assert greeted(open_play("x"), theirs) == [opening("x")]


def test_changes_too_old_to_be_kept_mean_the_whole_text() -> None:
    play = open_play()
    for version in range(1, KEPT_CHANGES + 2):
        play.send(insertion(version, "x"))
    assert greeted(play, DocumentState(URI, 1, text_hash(""))) == [
        opening("x" * (KEPT_CHANGES + 1), KEPT_CHANGES + 2),
    ]


def test_a_document_closed_meanwhile_is_closed_there_too() -> None:
    play = open_play("x")
    play.cut()
    play.send(DocumentDidClose(URI))
    play.settle()
    assert server_text(play, 1) is None


def test_a_document_opened_anew_meanwhile_is_not_mixed_with_the_old_one() -> None:
    play = open_play("old")
    play.cut()
    play.send(DocumentDidClose(URI))
    play.send(opening("new"))
    play.send(insertion(1, "a "))
    play.settle()
    play.carry_down()
    play.settle()
    assert server_text(play, 2) == "a new"


def test_a_desync_is_answered_with_the_whole_text_and_the_app_is_not_troubled() -> None:
    play = open_play("x")
    desync = DocumentDesync(URI, 0, 1, "version_gap", sequence_number=0)
    assert frames(play.line.receive(codec.encode(desync), play.now)) == [opening("x")]
    unknown = DocumentDesync("file:///closed.py", 0, 1, "version_gap", sequence_number=1)
    assert play.line.receive(codec.encode(unknown), play.now) == []


# -- suggestions ------------------------------------------------------------------------------------------------------


def test_while_the_line_is_down_nothing_is_asked() -> None:
    line = Line()
    assert [*line.send(suggest("q_1")), *line.send(Cancel("q_1"))] == []


def with_credit(size: int) -> Play:
    play = open_play("x")
    play.do(play.line.receive(codec.encode(Flow({"fast": size}, 0, 0)), play.now))
    return play


def asked_ids(play: Play) -> list[str]:
    play.carry_up()
    return [s.request_id for s in talking(play).asked]


def test_before_any_word_of_credit_a_request_is_sent() -> None:
    play = open_play("x")
    play.send(suggest("q_1"))
    assert asked_ids(play) == ["q_1"]


def test_without_credit_the_newest_request_waits_and_only_it_is_sent() -> None:
    play = with_credit(10)
    play.send(suggest("q_1"))
    play.send(suggest("q_2"))
    assert asked_ids(play) == []
    play.do(play.line.receive(codec.encode(Flow({"fast": 65536}, 0, 1)), play.now))
    assert asked_ids(play) == ["q_2"]


def test_a_request_that_waited_never_comes_after_a_newer_one() -> None:
    short, long = suggest("q_2"), suggest("q_1" + "x" * 99)
    play = with_credit(len(codec.encode(short)))
    play.send(long)
    play.send(short)
    play.do(play.line.receive(codec.encode(Flow({"fast": 65536}, 0, 1)), play.now))
    assert asked_ids(play) == ["q_2"]


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_cancelled_or_cut_off_request_no_longer_waits(is_cut: bool) -> None:
    play = with_credit(10)
    play.send(suggest("q_1"))
    if is_cut:
        play.cut()
    else:
        play.send(Cancel("q_1"))
    play.settle()
    play.do(play.line.receive(codec.encode(Flow({"fast": 65536}, 0, 1)), play.now))
    assert asked_ids(play) == []


def test_a_cancel_of_another_request_is_sent() -> None:
    play = with_credit(10)
    play.send(suggest("q_1"))
    assert frames(play.line.send(Cancel("q_0"))) == [Cancel("q_0")]


def test_unknown_events_are_ignored_errors_delivered_and_garbage_is_the_callers() -> None:
    play = open_play()
    assert play.line.receive(b'{"type":"response.in_progress"}', play.now) == []
    error = ErrorEvent(ErrorBody("No."))
    play.do(play.line.receive(codec.encode(error), play.now))
    assert play.delivered[-1] == error
    with pytest.raises(codec.BadFrame):
        play.line.receive(b"\x00", play.now)


def test_it_remembers_only_the_texts_that_streamed_last() -> None:
    play = open_play()
    for item in ["first", *(str(n) for n in range(KEPT_ITEMS - 1))]:
        play.line.receive(codec.encode(TextDelta(item, "a", 0)), play.now)
    play.line.receive(codec.encode(TextDelta("first", "b", 1)), play.now)
    play.line.receive(codec.encode(TextDelta("last", "a", 0)), play.now)
    (hello,) = frames(play.line.opened(play.now))
    assert isinstance(hello, SessionHello)
    assert hello.resume is not None
    assert "0" not in hello.resume.items
    assert (hello.resume.items["first"], hello.resume.items["last"]) == (1, 0)


# -- any mixture of mishaps -------------------------------------------------------------------------------------------


class Mishaps(RuleBasedStateMachine):
    """An app that edits, a server that streams, and a wire that does its worst; then it is quiet, and all agree."""

    documents = Bundle("documents")

    def __init__(self) -> None:
        super().__init__()
        self.play = Play()
        self.texts: dict[str, tuple[int, Text]] = {}
        self.session: Session | None = None  # the last one greeted; it goes on while nobody listens
        self.spoken: dict[str, str] = {}  # text of an item
        self.numbers: dict[str, int] = {}
        self.statuses: list[tuple[str, ServerEvent]] = []  # by the token of the session
        self.tampered = False  # frames or documents vanished, which the next change brings to light

    @initialize(opened=st.booleans())
    def begin(self, opened: bool) -> None:
        self.play.start()
        if opened:
            self.comes_back()

    # the app

    @rule(target=documents, name=st.sampled_from("abc"), text=st.text("ab\U0001f642\n", max_size=8))
    def opens(self, name: str, text: str) -> str:
        self.texts[name] = (1, Text(text))
        self.play.send(opening(text, 1, name))
        return name

    @rule(name=documents, text=st.text("cd\u8bb7\n", max_size=3), data=st.data(), hashed=st.booleans())
    def edits(self, name: str, text: str, data: st.DataObject, hashed: bool) -> None:
        if name not in self.texts:
            return
        version, mine = self.texts[name]
        plain = str(mine)
        start, end = sorted(data.draw(st.integers(0, len(plain)), label="offset") for _ in range(2))
        points = [Text(plain[:offset]).end for offset in (start, end)]
        change = Change(Range(*(Position(p.line, mine.units(p, "utf-16")) for p in points)), text)
        mine.replace(points[0], points[1], text)
        self.texts[name] = (version + 1, mine)
        digest = mine.hash if hashed else None
        self.play.send(DocumentDidChange(name, version, version + 1, [change], digest))

    @rule(name=consumes(documents))
    def closes(self, name: str) -> None:
        if self.texts.pop(name, None):
            self.play.send(DocumentDidClose(name))

    # the wire

    @rule(up=st.integers(0, 4), down=st.integers(0, 4))
    def carries(self, up: int, down: int) -> None:
        self.play.carry_up(up)
        self.play.carry_down(down)
        self.session = self.play.session or self.session

    @rule()
    def comes_back(self) -> None:
        self.play.settle()
        self.session = self.play.session

    @rule(restarted=st.integers(0, 5).map(lambda n: n == 5))
    def is_cut(self, restarted: bool) -> None:
        if restarted:
            self.play.server.restart()
        self.play.cut()

    @rule()
    @precondition(lambda self: self.play.line.state is State.OPEN and self.play.up)
    def loses_a_frame(self) -> None:
        self.tampered = True
        self.play.up.popleft()

    @rule(refused=st.integers(0, 3).map(lambda n: n == 3))
    @precondition(lambda self: self.play.connecting)
    def is_answered(self, refused: bool) -> None:
        if refused:
            self.play.refuse()
        else:
            self.play.accept()

    @rule(seconds=st.sampled_from([0.05, 0.05, 0.5, 2.0, 61.0]))
    def waits(self, seconds: float) -> None:
        self.play.wait_for(seconds)

    # typed questions

    @rule()
    def asks(self) -> None:
        self.play.send(ResponseCreate("Why?"))

    @rule()
    def stops_asking(self) -> None:
        self.play.send(ResponseCancel())
        assert not self.play.questions

    @rule(ends=st.booleans())
    @precondition(lambda self: self.play.questions)
    def is_answered_by_http(self, ends: bool) -> None:
        state = ResponseState("resp", "completed")
        self.play.answer(ResponseCompleted(state) if ends else ResponseCreated(state), last=ends)

    @rule()
    @precondition(lambda self: self.play.questions)
    def a_request_breaks_off(self) -> None:
        self.play.break_off()

    @invariant()
    def a_question_by_http_is_lost_with_the_line(self) -> None:
        """What the line takes for asked is what is under way, and nothing is once the app was told that the line is lost."""
        assert self.play.line._question.asked == bool(self.play.questions)
        assert not (self.play.questions and self.play.line.state in (State.WAITING, State.CLOSED))

    # the server

    @rule(name=documents)
    @precondition(lambda self: self.play.session)
    def drops_a_document(self, name: str) -> None:
        self.tampered = True
        talking(self.play).documents.close(name)

    @rule(begins=st.booleans(), ago=st.integers(1, 3), deltas=st.integers(0, 2))
    @precondition(lambda self: self.session)
    def says(self, begins: bool, ago: int, deltas: int) -> None:
        assert self.session is not None
        now = self.play.now
        if begins or not self.numbers:
            item = f"msg_{len(self.numbers)}"
            self.numbers[item], self.spoken[item] = -1, ""
            self.session.emit(SuggestionStarted("q", item[4:], "resp", item, "small", "a", 1, HERE), now)
        item = list(self.numbers)[-min(ago, len(self.numbers))]
        for _ in range(deltas):
            self.numbers[item] += 1
            piece = f"{self.numbers[item]}."
            self.spoken[item] += piece
            self.session.emit(TextDelta(item, piece, self.numbers[item]), now)
        self.statuses.append((self.session.token, self.session.emit(ServerStatus("ready", "small"), now)))

    # what must hold

    @invariant()
    def events_come_in_order_and_once(self) -> None:
        newest, heard = -1, dict[str, str]()
        for event in self.play.delivered:
            match event:
                case SessionReady(resumed=False):
                    newest, heard = event.sequence_number, {}
                case TextDelta(item_id=item, delta=text):
                    heard[item] = heard.get(item, "") + text
                case SuggestionStarted() | ServerStatus():
                    # desyncs and flow are numbered too, and are the line's own business
                    assert event.sequence_number > newest
                    newest = event.sequence_number
                case _:
                    pass
        for item, text in heard.items():
            assert text in self.spoken[item]

    def teardown(self) -> None:
        play = self.play
        self.grows_quiet()
        if not self.tampered:
            self.texts_agree()
        for name, (version, mine) in self.texts.items():
            mine.replace(Point(0, 0), Point(0, 0), "!")
            self.texts[name] = (version + 1, mine)
            change = Change(Range(HERE, HERE), "!")
            play.send(DocumentDidChange(name, version, version + 1, [change], mine.hash))
        self.grows_quiet()
        self.texts_agree()
        self.events_come_in_order_and_once()
        self.nothing_is_missing()

    def grows_quiet(self) -> None:
        self.play.settle()
        self.play.carry_down()  # perhaps a desync, which the line answers
        self.play.settle()

    def texts_agree(self) -> None:
        for name, (version, mine) in self.texts.items():
            assert server_text(self.play, version, name) == str(mine), name

    def nothing_is_missing(self) -> None:
        """Since the last start from scratch: each text that began is here to its end, and each event."""
        began = set[str]()
        heard = dict[str, str]()
        statuses: list[ServerEvent] = []
        fresh: SessionReady | None = None
        for event in self.play.delivered:
            match event:
                case SessionReady(resumed=False):
                    began, heard, statuses, fresh = set(), {}, [], event
                case SuggestionStarted(item_id=item):
                    began.add(item)
                case TextDelta(item_id=item, delta=text):
                    heard[item] = heard.get(item, "") + text
                case ServerStatus():
                    statuses.append(event)
                case _:
                    pass
        for item in began:
            assert heard.get(item, "") == self.spoken[item]
        assert fresh is not None
        own = [e for token, e in self.statuses if token == fresh.resume_token and isinstance(e, ServerStatus)]
        assert statuses == [e for e in own if e.sequence_number > fresh.sequence_number]


TestMishaps = Mishaps.TestCase
TestMishaps.settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=40)


def test_frames_are_bytes_for_the_socket() -> None:
    (greeting,) = Line().opened(0.0)
    assert isinstance(greeting, Transmit)
    assert codec.kind(greeting.frame) == "offhook:session.hello"
