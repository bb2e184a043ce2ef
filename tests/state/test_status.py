"""The status line's sentences against the design's table."""

import pytest

from offhook_app.state.line_state import LineState
from offhook_app.state.status import (
    Silence,
    Standing,
    count,
    download_words,
    line_words,
    milliseconds,
    suggestion_words,
)
from offhook_wire.messages import ModelStatus, ServerStatus

pytestmark = pytest.mark.pure

READY = ServerStatus("ready", "m")
STARTING = ServerStatus("starting", "m")


@pytest.mark.parametrize(
    ("line", "server", "tone", "words"),
    [
        (LineState("open", 0.8), READY, "ok", "On the line · 0.8 ms"),
        (LineState("open"), None, "ok", "On the line"),
        (LineState("open", 0.8), STARTING, "warn", "On the line · starting models"),
        (LineState("slow", 310.2), READY, "warn", "Slow line · 310 ms"),
        (LineState("slow"), READY, "warn", "Slow line"),
        (LineState("http"), READY, "warn", "On the line · by HTTP, WebSocket refused"),
        (LineState("waiting", retry_in_s=2.4, attempt=2), None, "bad", "Off the line · trying again in 3 s (2nd try)"),
        (LineState("waiting", attempt=1), None, "bad", "Off the line"),
        (LineState("waiting", attempt=3), None, "bad", "Off the line (3rd try)"),
        (LineState("waiting", attempt=11), None, "bad", "Off the line (11th try)"),
        (LineState("waiting", attempt=21), None, "bad", "Off the line (21st try)"),
        (
            LineState("closed", detail="the server did not start"),
            None,
            "bad",
            "Off the line · the server did not start",
        ),
        (LineState("closed"), None, "bad", "Off the line"),
        (LineState("starting"), None, "warn", "Starting the server"),
        (LineState("connecting"), None, "warn", "Getting on the line"),
    ],
)
def test_the_line(line: LineState, server: ServerStatus | None, tone: str, words: str) -> None:
    assert line_words(line, server) == (tone, words)


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (Standing("idle"), "Suggestions: on"),
        (Standing("waiting"), "Suggestions: waiting for a pause"),
        (Standing("thinking", line=74), "Thinking about line 74"),
        (Standing("arriving", lines=2), "Suggestion: arriving"),
        (Standing("shown", lines=4), "Suggestion: 4 lines, Tab accepts"),
        (Standing("shown", lines=1), "Suggestion: 1 line, Tab accepts"),
        (Standing("typed_into", lines=4), "Suggestion: 4 lines, typed into"),
        (Standing("cut", lines=2), "Suggestion: cut off, 2 lines usable"),
        (Standing("white", spaces=4), "Suggestion: 4 spaces"),
        (Standing("silent", silence=Silence.NEVER_SENT, name=".env"), "No suggestion: .env is never sent"),
        (Standing("silent", silence=Silence.NOTHING_LIKELY), "No suggestion: nothing likely here"),
    ],
)
def test_the_suggestion(standing: Standing, words: str) -> None:
    assert suggestion_words(standing, READY) == words


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (None, "No suggestion: starting the model"),
        (STARTING, "No suggestion: starting the model"),
        (ServerStatus("downloading", "m", share=0.43), "No suggestion: model on its way, 43 %"),
        (ServerStatus("downloading", "m"), "No suggestion: model on its way"),
        (ServerStatus("failed", "m"), "No suggestion: the model did not start"),
        (ServerStatus("absent", "m"), "No suggestion: no model yet, your own code only"),
        (ServerStatus("ready", "m", notice="The battery is low."), "The battery is low."),
    ],
)
def test_no_model(server: ServerStatus | None, words: str) -> None:
    assert suggestion_words(Standing("silent", silence=Silence.NO_MODEL), server) == words


@pytest.mark.parametrize("silence", list(Silence))
def test_every_silence_has_words(silence: Silence) -> None:
    assert suggestion_words(Standing("silent", silence=silence, name="x"), None).startswith("No suggestion: ")


def test_downloads_and_figures() -> None:
    assert download_words(None) == ""
    assert download_words(READY) == ""
    small = ModelStatus("m", "fast", "downloading", 0.5, size_bytes=100)
    large = ModelStatus("n", "deep", "downloading", 0.1, size_bytes=300)
    assert download_words(ServerStatus("downloading", "m", models=[small])) == "Downloading m 50 %"
    assert download_words(ServerStatus("downloading", "m", models=[small, large])) == "Downloading 2 models 20 %"
    unknown = ModelStatus("n", "deep", "downloading")
    assert download_words(ServerStatus("downloading", "m", models=[small, unknown])) == "Downloading 2 models"
    assert milliseconds(99.94) == "99.9 ms"
    assert milliseconds(1310.4) == "1,310 ms"
    assert count(1, "space") == "1 space"
