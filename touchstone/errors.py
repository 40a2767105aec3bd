"""The one base class of everything that a rule of this application refuses."""


class DomainError(Exception):
    """A rule was broken: `code` is stable and for programs, `message` is for people.

    code: lower-case words joined by underscores, e.g. "list_locked".
    message: one plain sentence, without markup, safe to show to the caller.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
