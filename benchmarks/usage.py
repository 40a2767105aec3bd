"""What processes use, as Linux tells it."""

import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence
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


def machine_seconds() -> float:
    """Seconds of CPU time that all processes of this machine have used so far."""
    user, nice, system, _, _, *interrupts = map(int, _read(Path("/proc/stat")).split()[1:8])
    return (user + nice + system + sum(interrupts)) / TICKS


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


def timed(words: str, work: Callable[[], object], *, times: int = 1) -> None:
    """Print the medians of the seconds that work takes in this process, and its most memory."""
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    wall, cpu = statistics.median(walls), statistics.median(cpus)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{words}: {wall:.2f} s, {cpu:.2f} s of CPU time, peak {peak:.0f} MiB", flush=True)
