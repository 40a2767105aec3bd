"""What processes use, as Linux tells it."""

import os
import resource
from collections.abc import Sequence
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        children = Path(f"/proc/{one}/task/{one}/children")
        found += [int(child) for child in children.read_text().split()] if children.exists() else []
    return found


def backends(database: str) -> list[int]:
    """PostgreSQL's processes for this database's connections."""
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if (line := _read(path)).startswith(b"postgres: ") and database.encode() in line
    ]


def cpu_seconds(pids: Sequence[int]) -> float:
    """Seconds of CPU time that the processes have used so far."""
    ticks = 0
    for pid in pids:
        fields = _read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
        ticks += int(fields[11]) + int(fields[12]) if fields else 0
    return ticks / TICKS


def memory_bytes(pids: Sequence[int]) -> int:
    """Bytes of the processes, each shared page once."""
    kilobytes = 0
    for pid in pids:
        lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith(b"Pss:"))
    return kilobytes * 1024


def peak() -> float:
    """The most memory that this process has had, in MiB; not what its parent had."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
