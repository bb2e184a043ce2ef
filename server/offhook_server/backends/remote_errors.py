"""What a place's refusal means and how it is mended, in one sentence. Nothing of what the place said is passed on: it
may repeat the person's text, or the key."""

import re

from offhook_server.errors import BackendError

LONGEST_PAUSE_S = 3600.0
USUAL_PAUSE_S = 10.0

NONSENSE = "The place does not answer as an OpenAI-compatible server does; look at url in the settings."
CUT = "The answer broke off; ask again."
ENDLESS = "The model does not stop when it is told to; choose another place, or another model there."
TALK = (
    "The model answered with talk in place of code; choose one made for code, or set fim in the settings to the form it "
    "was made for."
)
NOBODY = "Nothing answers at the place's address; start it there, or look at url in the settings."
CERTIFICATE = "The certificate of the place is not valid for its address; look at url in the settings."
SILENT = "The place has been silent for {} s; it may be loading its model, so ask again."
NO_KEY = "There is no key for the place; set the environment variable that key_env names and start again."
NO_MODEL = "The place does not say which models it has; set model in the settings."
UNSAFE = (
    "The place is on another machine and its address begins with http, so everybody between could read your code; use "
    "https, or set insecure to true."
)

FILL_IN = re.compile(r"suffix|insert|infill|\bfim\b", re.IGNORECASE)
TOO_LONG = re.compile(r"context|too long|too many tokens|exceed", re.IGNORECASE)
UNKNOWN_FIELD = re.compile(
    r"unsupported|not supported|unrecognized|unknown|extra_forbidden|not permitted", re.IGNORECASE
)
FIELDS = ("stream_options", "max_tokens", "temperature", "top_p", "stop", "response_format", "tool_choice")


class CannotFillIn(BackendError):
    """The place refused the form in which it was asked to fill in."""


class Busy(BackendError):
    """Not before `pause_s` from now."""

    def __init__(self, pause_s: float) -> None:
        self.pause_s = min(max(pause_s, 1.0), LONGEST_PAUSE_S)
        words = f"The place takes no more requests for now; ask again in {self.pause_s:.0f} s."
        super().__init__(words, retryable=True)


def refusal(status: int, body: str, *, retry_after: str = "", filling_in: bool = False) -> BackendError:
    """Of an HTTP status that is no success, or of an error in the middle of a stream."""
    if status == 429:
        return Busy(float(retry_after) if retry_after.isdecimal() else USUAL_PAUSE_S)
    if status in (400, 422, 501):
        return _misunderstood(body, filling_in)
    if status >= 500:
        words = "is still loading its model" if "oading" in body else "has a fault of its own"
        return BackendError(f"The place {words}; ask again in a while.", retryable=True)
    sentences = {
        401: "The place does not accept the key; set the variable that key_env names to a valid one and start again.",
        402: "The place wants to be paid first; look at your account there.",
        404: "The place knows no such address or no such model; look at url and model in the settings.",
        408: SILENT.format("some"),
        413: "The text is longer than the place takes; send less.",
    }
    sentences[403] = sentences[401]
    sentence = sentences.get(status, NONSENSE if status < 300 or status >= 400 else "")
    return BackendError(sentence or "The place has moved to another address; set url in the settings to the new one.")


def _misunderstood(body: str, filling_in: bool) -> BackendError:
    if TOO_LONG.search(body):
        return BackendError("The text is longer than the model at this place takes; send less.")
    if filling_in and FILL_IN.search(body):
        return CannotFillIn(
            'The model there does not fill in that way; set fim in the settings to another form, or to "none".'
        )
    return BackendError("The place refused the request; look at model and fim in the settings.")


def unknown_field(status: int, body: str) -> str | None:
    """The field of a request that a place does not know or does not want, if that is why it refused."""
    if status not in (400, 422) or not UNKNOWN_FIELD.search(body):
        return None
    return next((field for field in FIELDS if re.search(rf"\b{field}\b", body)), None)
