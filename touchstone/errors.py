"""The one base class of everything that a rule of this application refuses."""


class DomainError(Exception):
    """A rule was broken: `code` is stable and for programs, `message` is for people.

    code: lower-case words joined by underscores, e.g. "list_locked".
    message: one plain sentence, without markup, safe to show to the caller.
    pattern, values: the message before `values` were put into its {names}, so that a page can
    show it in another language.
    """

    def __init__(self, code: str, message: str, **values: object) -> None:
        self.code = code
        self.pattern = message
        self.values = values
        self.message = message.format(**values) if values else message
        super().__init__(self.message)


class NotNow(DomainError):
    """Refused only for now: nothing is wrong with what was asked, and later it will be possible."""
