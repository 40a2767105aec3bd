"""One server with its worker for all tests that ask a live one."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.running_server import running_server
from tests.services import find_data

QUERIES, DOCUMENTS = 60, 12
SETUP = """
import django
django.setup()
"""
SHOP = f"""
import json
import random
from tests.api.callers import make_token
from tests.builders import commit, make_collection, make_documents, make_list, make_queries
dice = random.Random(1)
collection = make_collection(slug="shop")
queries = make_queries(collection=collection, count={QUERIES})
documents = make_documents(collection=collection, count={DOCUMENTS})
pairs = [(query, document) for query in queries for document in documents]
grades = {{pair: dice.choice((0, 0, 1, 2, 4)) for pair in pairs}}
commit(judgment_list=make_list(collection=collection), grades=grades)
make_list(collection=collection, slug="empty")
print(json.dumps({{
    "TOUCHSTONE_TOKEN": make_token(username="dora"),
    "READ_ONLY": make_token(username="dora", scope="read"),
    "qrels": "".join(f"{{q.qid}} 0 {{d.docid}} {{grade}}\\n" for (q, d), grade in grades.items()),
}}))
"""
# A second collection, where the public ones are found.
COVID = """
from django.core.management import call_command
from judgments.models import Collection
from tests.builders import make_member
call_command("import_qrels", "covid/main", {qrels!r}, "--create", "--scale", "0..2")
make_member(collection=Collection.objects.get(slug="covid"), username="dora", role="researcher")
"""


@pytest.fixture(scope="session")
def covid_qrels() -> Path | None:
    """Those of TREC-COVID's first round."""
    found = find_data()
    return found and found / "trec-covid-r1-sample" / "raw" / "qrels-rnd1.txt.gz"


@pytest.fixture(scope="package")
def server(
    tmp_path_factory: pytest.TempPathFactory,
    make_home: Callable[[Path], Path],
    covid_qrels: Path | None,
) -> Iterator[dict[str, str]]:
    """Its variables, as a CI job would have them."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "bin").mkdir()
    command = folder / "bin" / "touchstone"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m touchstone "$@"\n')
    command.chmod(0o755)
    covid = COVID.format(qrels=str(covid_qrels)) if covid_qrels else ""
    with running_server(make_home(folder / "home"), seed=SETUP + covid + SHOP) as found:
        yield found | {
            "PATH": f"{folder / 'bin'}{os.pathsep}{found['PATH']}",
            "TOUCHSTONE_URL": found["TOUCHSTONE"],
            "XDG_CONFIG_HOME": str(folder / "settings"),
        }
