"""An application that says how much it was sent, and a worker with a short deadline."""

import time

from config.serving import BufferingWorker


class HastyWorker(BufferingWorker):
    to_arrive = 1.0


def application(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        time.sleep(0.1)
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    answer = f"{environ['REQUEST_METHOD']} {len(body)}".encode()
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]
