"""The leaderboard over REST: values, their errors, how much is judged, and of which version."""

import math

import pytest
from django.core.cache import cache

from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.collections.services import load_queries
from tests.api.callers import MAIN, by_token, is_problem, post_json
from tests.builders import NOW, commit
from tests.evaluation.builders import make_run
from touchstone.files.collections import QueryRecord
from touchstone.measures.asking import ask
from touchstone.measures.families import FAMILIES
from touchstone.measures.parameters import PARAMETERS
from touchstone.measures.presets import PRESETS

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
    assert essence(good["RR@10"]) == {"mean": 1.0, "standard_error": 0.0, "n": 2, "judged": 0.75}
    # 1/2 and 0 (it has nothing for q2): the standard deviation is 0.3536, over the root of 2
    assert essence(bad["RR@10"]) == {"mean": 0.25, "standard_error": 0.25, "n": 2, "judged": 0.5}
    assert essence(good["Judged@10"]) == {
        "mean": 0.75,
        "standard_error": 0.25,
        "n": 2,
        "judged": None,
    }


def essence(value):
    """A value without its interval and differences."""
    return {key: value[key] for key in ("mean", "standard_error", "n", "judged")}


def test_a_value_has_its_interval_and_on_request_its_difference_and_change(world):
    good, bad = board("measures=RR@10&baseline=good/r1&since=1")["runs"]
    value = bad["values"]["RR@10"]
    # t with one degree of freedom is 12.706 at 97.5 %
    assert (value["low"], value["high"]) == pytest.approx((0.25 - 3.17655, 0.25 + 3.17655))
    assert (value["difference"], value["change"]) == (-0.75, 0.0)
    assert good["values"]["RR@10"]["difference"] is None
    assert board("measures=RR@10&tag=dense")["runs"] == []


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
    make_run(collection=world.collection, rankings={"q1": ["d2"]}, ranker="fresh")
    body = board("measures=RR@10")
    assert body["computing"] is True
    last = body["runs"][-1]
    assert (last["ranker"], last["version"], last["values"]) == ("fresh", None, {})


def test_a_segment_has_its_own_means(world):
    body = board("measures=RR@10&segment=head")
    assert body["segment"] == "head"
    bad = body["runs"][1]["values"]["RR@10"]
    assert essence(bad) == {"mean": 0.5, "standard_error": None, "n": 1, "judged": 0.5}


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


def test_a_tools_definition_is_asked_for_by_name_and_says_where_it_cannot_be_met(world):
    body = board("measures=lightgbm:nDCG@10,nDCG@10")
    tool, plain = body["measures"]
    assert (tool["name"], tool["preset"], plain["preset"]) == ("lightgbm:nDCG@10", "lightgbm", "")
    assert tool["definition"].startswith("nDCG(gain='exp2'")
    assert "rejects negative grades" in tool["caveat"]
    assert plain["caveat"] == ""
    # the document that `bad` lacks is not in its ideal: LightGBM calls that perfect but for rank 2
    values = {row["ranker"]: row["values"]["lightgbm:nDCG@10"] for row in body["runs"]}
    assert essence(values["good"]) == {"mean": 1.0, "standard_error": 0.0, "n": 2, "judged": 0.75}
    assert (values["bad"]["n"], values["bad"]["mean"]) == (1, pytest.approx(1 / math.log2(3)))


def test_every_family_and_preset_can_be_looked_up(world):
    families = by_token("ben").get("/api/v1/measures").json()
    assert {own["name"] for own in families} == set(FAMILIES)
    (average,) = (own for own in families if own["name"] == "AP")
    assert average["example"] == "AP@10"
    assert average["edges"]["no_relevant"] == FAMILIES["AP"].edges.no_relevant
    for own in families:
        named = [one["name"] for one in own["parameters"]]
        assert named == [p for p in PARAMETERS if p in FAMILIES[own["name"]].parameters]
    parameters = {own["name"]: own for own in average["parameters"]}
    assert parameters["denominator"]["usual"] == "relevant"
    assert parameters["average"]["words"] == ["macro", "weighted", "segments"]
    presets = {own["name"]: own for own in by_token("ben").get("/api/v1/presets").json()}
    assert set(presets) == set(PRESETS)
    for name in ("tf_ranking", "ranx_ndcg", "yahoo_ltr"):
        assert not presets[name]["is_exact"]
        assert presets[name]["caveat"] == PRESETS[name].caveat
    assert presets["trec_eval"]["is_exact"]
    for own in presets.values():
        for one in own["definitions"]:
            assert ask(one["name"]).measure.name == one["definition"]


def test_each_segment_has_its_own_means(world):
    records = [
        QueryRecord(query_id=qid, text="text", segment=segment, line=1)
        for qid, segment in (("q1", "head"), ("q2", "tail"))
    ]
    load_queries(collection=world.collection, records=records, by=None, at=NOW)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    response = by_token("dora").get(f"{BOARD}/segments?measure=RR@10")
    assert response.status_code == 200, response.content
    body = response.json()
    assert body["measure"]["name"] == "RR@10"
    assert body["segments"] == [{"name": "head", "queries": 1}, {"name": "tail", "queries": 1}]
    good, bad = body["runs"]
    assert (good["ranker"], bad["ranker"]) == ("good", "bad")
    assert good["segments"]["head"] == {"mean": 1.0, "standard_error": None, "n": 1}
    assert [bad["segments"][name]["mean"] for name in ("head", "tail")] == [0.5, 0.0]
    assert (bad["every"]["mean"], bad["of_segments"]["mean"]) == (0.25, 0.25)
    assert by_token("dora").get(f"{BOARD}/segments?measure=RR@5,P@5").status_code == 422
    assert by_token("eve").get(f"{BOARD}/segments").status_code == 404
