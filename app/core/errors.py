"""How something can go wrong, sorted by what to do about it.

Every adapter turns its library's errors into one of these, so that a flow has to know three cases
and no library.
"""

from datetime import timedelta


class RetryLater(Exception):
    """Nothing is known and nothing was decided: try the same work again.

    `after` is how long the other side asked us to wait (GitHub's `retry-after`), or None when it
    named no time. `maybe_done` says that a write may have been carried out although no answer came.
    """

    def __init__(
        self, reason: str, *, after: timedelta | None = None, maybe_done: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after
        self.maybe_done = maybe_done


class Rejected(Exception):
    """The other side understood and refused; the same request will be refused again.

    `status` is the HTTP status of the refusal.
    """

    def __init__(self, reason: str, *, status: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class UserError(Exception):
    """Something that a person can mend. `hint` says how."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
