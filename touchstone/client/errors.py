"""What can go wrong between a client and its server."""

from touchstone.errors import DomainError


class ClientUsageError(DomainError):
    """What was asked for can't be sent: no server, a run of an unknown form, a bad name."""

    def __init__(self, message: str) -> None:
        super().__init__("usage", message)


class RequestRefusedError(DomainError):
    """The server understood and refused.

    status: of the HTTP answer, from 400 on. code: the server's, for programs.
    lines: what is wrong with an uploaded file, a line each, as `file:line:column: rule: message`.
    """

    def __init__(self, status: int, code: str, message: str, lines: tuple[str, ...] = ()) -> None:
        super().__init__(code, "\n".join((message, *lines)))
        self.status = status
        self.lines = lines


class ServerUnavailableError(DomainError):
    """No usable answer: no connection, one that is no Touchstone server's, or no time left."""

    def __init__(self, message: str) -> None:
        super().__init__("unavailable", message)
