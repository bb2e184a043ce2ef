"""Whose fault an error is. Everything that is none of these is a bug and stays a builtin."""


class OffhookError(Exception):
    """Base; `str()` of one is a sentence a person may read, and holds no text or path of theirs."""


class PeerError(OffhookError):
    """The other end broke the protocol. `code` and `param` are OpenAI's words for it."""

    def __init__(self, message: str, *, code: str | None = None, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.param = param
        self.status = status


class BackendError(OffhookError):
    """A model or the process that runs it failed. `retryable`: the same request may succeed on a new worker."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class UserError(OffhookError):
    """Something only the person can mend; the message says how."""
