"""Labels from a file: as if they had been given here, once, and with the decisions about them."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from annotation.campaigns.services import CampaignRefused, reopen_campaign
from annotation.gold.services import mark_gold
from annotation.imports import label_writes
from annotation.imports.files import read_given_labels
from annotation.imports.label_writes import ImportRefused
from annotation.imports.services import import_labels
from annotation.models import Adjudication, Assignment, Campaign, Label, QualityReport
from annotation.quality.services import refresh_quality
from judgments.jobs.services import work_jobs
from judgments.models import Judgment, Membership, User
from tests.builders import NOW, make_access, make_collection, make_list, make_world
from tests.builders_annotation import label, make_campaign, make_draft
from touchstone.files.errors import FileRefused
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(days=1)
TABLE = """annotator,query_id,doc_id,grade,final_grade,seconds
agent_1,q1,d1,3,,5
agent_2,q1,d1,3,,6
agent_1,q1,d2,0,2,
agent_2,q1,d2,4,2,
ben,q1,d2,1,,
agent_1,q2,d1,1,,
agent_2,q2,d1,2,,
"""


@pytest.fixture
def world():
    return make_world()


def take(world, table=TABLE, *, campaign="Past", names=None, create=False, username="ada"):
    scale = Scale.from_json(world.judgments.scale)
    return import_labels(
        access=make_access(collection=world.collection, username=username),
        judgment_list=world.judgments,
        given=read_given_labels(io.BytesIO(table.encode()), name="past.csv", scale=scale, at=LATER),
        campaign_name=campaign,
        names=names or {},
        create=create,
        seed=1,
        at=LATER,
    )


def grades(world):
    rows = Judgment.objects.filter(list=world.judgments, until=None)
    return {(row.query.qid, row.document.docid): row.grade for row in rows}


def seats_of(campaign):
    seats_qs = Assignment.objects.filter(pair__campaign=campaign).order_by("pair", "seat")
    return list(
        seats_qs.values_list(
            "pair__query__qid", "pair__document__docid", "seat", "purpose", "state",
            "annotator__name", "labels__grade", "labels__pair_seq", "labels__timing__seconds",
        )
    )  # fmt: skip


def test_labels_become_a_closed_campaigns_and_decisions_win_over_them(world):
    done = take(world)
    assert (done.labels, done.decided, done.pairs, done.version.number) == (7, 1, 3, 2)
    assert grades(world) == {("q1", "d1"): 3, ("q1", "d2"): 2}
    campaign = Campaign.objects.get()
    assert (campaign.state, campaign.overlap) == ("closed", 2)
    assert list(campaign.pairs.order_by("pk").values_list("state", flat=True)) == [
        "complete", "adjudicated", "tied",
    ]  # fmt: skip
    decision = Adjudication.objects.get()
    assert (decision.reason, decision.decided_by) == ("imported", world.ada)
    judged = Judgment.objects.get(document__docid="d2")
    assert (judged.evidence["votes"], judged.evidence["adjudicated"]) == (
        {"0": 1, "1": 1, "4": 1}, True,
    )  # fmt: skip


def test_the_same_file_again_changes_nothing_and_another_grade_is_a_correction(world):
    take(world)
    again = take(world)
    assert (again.labels, again.unchanged, again.decided, again.version) == (0, 7, 0, None)
    assert Label.objects.count() == 7
    corrected = take(world, TABLE.replace("agent_2,q2,d1,2", "agent_2,q2,d1,1"))
    assert (corrected.corrected, corrected.labels, corrected.version.number) == (1, 0, 3)
    assert grades(world)["q2", "d1"] == 1
    assert Label.objects.exclude(supersedes=None).count() == 1


def test_portions_of_pairs_give_what_the_whole_file_gives(world, monkeypatch):
    whole = take(world)
    told = grades(world), seats_of(whole.campaign)
    other = make_world(slug="films")
    monkeypatch.setattr(label_writes, "PORTION", 1)
    monkeypatch.setattr(label_writes, "CONCLUDED", 2)
    done = take(other)
    assert done.labels == whole.labels == 7
    assert (done.decided, done.pairs) == (whole.decided, whole.pairs)
    assert (grades(other), seats_of(done.campaign)) == told


@pytest.mark.first_pass
def test_a_file_has_more_than_five_hundred_people(world):
    rows = [f"person {number},q1,d{1 + number % 2},{number % 5}" for number in range(501)]
    done = take(world, "\n".join(["annotator,query_id,doc_id,grade", *rows]))
    assert (len(done.people), done.labels) == (501, 501)
    assert done.campaign.annotators.count() == 501


def test_names_are_members_where_they_are_said_to_be_and_else_cannot_sign_in(world):
    done = take(world, names={"agent_2": "cem"})
    assert done.people == {"agent_1@books": "agent_1", "cem": "agent_2", "ben": "ben"}
    nameless = User.objects.get(username="agent_1@books")
    assert (str(nameless), nameless.is_active, nameless.has_usable_password()) == (
        "agent_1", False, False,
    )  # fmt: skip
    assert Membership.objects.get(user=nameless).role == "annotator"
    with pytest.raises(ImportRefused, match="eve is not a member"):
        take(world, campaign="Other", names={"agent_1": "eve"})
    with pytest.raises(ImportRefused, match="are mapped to the same person"):
        take(world, campaign="Other", names={"agent_1": "ben"})


def test_the_same_name_in_another_collection_is_another_person(world):
    take(world)
    other = make_collection(slug="films", cast=False)
    make_list(collection=other)
    call: dict[str, Any] = {
        "judgment_list": other.lists.get(),
        "access": make_access(collection=other),
    }
    text = "annotator,query_id,doc_id,grade\nagent_1,q1,d1,3\nagent 1,q1,d1,2\n"
    given = read_given_labels(io.BytesIO(text.encode()), name="f", scale=Scale.default(), at=LATER)
    done = import_labels(
        **call, given=given, campaign_name="Past", names={}, create=True, seed=1, at=LATER
    )
    assert set(done.people) == {"agent_1@films", "agent-1@films"}


def test_unknown_ids_are_refused_with_their_lines_and_nothing_is_left(world):
    with pytest.raises(FileRefused) as refused:
        take(world, TABLE + "ben,q9,d1,1,,\nben,q1,d99,1,,\n")
    assert [(one.line, one.rule) for one in refused.value.problems] == [
        (9, "unknown-query"), (10, "unknown-document"),
    ]  # fmt: skip
    assert not Campaign.objects.exists()
    assert not User.objects.filter(is_active=False).exists()
    assert take(world, TABLE + "ben,q9,d99,1,,\n", create=True).pairs == 4


def test_an_open_campaign_takes_labels_into_the_seats_that_are_free(world):
    campaign = make_campaign(world=world, overlap=2)
    pair = campaign.pairs.get(query__qid="q1", document__docid="d1")
    label(pair=pair, username="ben", grade=3)
    done = take(world, campaign=campaign.name)
    assert (done.labels, done.campaign) == (7, campaign)
    seats = Assignment.objects.filter(pair=pair, state="done")
    assert sorted(seats.values_list("purpose", flat=True)) == ["extra", "pool", "pool"]
    assert grades(world)["q1", "d1"] == 3
    assert not Assignment.objects.filter(pair__query__qid="q2", pair__document__docid="d1",
                                         state="free").exists()  # fmt: skip


def test_what_can_not_be_is_refused(world):
    make_draft(world=world, name="Draft")
    with pytest.raises(ImportRefused, match="draft"):
        take(world, campaign="Draft")
    campaign = make_campaign(world=world, name="Open")
    with pytest.raises(ImportRefused, match="open in another campaign"):
        take(world)
    access = make_access(collection=world.collection)
    pair = campaign.pairs.select_related("campaign__list").get(
        query__qid="q2", document__docid="d1"
    )
    mark_gold(access=access, pair=pair, low=1, high=1, reason="", at=NOW)
    with pytest.raises(FileRefused) as refused:
        take(world, campaign="Open")
    assert [(one.line, one.rule) for one in refused.value.problems] == [(7, "gold")]


def test_a_campaign_from_a_file_opens_again_once_it_has_people(world):
    campaign = take(world).campaign
    access = make_access(collection=world.collection)
    with pytest.raises(CampaignRefused, match="needs 2 people"):
        reopen_campaign(access=access, campaign=campaign, at=LATER)


def test_a_lead_uploads_the_file_and_a_worker_reads_it(client, world):
    client.force_login(world.ada)
    url = reverse("labels-import", args=["books"])
    assert url in client.get(reverse("campaigns", args=["books"])).text
    sent = {"judgment_list": "main", "campaign": "Past", "names": "agent_2=cem"}
    file = io.BytesIO(TABLE.encode())
    file.name = "past.csv"
    response = client.post(url, sent | {"file": file})
    work_jobs()
    page = client.get(response.headers["Location"]).text
    assert reverse("campaign", args=["books", Campaign.objects.get().public_id]) in page
    assert "cem" in Label.objects.values_list("annotator__username", flat=True)
    assert "can’t sign in" in client.get(reverse("members", args=["books"])).text
    bad = client.post(url, sent | {"file": file, "names": "nobody"})
    assert "write NAME = USERNAME" in bad.text


@pytest.mark.postgres
def test_postgresql_is_told_how_many_labels_came(world):
    """Else it may take the table for empty, and read it whole for every seat."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotation_label")
        take(world)
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'annotation_label'")
        assert cursor.fetchone() == (7.0,)


@pytest.mark.data
@pytest.mark.first_pass
def test_the_three_raters_of_products_and_what_was_decided(client, data_dir, tmp_path, capsys):
    """Alpha through the application is the collection's own, and so are the grades of the list."""
    folder = data_dir / "chorus-ecommerce" / "derived"
    final = {}
    for line in (folder / "qrels_final_0to3.txt").read_text().splitlines():
        qid, _, docid, grade = line.split()
        final[qid, docid] = grade
    with (folder / "ratings_long.csv").open(newline="") as source:
        rows = list(csv.DictReader(source))
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow([*rows[0], "final_grade"])
        for row in rows:
            writer.writerow([*row.values(), final[row["query_id"], row["doc_id"]]])
    shop = make_collection(slug="shop")
    judged = make_list(collection=shop, scale=Scale.parse("0..3"))
    call_command("import_labels", "shop/main", str(path), "--by", "ada", "--create", "--json")
    assert '"new_labels": 9564, "corrected_labels": 0' in capsys.readouterr().out
    rows_qs = Judgment.objects.filter(list=judged, until=None)
    found = rows_qs.values_list("query__qid", "document__docid", "grade")
    assert {(qid, docid): str(grade) for qid, docid, grade in found} == final
    campaign = Campaign.objects.get()
    refresh_quality(campaign_id=campaign.pk, clock=lambda: LATER)
    alpha = QualityReport.objects.get().figures["overall"]["alpha"]
    values = {level: round(one["value"], 4) for level, one in alpha.items()}
    assert values == {"nominal": 0.6426, "ordinal": 0.7695, "interval": 0.7707}
    assert alpha["ordinal"]["units"] == 3_188
