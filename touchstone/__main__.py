"""The command as a process: `touchstone`, or `python -m touchstone`."""

import atexit
import gc
import os
import signal
import sys

# OpenBLAS makes its threads when NumPy is imported, a tenth of a second for nothing: no command
# multiplies matrices
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from touchstone.cli import main


def command() -> int:
    """Run it, and end quietly where no one reads on, as in `touchstone … | head`."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # A process that ends looks through all objects for cycles: a sixth of a short command's time.
    atexit.register(gc.freeze)
    return main()


if __name__ == "__main__":
    sys.exit(command())
