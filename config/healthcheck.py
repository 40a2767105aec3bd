"""Asks the web server of this container whether it answers: `python -m config.healthcheck`,
or the listener: `python -m config.healthcheck 8001`.

It goes in by the front door, under a name that the server knows and as if through the proxy,
so that asking every few seconds leaves no refusals in the log.
"""

import http.client
import os
import sys

TIMEOUT = 5.0  # seconds


def answers(*, port: int, hosts: str) -> bool:
    """Whether the server on this machine's `port` answers at all, and not with an error of its own.

    hosts: the names under which it is reached, separated by commas.
    """
    host = hosts.split(",", maxsplit=1)[0].strip().lstrip(".*") or "localhost"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    try:
        connection.request("GET", "/healthz", headers={"Host": host, "X-Forwarded-Proto": "https"})
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    sys.exit(not answers(port=port, hosts=os.environ.get("TOUCHSTONE_HOSTS", "")))
