"""Whether this process was told to end: work in slices stops then, and another process goes on."""

import threading
from typing import Final

process_ends: Final = threading.Event()
