"""The labels of a campaign as a file: complete, importable, and enough to compute alpha again."""

import csv
import io
import json
import re
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from annotation.campaigns.people import pseudonyms_of
from annotation.consolidation.services import consolidate
from annotation.gold.checking import check_labels
from annotation.imports.files import read_given_labels
from annotation.imports.services import import_labels
from annotation.models import Campaign, Label, QualityReport
from annotation.quality.label_files import COLUMNS, LabelChoice, label_lines
from annotation.quality.services import refresh_quality
from judgments.models import User
from tests.annotation.gold.test_planting_services import make_checked, purposes, work
from tests.annotation.page_reading import client_of
from tests.annotation.real_crowds import read_crowd
from tests.api.callers import by_token
from tests.builders import NOW, World, make_access, make_collection, make_list, make_world
from tests.builders_annotation import label, make_campaign
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(days=1)
PAGE = Path(__file__).parents[3] / "docs" / "quality.md"
NOTE = '=1+1, "so" 🙂\nsecond line'


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=4)


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Eight pairs of two people who agree mostly; one correction, one label without a grade."""
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


def rows(campaign: Campaign, **choice: bool) -> list[dict[str, str]]:
    access = make_access(collection=campaign.list.collection)
    lines = label_lines(access=access, campaign=campaign, form="csv", choice=LabelChoice(**choice))
    return list(csv.DictReader(io.StringIO("".join(lines), newline="")))


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
    access = make_access(collection=campaign.list.collection)
    lines = label_lines(access=access, campaign=campaign, form="jsonl", choice=LabelChoice())
    found = [json.loads(line) for line in lines]
    assert len(found) == 17
    first = next(row for row in found if row["note"])
    assert (first["note"], first["grade"], first["counts"]) == (NOTE, 0, True)
    assert first["supersedes"] is None


def test_what_counts_can_be_chosen_and_people_hidden(campaign: Campaign) -> None:
    found = rows(campaign, counting=True, pseudonyms=True)
    assert len(found) == 16
    access = make_access(collection=campaign.list.collection)
    known = pseudonyms_of(access=access)
    own = {known[User.objects.get(username=name).pk] for name in ("ben", "cem")}
    assert {row["annotator"] for row in found} == own
    assert {row["annotator"] for row in rows(campaign, pseudonyms=True)} == own


def test_gold_says_what_was_right_and_does_not_count() -> None:
    world = make_world(queries=2, documents=20)
    ada = make_access(collection=world.collection)
    campaign = make_checked(world, ada, gold_percent=30)
    seats = work(campaign)
    check_labels(list_id=campaign.list_id, at=LATER)
    gold = [row for row in rows(campaign) if row["purpose"] == "gold"]
    assert len(gold) == purposes(seats)["gold"] >= 8
    assert {(row["gold_low"], row["gold_high"], row["counts"]) for row in gold} == {("4", "4", "0")}


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


def notebook(lines: str, folder: Path, monkeypatch: Any, capsys: Any) -> float:
    """What the program in the docs prints about a file."""
    (program,) = re.findall(r"```python\n(import krippendorff.*?)```", PAGE.read_text(), re.DOTALL)
    assert len([line for line in program.splitlines() if line]) <= 10
    (folder / "labels.csv").write_text(lines)
    monkeypatch.chdir(folder)
    exec(compile(program, PAGE, "exec"), {})  # noqa: S102
    return float(capsys.readouterr().out)


def test_a_notebook_computes_the_alpha_of_the_report(
    campaign: Campaign, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    refresh_quality(campaign_id=campaign.pk, clock=lambda: LATER)
    figures = QualityReport.objects.get(campaign=campaign).figures
    lines = "".join(
        label_lines(
            access=make_access(collection=campaign.list.collection),
            campaign=campaign,
            form="csv",
            choice=LabelChoice(),
        )
    )
    found = notebook(lines, tmp_path, monkeypatch, capsys)
    assert found == round(figures["overall"]["alpha"]["ordinal"]["value"], 4)


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
def test_a_crowd_of_445_people_comes_in_and_goes_out_whole(
    data_dir: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    crowd = read_crowd(data_dir, "votes")
    given = [
        {"annotator": f"w{who}", "query_id": "q", "doc_id": f"d{unit}", "grade": str(step)}
        for who, unit, step in zip(crowd.annotators, crowd.units, crowd.steps, strict=True)
    ]
    collection = make_collection(slug="crowd", cast=False)
    make_list(collection=collection)
    campaign = taken(given, collection)
    access = make_access(collection=collection)
    lines = "".join(label_lines(access=access, campaign=campaign, form="csv", choice=LabelChoice()))
    found = list(csv.DictReader(io.StringIO(lines)))
    assert len({row["annotator"] for row in found}) == crowd.people == 445
    same = ("doc_id", "grade")
    assert Counter(tuple(row[name] for name in same) for row in found) == Counter(
        tuple(row[name] for name in same) for row in given
    )
    assert notebook(lines, tmp_path, monkeypatch, capsys) == 0.1658
