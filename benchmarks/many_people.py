"""A file of a million labels by a thousand people: imported, reported on, and written out again.

    python -m benchmarks.many_people [--labels 1000000] [--people 1000] [--keep DIRECTORY]

People whose accuracy varies, three a pair, and ten who always give one grade, write a seeded CSV.
Each step is a process of its own over one temporary SQLite database (or `--postgres URL`), so that
its peak memory can be said: the import as a worker does it, the computing of the report, opening
its page (first, and the median of five), and the labels as CSV, JSONL and Parquet. What came out is
compared with what went in, and alpha with that of the `krippendorff` package.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.usage import timed

OVERLAP = 3
QUERIES = 5_000
GRADES = 5
SPAMMERS = 10
TIMES = 5
BEGAN = datetime(2026, 3, 2, 8, tzinfo=UTC)
COLUMNS = ("annotator", "query_id", "doc_id", "grade", "made_at", "seconds")
STEPS = ("load", "report", "page", "export")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--postgres", metavar="URL", default="")
    parser.add_argument("--keep", metavar="DIRECTORY", default="")
    parser.add_argument("--step", choices=STEPS, help="of an own earlier run with --keep")
    options = parser.parse_args()
    if options.step and os.environ.get("MANY_PEOPLE_HOME"):
        _in_this_process(options.step)
        return
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as made:
        home = Path(options.keep or made)
        home.mkdir(exist_ok=True)
        if not (home / "labels.csv").exists():
            _write_file(home / "labels.csv", options.labels, options.people)
        environment = os.environ | {
            "MANY_PEOPLE_HOME": str(home),
            "TOUCHSTONE_HOME": str(home),
            "TOUCHSTONE_MODE": "embedded",
            "REDIS_URL": "",
            "DATABASE_URL": options.postgres or f"sqlite:///{home / 'benchmark.sqlite3'}",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        for step in [options.step] if options.step else STEPS:
            command = [sys.executable, "-m", "benchmarks.many_people", "--step", step]
            subprocess.run(command, env=environment, check=True)


def _write_file(path: Path, labels: int, people: int) -> None:
    import numpy as np

    rng = np.random.default_rng(20)
    pairs = labels // OVERLAP + (labels % OVERLAP > 0)
    skill = rng.beta(8, 3, people)
    truth = rng.choice(GRADES, pairs, p=[0.4, 0.2, 0.15, 0.15, 0.1])
    pace = rng.lognormal(2.0, 0.3, people)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        written = 0
        for pair in range(pairs):
            for person in rng.choice(people, OVERLAP, replace=False)[: labels - written]:
                step = _given(int(person), int(truth[pair]), float(skill[person]), rng)
                at = BEGAN + timedelta(seconds=written * 2)
                seconds = round(float(pace[person] * rng.lognormal(0, 0.3)), 1)
                query, document = f"q{pair % QUERIES}", f"d{pair}"
                name = f"person-{person:04}"
                writer.writerow([name, query, document, step, at.isoformat(), seconds])
                written += 1


def _given(person: int, truth: int, skill: float, rng: Any) -> int:
    if person < SPAMMERS:
        return 2
    if rng.random() < skill:
        return truth
    return int(min(max(truth + rng.choice([-1, 1]), 0), GRADES - 1))


def _in_this_process(step: str) -> None:
    import django

    django.setup()
    home = Path(os.environ["MANY_PEOPLE_HOME"])
    {"load": _load, "report": _report, "page": _page, "export": _export}[step](home)


def _load(home: Path) -> None:
    from django.core.files import File
    from django.core.management import call_command
    from django.utils import timezone

    from judgments.jobs.services import submit_job, work_jobs
    from judgments.models import Job
    from tests.builders import make_access, make_collection, make_list

    call_command("migrate", verbosity=0)
    collection = make_collection(slug="shop")
    made = make_list(collection=collection)
    params = {"list": made.slug, "campaign": "Crowd", "names": "", "create": True, "seed": 1}
    with (home / "labels.csv").open("rb") as file:
        job = submit_job(
            access=make_access(collection=collection), kind="import_labels",
            file=File(file, "labels.csv"), params=params, at=timezone.now(),
        )  # fmt: skip
    timed("import", work_jobs)
    job = Job.objects.get(pk=job.pk)
    result = {name: value for name, value in job.result.items() if name != "names"}
    print(job.state, result, flush=True)


def _report(home: Path) -> None:
    from django.utils import timezone

    from annotation.models import Campaign
    from annotation.quality.services import refresh_quality

    campaign = Campaign.objects.get()
    timed("report: computing", lambda: refresh_quality(campaign_id=campaign.pk, clock=timezone.now))


def _page(home: Path) -> None:
    from django.test import Client
    from django.urls import reverse

    from annotation.models import Campaign
    from judgments.models import User

    campaign = Campaign.objects.get()
    lead = Client(headers={"host": "localhost"})
    lead.force_login(User.objects.get(username="ada"))
    for name in ("campaign-quality", "campaign"):
        address = reverse(name, args=["shop", campaign.public_id])

        def look(address: str = address) -> None:
            answer = lead.get(address)
            assert answer.status_code == 200
            look.size = len(answer.content)  # type: ignore[attr-defined]

        timed(f"{name}: page, first time", look)
        timed(f"{name}: page, median of {TIMES}", look, times=TIMES)
        print(f"{look.size / 1000:.0f} kB", flush=True)  # type: ignore[attr-defined]


def _export(home: Path) -> None:
    import krippendorff
    import pandas as pd

    from annotation.models import Campaign, QualityReport
    from annotation.quality.label_files import LabelChoice, label_file
    from tests.builders import make_access

    campaign = Campaign.objects.select_related("list__collection").get()
    access = make_access(collection=campaign.list.collection)

    def write(form: str) -> None:
        parts = label_file(access=access, campaign=campaign, form=form, choice=LabelChoice())
        with (home / f"out.{form}").open("wb") as file:
            file.writelines(parts)

    for form in ("csv", "jsonl", "parquet"):
        timed(f"labels as {form}", partial(write, form))
    given, written = list(_rows(home / "labels.csv")), list(_rows(home / "out.csv"))
    print("the CSV has the labels of the file:", sorted(given) == sorted(written), flush=True)
    labels = pd.read_parquet(home / "out.parquet")
    graded = labels[labels["counts"] & (labels["outcome"] == "graded")]
    counts = graded.groupby(["query_id", "doc_id", "grade"]).size().unstack(fill_value=0)
    found = krippendorff.alpha(
        value_counts=counts.to_numpy(), value_domain=counts.columns.to_list(),
        level_of_measurement="ordinal",
    )  # fmt: skip
    figures = QualityReport.objects.get(campaign=campaign).figures
    print(f"alpha: {found:.6f}, report {figures['overall']['alpha']['ordinal']['value']:.6f}")


def _rows(path: Path) -> Iterator[tuple[str, ...]]:
    """Each label as it was given: a name is what stands before the @ of an account."""
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            yield row["annotator"].partition("@")[0], *(row[name] for name in COLUMNS[1:])


if __name__ == "__main__":
    main()
