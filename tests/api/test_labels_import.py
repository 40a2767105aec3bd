"""Labels from elsewhere over REST: into a campaign, whole or not at all, waited for or not."""

import pytest

from annotation.imports import api as label_imports
from annotation.models import Adjudication, Campaign, Label
from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Document
from tests.api.callers import MAIN, SCOPES, by_token, gzipped, is_problem, post_file

LABELS = f"{MAIN}labels"
TABLE = """annotator,query_id,doc_id,grade,final_grade
agent_1,q1,d1,3,
agent_2,q1,d1,3,
agent_1,q1,d2,0,2
ben,q1,d2,1,2
"""
COUNTS = {
    "version": 2,
    "people": 3,
    "pairs": 2,
    "new_labels": 4,
    "corrected_labels": 0,
    "labels_that_were_there": 0,
    "decisions": 1,
}


@pytest.mark.parametrize("pack", [str.encode, gzipped])
def test_labels_become_a_campaigns_and_final_grades_its_decisions(world, pack):
    client = by_token("ada")
    made = post_file(client, f"{LABELS}?campaign=Past", pack(TABLE))
    assert made.status_code == 201, made.content
    campaign = Campaign.objects.get()
    names = {"agent_1@books": "agent_1", "agent_2@books": "agent_2", "ben": "ben"}
    assert made.json() == {"campaign": str(campaign.public_id), "names": names} | COUNTS
    assert (campaign.name, campaign.state) == ("Past", "closed")
    assert Adjudication.objects.get().decided_by == world.ada
    qrels = client.get(f"{MAIN}versions/head/qrels").content
    assert qrels == b"q1 0 d1 3\nq1 0 d2 2\n"
    entry = AuditEntry.objects.get(action="campaign.labels_imported")
    assert (entry.actor, entry.after["new_labels"]) == (world.ada, 4)


def test_the_same_file_again_changes_nothing(world):
    client = by_token("ada")
    post_file(client, f"{LABELS}?campaign=Past", TABLE)
    again = post_file(client, f"{LABELS}?campaign=Past", TABLE)
    assert (again.status_code, again.json()["version"]) == (200, None)
    assert again.json()["labels_that_were_there"] == 4
    corrected = post_file(client, f"{LABELS}?campaign=Past", TABLE.replace("d1,3", "d1,2"))
    assert (corrected.status_code, corrected.json()["corrected_labels"]) == (201, 2)


def test_a_name_of_the_file_is_the_account_that_it_is_said_to_be(world):
    client = by_token("ada")
    made = post_file(client, f"{LABELS}?campaign=Past&names=agent_1+%3D+cem", TABLE)
    assert made.json()["names"]["cem"] == "agent_1"
    assert Label.objects.filter(annotator=world.cem).count() == 2
    is_problem(
        post_file(client, f"{LABELS}?campaign=Other&names=agent_1", TABLE), 422, "names_unreadable"
    )
    is_problem(
        post_file(client, f"{LABELS}?campaign=Other&names=agent_1%3Deve", TABLE), 422, "no_member"
    )


def test_every_line_that_breaks_a_rule_is_named_and_nothing_is_kept(world):
    table = TABLE + "agent_1,q1,d1,1,\nagent_1,q2,d1,7,\n"
    problem = is_problem(
        post_file(by_token("ada"), f"{LABELS}?campaign=Past", table), 422, "file_refused"
    )
    assert [(one["line"], one["rule"]) for one in problem["problems"]] == [
        (6, "duplicate"),
        (7, "scale"),
    ]
    assert not Campaign.objects.exists()


def test_unknown_ids_are_refused_unless_asked_for(world):
    client, table = by_token("ada"), TABLE + "ben,q1,new,1,\n"
    refused = is_problem(post_file(client, f"{LABELS}?campaign=Past", table), 422, "file_refused")
    assert [(one["line"], one["rule"]) for one in refused["problems"]] == [(6, "unknown-document")]
    assert not Campaign.objects.exists()
    assert post_file(client, f"{LABELS}?campaign=Past&create=true", table).status_code == 201
    assert Document.objects.get(docid="new").is_stub


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "campaign"), ("?campaign=", "campaign"), ("?campaign=Past&reason=x", "reason")],
)
def test_a_request_without_a_campaign_or_with_something_unknown_is_refused(world, query, field):
    problem = is_problem(post_file(by_token("ada"), LABELS + query, TABLE), 400, "invalid")
    assert set(problem["errors"]) == {field}


@pytest.mark.parametrize("is_large", [True, False])
def test_what_is_large_or_not_waited_for_is_left_to_a_worker(world, monkeypatch, is_large):
    if is_large:
        monkeypatch.setattr(label_imports, "LARGE", 10)
    headers = {} if is_large else {"Prefer": "respond-async"}
    client = by_token("ada")
    asked = post_file(client, f"{LABELS}?campaign=Past&names=agent_1=cem", TABLE, **headers)
    assert (asked.status_code, asked.json()["kind"]) == (202, "import_labels")
    assert not Label.objects.exists()
    work_jobs()
    job = client.get(asked["Location"]).json()
    assert job["state"] == "done"
    assert {name: job["result"][name] for name in COUNTS} == COUNTS
    assert job["result"]["campaign"] == str(Campaign.objects.get().public_id)
    assert job["result"]["names"]["cem"] == "agent_1"


def test_a_job_names_the_lines_that_were_wrong(world):
    client = by_token("ada")
    table = TABLE.replace("agent_2,q1,d1,3", "agent_2,q1,d1,9")
    asked = post_file(client, f"{LABELS}?campaign=Past", table, Prefer="respond-async")
    work_jobs()
    job = client.get(asked["Location"]).json()
    assert job["state"] == "failed"
    assert [(one["line"], one["rule"]) for one in job["problems"]] == [(3, "scale")]


@pytest.mark.parametrize("username", ["ben", "dora", "eve"])
def test_only_leads_take_labels_in(world, username):
    is_problem(post_file(by_token(username), f"{LABELS}?campaign=Past", TABLE), 404, "not_found")
    assert not Campaign.objects.exists()


def test_a_token_to_read_takes_no_labels_in(world):
    client = by_token("ada", scope=SCOPES.READ)
    is_problem(post_file(client, f"{LABELS}?campaign=Past", TABLE), 403, "permission_denied")
    assert not Campaign.objects.exists()
