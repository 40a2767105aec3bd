"""Ask the process of tests/forks.py for a fork; as a program, `python` for a shell's commands.

`python -I -S tests/fork_request.py ADDRESS WORDS`: it loads hardly anything, so that it begins in
hundredths of a second itself.
"""

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any


def request_fork(
    address: str,
    words: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    streams: Sequence[IO[Any]],
) -> socket.socket:
    """The connection that gets its id and its exit status, each a line; closing it kills the fork.

    streams: its input, output and errors.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    asked = json.dumps({"words": list(words), "cwd": cwd, "env": env}).encode()
    size = len(asked).to_bytes(4)
    socket.send_fds(connection, [size], [stream.fileno() for stream in streams])
    connection.sendall(asked)
    return connection


def main() -> None:
    address, *words = sys.argv[1:]
    streams = (sys.stdin, sys.stdout, sys.stderr)
    here = os.getcwd()  # noqa: PTH109  (to import pathlib takes longer than all else)
    connection = request_fork(address, words, cwd=here, env=dict(os.environ), streams=streams)
    _, status = map(int, connection.makefile())
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
