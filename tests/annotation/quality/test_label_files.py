"""The labels of a campaign as a file: complete, importable, and enough to compute alpha again."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.urls import reverse

from annotation.campaigns.people import pseudonyms_of
from annotation.campaigns.services import close_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.actions import set_labels_aside
from annotation.gold.checking import check_labels
from annotation.imports.files import read_given_labels
from annotation.imports.services import import_labels
from annotation.models import Campaign, Label, QualityReport
from annotation.quality.label_files import COLUMNS, LabelChoice, label_file
from annotation.quality.services import refresh_quality
from judgments.models import User
from judgments.permissions import NotFound
from tests.annotation.gold.test_planting_services import make_checked, purposes, work
from tests.annotation.page_reading import client_of
from tests.annotation.real_crowds import RealCrowd, read_crowd
from tests.api.callers import by_token
from tests.builders import NOW, make_access, make_collection, make_list, make_world
from tests.builders_annotation import label, make_campaign
from touchstone.agreement.alpha import alpha
from touchstone.agreement.counts import count_labels
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db

# of each file of TREC 2011's crowds: the people, and alpha as the collection records it
CROWDS = {"votes": (445, 0.1658), "otherparticipantsvotes": (511, 0.3206)}
LATER = NOW + timedelta(days=1)
PAGE = Path(__file__).parents[3] / "docs" / "quality.md"
NOTE = '=1+1, "so" 🙂\nsecond line'


@pytest.fixture(scope="module")
def built(shared_rows: None) -> Campaign:
    """Eight pairs of two people who agree mostly; one correction, one label without a grade."""
    world = make_world(queries=2, documents=4)
    campaign = make_campaign(world=world, people=["ben", "cem"], overlap=2)
    for place, pair in enumerate(campaign.pairs.order_by("pk")):
        label(pair=pair, username="ben", grade=place % 5, note=NOTE if place == 0 else "")
        if place < 7:
            label(pair=pair, username="cem", grade=(place + place // 6) % 5)
        else:
            label(pair=pair, username="cem", reason="'tis unclear")
    label(pair=campaign.pairs.order_by("pk")[0], username="cem", grade=4, at=LATER)
    consolidate(list_id=campaign.list_id, at=LATER)
    return campaign


@pytest.fixture
def campaign(built: Campaign) -> Campaign:
    return deepcopy(built)


def rows(campaign: Campaign, **choice: bool) -> list[dict[str, str]]:
    text = content(campaign, "csv", "ada", **choice).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def content(campaign: Campaign, form: str, username: str = "ada", **choice: bool) -> bytes:
    access = make_access(collection=campaign.list.collection, username=username)
    made = LabelChoice(**choice)
    return b"".join(label_file(access=access, campaign=campaign, form=form, choice=made))


def test_every_label_is_in_the_file_with_what_was_written(campaign: Campaign) -> None:
    found = rows(campaign)
    assert len(found) == Label.objects.count() == 17
    assert tuple(found[0]) == COLUMNS
    noted = next(row for row in found if row["note"])
    assert (noted["annotator"], noted["note"], noted["seconds"]) == (
        "ben",
        f"'{NOTE}".replace("\n", " "),
        "4.5",
    )
    (unsure,) = [row for row in found if row["outcome"] == "unsure"]
    assert (unsure["grade"], unsure["reason"], unsure["purpose"]) == ("", "'tis unclear", "pool")
    (old,) = [row for row in found if row["counts"] == "0"]
    (new,) = [row for row in found if row["supersedes"]]
    assert (new["supersedes"], new["grade"], old["grade"]) == (old["label"], "4", "0")


def test_the_lines_of_json_hold_numbers_and_nothing_is_guarded(campaign: Campaign) -> None:
    found = [json.loads(line) for line in content(campaign, "jsonl").decode().splitlines()]
    assert len(found) == 17
    first = next(row for row in found if row["note"])
    assert (first["note"], first["grade"], first["counts"]) == (NOTE, 0, True)
    assert first["supersedes"] is None


def test_parquet_holds_the_same_with_types(campaign: Campaign) -> None:
    table = pq.read_table(io.BytesIO(content(campaign, "parquet")))
    found = table.to_pylist()
    assert tuple(table.column_names) == COLUMNS
    assert table.schema.metadata[b"title"].startswith(b"Labels of ")
    said = [json.loads(line) for line in content(campaign, "jsonl").decode().splitlines()]
    for row in found:
        row |= {name: row[name].isoformat() for name in ("made_at", "received_at")}
    assert found == said


def test_what_counts_can_be_chosen_and_people_hidden(campaign: Campaign) -> None:
    found = rows(campaign, counting=True, pseudonyms=True)
    assert len(found) == 16
    access = make_access(collection=campaign.list.collection)
    known = pseudonyms_of(access=access)
    own = {known[User.objects.get(username=name).pk] for name in ("ben", "cem")}
    assert {row["annotator"] for row in found} == own
    assert {row["annotator"] for row in rows(campaign, pseudonyms=True)} == own


def test_gold_says_what_was_right_and_does_not_count() -> None:
    world = make_world(slug="films", queries=2, documents=20)
    ada = make_access(collection=world.collection)
    campaign = make_checked(world, ada, gold_percent=30)
    seats = work(campaign)
    check_labels(list_id=campaign.list_id, at=LATER)
    gold = [row for row in rows(campaign) if row["purpose"] == "gold"]
    assert len(gold) == purposes(seats)["gold"] >= 8
    assert {(row["gold_low"], row["gold_high"], row["counts"]) for row in gold} == {("4", "4", "0")}
    assert all(int(row["gold_error"]) == int(row["grade"]) - 4 for row in gold)


def test_researchers_get_pseudonyms_and_no_texts_once_the_campaign_is_closed(
    campaign: Campaign,
) -> None:
    with pytest.raises(NotFound):
        content(campaign, "csv", username="dora")
    ada = make_access(collection=campaign.list.collection)
    closed = close_campaign(access=ada, campaign=campaign, at=LATER)
    text = content(closed, "csv", username="dora").decode()
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(found) == 17
    known = set(pseudonyms_of(access=ada).values())
    assert {row["annotator"] for row in found} <= known
    assert {row["note"] + row["reason"] for row in found} == {""}
    page = client_of("dora").get(reverse("campaign", args=["books", campaign.public_id]))
    assert reverse("campaign-labels-csv", args=["books", campaign.public_id]) in page.text
    there = f"/api/v1/campaigns/{campaign.public_id}/labels/file"
    assert by_token("dora").get(there).getvalue().decode() == text


def test_labels_that_were_set_aside_say_so_and_do_not_count(campaign: Campaign) -> None:
    ada, ben = make_access(collection=campaign.list.collection), User.objects.get(username="ben")
    set_labels_aside(access=ada, campaign=campaign, people=[ben], at=LATER, reason="hasty")
    marks = {(row["annotator"], row["set_aside"]) for row in rows(campaign)}
    assert marks == {("ben", "1"), ("cem", "0")}
    assert not any(row["counts"] == "1" for row in rows(campaign) if row["annotator"] == "ben")


def test_a_row_says_what_its_pair_came_to(campaign: Campaign) -> None:
    graded = [row for row in rows(campaign) if row["pair_state"] == "complete"]
    pairs = {
        (p.query.qid, p.document.docid): p
        for p in campaign.pairs.select_related("query", "document")
    }
    assert graded
    for row in graded:
        pair = pairs[row["query_id"], row["doc_id"]]
        assert (row["pair_grade"], row["segment"]) == (str(pair.grade), pair.query.segment)


def test_the_file_imported_into_another_collection_gives_the_same_labels(
    campaign: Campaign,
) -> None:
    other = make_collection(slug="films", cast=False)
    make_list(collection=other)
    graded = [row for row in rows(campaign, counting=True) if row["grade"]]
    taken(graded, other)
    copied = rows(Campaign.objects.get(list__collection=other))
    same = ("query_id", "doc_id", "grade", "made_at", "seconds", "note", "counts", "outcome")
    key = lambda row: tuple(row[name] for name in same)  # noqa: E731
    assert sorted(map(key, copied)) == sorted(map(key, graded))
    assert len({row["annotator"] for row in copied}) == 2


def taken(found: list[dict[str, str]], collection: Any) -> Campaign:
    """Import rows of a file into a collection without anything in it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(found)
    text = io.BytesIO(out.getvalue().encode())
    given = read_given_labels(text, name="labels.csv", scale=Scale.default(), at=LATER)
    import_labels(
        access=make_access(collection=collection), judgment_list=collection.lists.get(),
        given=given, campaign_name="Copied", names={}, create=True, seed=1, at=LATER,
    )  # fmt: skip
    return Campaign.objects.get(list__collection=collection)


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: Any, capsys: Any) -> Callable[[bytes], float]:
    """What the program in the docs prints about a file of labels."""
    (program,) = re.findall(r"```python\n(import krippendorff.*?)```", PAGE.read_text(), re.DOTALL)
    assert len([line for line in program.splitlines() if line]) <= 10
    monkeypatch.chdir(tmp_path)

    def run(file: bytes) -> float:
        (tmp_path / "labels.csv").write_bytes(file)
        exec(compile(program, PAGE, "exec"), {})  # noqa: S102
        return float(capsys.readouterr().out)

    return run


def test_a_notebook_computes_the_alpha_of_the_report(
    campaign: Campaign, notebook: Callable[[bytes], float]
) -> None:
    refresh_quality(campaign_id=campaign.pk, clock=lambda: LATER)
    figures = QualityReport.objects.get(campaign=campaign).figures
    assert notebook(content(campaign, "csv")) == round(
        figures["overall"]["alpha"]["ordinal"]["value"], 4
    )


def test_the_file_comes_from_the_page_and_over_rest(campaign: Campaign) -> None:
    refresh_quality(campaign_id=campaign.pk, clock=lambda: LATER)
    page = client_of("ada").get(reverse("campaign-quality", args=["books", campaign.public_id]))
    address = reverse("campaign-labels-csv", args=["books", campaign.public_id])
    assert f'href="{address}"' in page.content.decode()
    file = client_of("ada").get(address, {"counting": "1"})
    assert file["Content-Disposition"].startswith("attachment; filename=")
    there = f"/api/v1/campaigns/{campaign.public_id}/labels/file?counting=1"
    sent = by_token("ada").get(there)
    assert sent.getvalue() == file.getvalue()
    assert by_token("ada").get(f"{there}&format=xls").status_code == 400


@pytest.mark.data
@pytest.mark.first_pass
def test_a_part_of_a_crowd_comes_in_and_goes_out_whole(
    data_dir: Path, notebook: Callable[[bytes], float]
) -> None:
    crowd = read_crowd(data_dir, "votes")
    is_part = crowd.units < 200
    units, steps = crowd.units[is_part], crowd.steps[is_part]
    part = replace(crowd, units=units, annotators=crowd.annotators[is_part], steps=steps)
    own = alpha(count_labels(units, steps, [0, 1]), "ordinal")
    assert own.value is not None
    check_round_trip(part, notebook, people=145, value=round(own.value, 4))


@pytest.mark.data
@pytest.mark.first_pass
@pytest.mark.long
@pytest.mark.parametrize("file", CROWDS)
def test_a_crowd_comes_in_and_goes_out_whole(
    file: str, data_dir: Path, notebook: Callable[[bytes], float]
) -> None:
    people, recorded = CROWDS[file]
    check_round_trip(read_crowd(data_dir, file), notebook, people=people, value=recorded)


def check_round_trip(
    crowd: RealCrowd, notebook: Callable[[bytes], float], *, people: int, value: float
) -> None:
    given = [
        {"annotator": f"w{who}", "query_id": "q", "doc_id": f"d{unit}", "grade": str(step)}
        for who, unit, step in zip(crowd.annotators, crowd.units, crowd.steps, strict=True)
    ]
    collection = make_collection(slug="crowd", cast=False)
    make_list(collection=collection)
    campaign = taken(given, collection)
    found = rows(campaign)
    assert len({row["annotator"] for row in found}) == people
    same = ("doc_id", "grade")
    assert Counter(tuple(row[name] for name in same) for row in found) == Counter(
        tuple(row[name] for name in same) for row in given
    )
    assert notebook(content(campaign, "csv")) == value
    refresh_quality(campaign_id=campaign.pk, clock=lambda: LATER)
    figures = QualityReport.objects.get(campaign=campaign).figures
    assert round(figures["overall"]["alpha"]["ordinal"]["value"], 4) == value
    assert len(figures["annotators"]) == people
