"""The leaderboard over REST: values, their errors, how much is judged, and of which version."""

import math

import pytest
from django.core.cache import cache

from evaluation.services.refreshing import refresh_evaluations
from tests.api.callers import MAIN, by_token, is_problem, post_json
from tests.builders import NOW, commit
from tests.evaluation.builders import make_run

BOARD = f"{MAIN}leaderboard"


@pytest.fixture(autouse=True)
def judged(world) -> None:
    """q1 has d1 worth 3, q2 has d2 worth 1; `good` finds both first, `bad` finds one, second."""
    cache.clear()
    (q1, q2, _), (d1, d2, *_) = world.queries, world.documents
    good = {"q1": ["d1", "d3"], "q2": ["d2"]}
    make_run(collection=world.collection, rankings=good, ranker="good", name="r1")
    make_run(collection=world.collection, rankings={"q1": ["d3", "d1"]}, ranker="bad", name="r1")
    commit(judgment_list=world.judgments, grades={(q1, d1): 3, (q2, d2): 1})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)


def board(query: str = "", username: str = "dora") -> dict:
    response = by_token(username).get(f"{BOARD}?{query}")
    assert response.status_code == 200, response.content
    return response.json()


def test_each_run_has_its_values_with_their_errors_best_first(world):
    body = board("measures=RR@10 Judged@10")
    assert (body["version"], body["is_head"], body["computing"]) == (1, True, False)
    assert [(row["ranker"], row["run"], row["version"]) for row in body["runs"]] == [
        ("good", "r1", 1),
        ("bad", "r1", 1),
    ]
    good, bad = (row["values"] for row in body["runs"])
    assert good["RR@10"] == {"mean": 1.0, "standard_error": 0.0, "n": 2, "judged": 0.75}
    # 1/2 and 0 (it has nothing for q2): the standard deviation is 0.3536, over the root of 2
    assert bad["RR@10"] == {"mean": 0.25, "standard_error": 0.25, "n": 2, "judged": 0.25}
    assert good["Judged@10"] == {"mean": 0.75, "standard_error": 0.25, "n": 2, "judged": None}


def test_how_much_is_judged_stands_beside_each_value(world):
    body = board("measures=nDCG@1 nDCG@5")
    assert [one["name"] for one in body["measures"]] == ["nDCG@1", "nDCG@5"]
    assert all(one["description"] for one in body["measures"])
    assert [own["judged"] for own in body["runs"][0]["values"].values()] == [1.0, 0.75]
    ideal = 3.0
    assert body["runs"][1]["values"]["nDCG@5"]["mean"] == pytest.approx(
        (3 / math.log2(3)) / ideal / 2
    )


def test_without_measures_the_list_says_which(world):
    body = board()
    names = [one["name"] for one in body["measures"]]
    assert names[0] == "nDCG@10"
    assert list(body["runs"][0]["values"]) == names


@pytest.mark.parametrize("names", ["RR@10,P@5", "RR@10 P@5", "RR@10,+P@5", "%20RR@10%0AP@5"])
def test_measures_are_apart_by_blanks_or_commas(world, names):
    assert [one["name"] for one in board(f"measures={names}")["measures"]][:2] == ["RR@10", "P@5"]


def test_an_old_version_is_shown_as_it_was(world):
    before = board("measures=RR@10")
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[2]): 4})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    now = board("measures=RR@10")
    assert now["version"] == 2
    assert now["runs"][1]["values"]["RR@10"]["mean"] == 0.5
    old = board("measures=RR@10&version=1")
    assert (old["version"], old["is_head"]) == (1, False)
    assert old["runs"] == before["runs"]


def test_a_version_goes_by_the_name_of_its_release(world):
    made = post_json(by_token("ada"), f"{MAIN}releases/", {"name": "spring"})
    assert made.status_code == 201
    body = board("version=spring&measures=RR@10")
    assert (body["version"], body["releases"]) == (1, ["spring"])


def test_values_of_an_older_version_say_so_while_the_new_ones_are_computed(world):
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[2]): 4})
    body = board("measures=RR@10")
    assert (body["version"], body["computing"]) == (2, True)
    assert {(row["version"], row["computing"]) for row in body["runs"]} == {(1, True)}


def test_a_new_run_is_listed_before_it_has_values(world):
    make_run(collection=world.collection, rankings={"q1": ["d2"]}, ranker="new")
    body = board("measures=RR@10")
    assert body["computing"] is True
    last = body["runs"][-1]
    assert (last["ranker"], last["version"], last["values"]) == ("new", None, {})


def test_a_segment_has_its_own_means(world):
    body = board("measures=RR@10&segment=head")
    assert body["segment"] == "head"
    bad = body["runs"][1]["values"]["RR@10"]
    assert bad == {"mean": 0.5, "standard_error": None, "n": 1, "judged": 0.5}


def test_a_list_without_a_version_has_no_values(world):
    post_json(by_token("ada"), f"{MAIN.replace('main/', '')}", {"slug": "empty"})
    body = by_token("dora").get(BOARD.replace("main", "empty")).json()
    assert (body["version"], body["is_head"], body["releases"]) == (None, True, [])
    assert [row["values"] for row in body["runs"]] == [{}, {}]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("measures=nonsense", 422, "bad_measure"),
        ("measures=nDCG@0", 422, "bad_measure"),
        ("measures=nDCG@-1", 422, "bad_measure"),
        ("measures=" + "9" * 1900, 422, "bad_measure"),
        ("measures=nDCG@" + "9" * 1900, 422, "bad_measure"),
        ("measures=" + "(" * 1900, 422, "bad_measure"),
        ("measures=P(rel=1e999)@5", 422, "bad_measure"),
        ("measures=P(rel=nan)@5", 422, "bad_measure"),
        ("measures=nDCG(gain='" + "x" * 1000 + "')@5", 422, "bad_measure"),
        ("measures=__import__('os')", 422, "bad_measure"),
        ("measures=" + "+".join(f"P@{n}" for n in range(1, 60)), 422, "bad_measure"),
        ("measures=" + "x" * 2001, 400, "invalid"),
        ("segment=nowhere", 422, "no_segment"),
        ("segment=%00", 400, "parse_error"),
        ("version=7", 404, "not_found"),
        ("version=0", 404, "not_found"),
        ("version=nowhere", 404, "not_found"),
        ("version=a%2Fb", 400, "invalid"),
        ("version=", 400, "invalid"),
        ("version=99999999999999999999", 404, "not_found"),
        ("sort=name", 400, "invalid"),
        ("measure=nDCG@10", 400, "invalid"),
    ],
    ids=range(22),
)
def test_what_can_not_be_asked_for_is_refused(world, query, status, code):
    is_problem(by_token("dora").get(f"{BOARD}?{query}"), status, code)


def test_a_cutoff_beyond_every_ranking_is_just_deep(world):
    body = board("measures=P@1000 nDCG@100000")
    assert body["runs"][0]["values"]["nDCG@100000"]["mean"] == 1.0


def test_annotators_and_strangers_see_no_leaderboard(world):
    for username in ("ben", "cem", "eve"):
        is_problem(by_token(username).get(BOARD), 404, "not_found")
    world.dora.memberships.update(is_annotating=True)
    is_problem(by_token("dora").get(BOARD), 404, "not_found")
    assert by_token("ada").get(BOARD).status_code == 200
