"""Every hostile file on its way into the database: what is refused leaves no row of any kind."""

import io
import subprocess
import sys
from collections.abc import Callable

import pytest
from django.apps import apps

from evaluation.models import Ranker
from evaluation.runs.services import import_run
from judgments.collections.services import load_documents, load_queries
from judgments.imports.services import import_qrels
from tests.builders import NOW, World, make_access, make_world
from tests.conftest import APPS
from tests.deployment import ROOT
from tests.evaluation.builders import make_ranker
from tests.touchstone.files.hostile import Case
from tests.touchstone.files.test_hostile import CASES
from touchstone.files.collections import read_documents, read_queries
from touchstone.files.errors import FileRefused
from touchstone.files.reading import Source
from touchstone.files.trec import read_qrels
from touchstone.scales import Scale

READ_ALL = """
from pathlib import Path
from touchstone.files.errors import FileRefused
from tests.touchstone.files.test_hostile import CASES, read
for case in CASES:
    try:
        read(case)
    except FileRefused:
        pass
# not ru_maxrss, which begins with what the process had that this one was forked from
(peak,) = (line for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))
print(len(CASES), peak.split()[1])
"""
MOST_KIB = 300 * 1024


def counts() -> dict[str, int]:
    """How many rows every table of ours has."""
    models = (model for app in APPS for model in apps.get_app_config(app).get_models())
    return {model._meta.db_table: model._default_manager.count() for model in models}


def importer(world: World, ranker: Ranker) -> Callable[[str, Source], object]:
    def run_import(kind: str, source: Source) -> object:
        match kind:
            case "run":
                return import_run(
                    access=make_access(collection=world.collection),
                    ranker=ranker,
                    source=source,
                    name="hostile",
                    file_name="file",
                    at=NOW,
                    create=True,
                )
            case "queries":
                queries = read_queries(source, name="file")
                return load_queries(
                    collection=world.collection, records=queries, by=world.ada, at=NOW
                )
            case "documents":
                documents = read_documents(source, name="file")
                return load_documents(
                    collection=world.collection, records=documents, by=world.ada, at=NOW
                )
        return import_qrels(
            judgment_list=world.judgments,
            qrels=read_qrels(source, name="file", scale=Scale.default()),
            create=True,
            by=world.ada,
            at=NOW,
            reason="",
        )

    return run_import


def as_imported(case: Case) -> bool:
    """Not those that are refused only by a limit or a way to read that the case itself sets."""
    return bool(case.rule) and case.limits is None and case.kind != "run with a rest"


@pytest.mark.django_db
@pytest.mark.first_pass
def test_what_is_refused_leaves_no_row() -> None:
    world = make_world()
    run_import = importer(world, make_ranker(collection=world.collection))
    before = counts()
    # the smallest that breaks each rule; the same readers refuse the others in test_hostile
    ordered = sorted(filter(as_imported, CASES), key=lambda case: len(case.content), reverse=True)
    refused = {(case.kind, case.rule): case for case in ordered}
    assert len(refused) > 50
    for case in refused.values():
        source = case.content if isinstance(case.content, str) else io.BytesIO(case.content)
        with pytest.raises(FileRefused):
            run_import(case.kind, source)
    assert counts() == before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_all_of_them_together_take_less_than_300_mb() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL], cwd=ROOT, capture_output=True, text=True, check=True
    )
    cases, peak = map(int, done.stdout.split())
    assert cases == len(CASES)
    assert peak < MOST_KIB
