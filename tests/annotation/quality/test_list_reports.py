"""The report of a list: what its campaigns' reports say, put together."""

import csv
import io
from copy import deepcopy

import pytest
from django.urls import reverse

from annotation.campaigns.services import close_campaign
from annotation.models import QualityReport
from annotation.quality.services import refresh_quality
from tests.builders import NOW, make_access, make_member, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


def label_all(campaign, **people):
    """people: by username, the grade of each pair by its place."""
    for place, pair in enumerate(campaign.pairs.order_by("pk")):
        for username, grade_of in people.items():
            if (grade := grade_of(place)) is not None:
                label(pair=pair, username=username, grade=grade)


@pytest.fixture(scope="module")
def built(shared_rows):
    """=Spring, in which Ben and Cem labelled, and Autumn, with Ben, Gus and Fay, who says 2."""
    world = make_world(queries=4, documents=10)
    spring = make_campaign(world=world, overlap=2, name="=Spring")
    same = lambda place: place % 5  # noqa: E731
    label_all(spring, ben=same, cem=lambda place: (place + (place % 8 == 0)) % 5)
    close_campaign(access=make_access(collection=world.collection), campaign=spring, at=NOW)
    people = ["ben", "fay", "gus"]
    for username in people[1:]:
        make_member(collection=world.collection, username=username, role="annotator")
    autumn = make_campaign(world=world, overlap=3, name="Autumn", people=people)
    label_all(autumn, ben=same, gus=same, fay=lambda place: 2 if place < 30 else None)
    for campaign in (spring, autumn):
        refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    return world, spring, autumn


@pytest.fixture
def campaigns(built):
    return deepcopy(built[1:])


def test_a_lists_report_has_everybody_once_with_what_each_campaign_says(client, world, campaigns):
    client.force_login(world.ada)
    campaign, other = campaigns
    sent = client.get(reverse("api-list-quality", args=["books", "main"])).json()
    people = {person["username"]: person for person in sent["annotators"]}
    assert list(people) == ["ben", "cem", "gus", "fay"]
    own = {
        one.pk: client.get(reverse("api-campaign-quality", args=[one.public_id])).json()
        for one in (campaign, other)
    }
    spring, autumn = (
        {person["username"]: person for person in own[one.pk]["annotators"]}
        for one in (campaign, other)
    )
    assert people["ben"]["labels"] == spring["ben"]["labels"] + autumn["ben"]["labels"] == 80
    assert people["ben"]["compared"] == 80
    mean = (spring["ben"]["bias"] + autumn["ben"]["bias"]) / 2
    assert people["ben"]["bias"] == pytest.approx(mean)
    assert people["ben"]["agreement"]["units"] == 80
    assert people["ben"]["grades"] == [16] * 5
    # of a person in one campaign, the list says what the campaign says, to the last digit
    for one, there in (("cem", spring), ("fay", autumn)):
        same = {name: there[one][name] for name in people[one] if name in there[one]}
        del same["accuracy"]["below_median"]
        same["gold"] = {name: same["gold"][name] for name in people[one]["gold"]}
        assert {name: people[one][name] for name in same} == same
        assert people[one]["campaigns"] == [people[one]["campaigns"][0]]
    assert "gives “" in people["fay"]["campaigns"][0]["findings_in_words"][0]
    page = client.get(reverse("list-quality", args=["books", "main"])).text
    assert "In <bdi>Autumn</bdi>: gives “" in page
    assert f"{reverse('campaign-quality', args=['books', other.public_id])}#person-1" in page


def test_a_lists_report_leads_to_what_is_to_be_done_in_each_campaign(client, world, campaigns):
    client.force_login(world.ada)
    campaign, other = campaigns
    page = client.get(reverse("list-quality", args=["books", "main"])).text
    for one, name in ((campaign, "campaign-queue"), (other, "campaign-quality")):
        assert f'class="button small" href="{reverse(name, args=["books", one.public_id])}' in page
    assert "Fay (in “Autumn”)" in page


def test_a_lists_costs_are_those_of_its_campaigns(client, world):
    client.force_login(world.ada)
    sent = client.get(
        reverse("api-list-quality", args=["books", "main"]), {"per_label": "0.5"}
    ).json()
    assert sent["cost"]["labels"] == 190
    assert sent["cost"]["spent"] == 95.0
    assert sent["cost"]["labels_left"] == 10
    assert [one["cost"]["spent"] for one in sent["campaigns"]] == [55.0, 40.0]
    url = reverse("list-quality", args=["books", "main"])
    assert "95.00" in client.get(url, {"rate": "0.5", "per": "label"}).text
    table = client.get(
        reverse("list-quality-csv", args=["books", "main"]), {"rate": "0.5", "per": "label"}
    ).text
    spent = [row for row in csv.DictReader(io.StringIO(table)) if row["figure"] == "cost: spent"]
    assert [(row["of"], row["name"], float(row["value"])) for row in spent] == [
        ("campaign", "Autumn", 55.0), ("campaign", "'=Spring", 40.0), ("list", "Main", 95.0),
    ]  # fmt: skip


def test_a_lists_drift_is_said_of_the_campaign_in_which_it_was(client, world):
    client.force_login(world.ada)
    reports = {report.campaign.name: report for report in QualityReport.objects.all()}
    limits = {"limit_low": 0.1, "limit_high": 1.0, "is_outside": False}
    window = reports["Autumn"].figures["overall"]["alpha"]["ordinal"] | limits
    late = [window | {"begins": at, "ends": at + 50.0} for at in (100.0, 200.0)]
    early = [window | {"begins": at, "ends": at + 50.0} for at in (0.0, 150.0)]
    change = {"at": 150.0, "before": 0.1, "after": 0.9, "shift": 0.8, "chance": 0.001,
              "near": [{"at": 150.0, "kind": "pool", "text": "a new pool of 9 pairs"}]}  # fmt: skip
    for name, windows, drift in (("Autumn", late, change), ("=Spring", early, None)):
        reports[name].figures |= {"windows": windows, "drift": drift}
        reports[name].save()
    sent = client.get(reverse("api-list-quality", args=["books", "main"])).json()
    autumn = str(reports["Autumn"].campaign.public_id)
    spring = str(reports["=Spring"].campaign.public_id)
    assert [(row["begins"], row["campaign"]) for row in sent["figures"]["windows"]] == [
        (0.0, spring), (100.0, autumn), (150.0, spring), (200.0, autumn),
    ]  # fmt: skip
    assert [row["campaign"] for row in sent["figures"]["drifts"]] == [autumn]
    said = "Disagreement increased at one point in “Autumn” (a new pool of 9 pairs)"
    assert any(ground.startswith(said) for ground in sent["grounds"])
    page = client.get(reverse("list-quality", args=["books", "main"])).text
    assert "<bdi>Autumn</bdi>: alpha, in windows" in page
    assert "Disagreement changed most on 1 Jan 1970" in page
