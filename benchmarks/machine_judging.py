"""How long a machine judge takes for the pairs of a campaign, from its job's begin to its end.

    python -m benchmarks.machine_judging [--pairs 10000] [--milliseconds 100] [--at-once 32]

An endpoint on loopback, a process of its own, answers each request after so many milliseconds. The
pairs are labelled in this process, on SQLite in a temporary home: prompts, requests, and storing
each attempt and label. The ideal is pairs × milliseconds / at once.
"""

import argparse
import threading
import time

from benchmarks.homes import other_process, temporary_home

DOCUMENTS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--milliseconds", type=float, default=100)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--endpoint", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.endpoint:
        _serve(options)
        return
    with temporary_home():
        ideal = options.pairs * options.milliseconds / 1000 / options.at_once
        print(f"{_measure(options)}, ideal {ideal:.1f} s")


def _serve(options: argparse.Namespace) -> None:
    """Answer until killed."""
    import django

    django.setup()
    from tests.annotation.machine_judges.endpoint import grades, running

    answer = grades(1)
    with running(lambda _: answer, seconds=options.milliseconds / 1000) as endpoint:
        print(endpoint.url, flush=True)
        threading.Event().wait()


def _measure(options: argparse.Namespace) -> str:
    """Seconds of the jobs, and what they stored."""
    from django.conf import settings

    from annotation.machine_judges.campaigns import start_judging
    from annotation.models import MachineLabel
    from judgments.jobs.services import work_jobs
    from judgments.outgoing.rules import read_origins
    from tests.annotation.machine_judges.endpoint import make_judge
    from tests.builders import NOW, make_access, make_world
    from tests.builders_annotation import make_draft

    words = ("--endpoint", "--milliseconds", str(options.milliseconds))
    with other_process("benchmarks.machine_judging", *words) as url:
        settings.OUTGOING = read_origins([f"{url.rpartition('/v1')[0]}=127.0.0.0/8"])
        world = make_world(queries=options.pairs // DOCUMENTS, documents=DOCUMENTS)
        judge = make_judge(world, url, at_once=options.at_once).judge
        access = make_access(collection=world.collection)
        campaign = make_draft(world=world)
        own = start_judging(access=access, judge=judge, campaign=campaign, at=NOW)
        begun, busy = time.perf_counter(), time.process_time()
        while work_jobs():
            pass
        seconds, busy = time.perf_counter() - begun, time.process_time() - busy
        own.refresh_from_db()
        assert (own.state, MachineLabel.objects.count()) == ("done", own.pairs)
    attempts = own.attempts.count()
    return f"{seconds:.1f} s ({busy:.1f} s of CPU time), {own.pairs} labels, {attempts} attempts"


if __name__ == "__main__":
    main()
