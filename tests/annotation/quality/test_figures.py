"""Figures, verdict and advice of a made-up campaign, as pure functions."""

import json
from dataclasses import replace

import numpy as np
import pytest

from annotation.quality.assessment import (
    Situation,
    describe_change,
    pairs_wanted,
    verdict,
    worst_confusion,
)
from annotation.quality.figures import STEPS, Event, Material, Repeats, quality
from annotation.quality.profiles import Checks
from judgments.pages.words import percent
from tests.annotation.simulated_campaign import GRADES, simulate

NONE = np.array([], dtype=np.int64)
NAMES = ("Bad", "Poor", "Fair", "Good", "Perfect")


def material(simulated, **changes):
    units = np.arange(simulated.labels.shape[0])
    made = Material(
        labels=simulated.labels,
        values=tuple(float(grade) for grade in range(GRADES)),
        query_of=units % 20,
        query_names=tuple(f"q{number}" for number in range(20)),
        segment_of=units % 2,
        segment_names=("files", "dates"),
        revisions=np.where(simulated.labels.times < simulated.turned_at, 1, 2),
        checks=Checks(NONE, NONE, NONE, NONE.astype(float)),
        repeats=Repeats(NONE, NONE, NONE),
        decided=np.full(len(units), -1),
    )
    return replace(made, **changes)


def situation(simulated, **changes):
    made = Situation(
        overlap=3, is_open=True, tied=4, graded=26, labels_left=12,
        names=tuple(f"{kind} {place}" for place, kind in enumerate(simulated.people)),
        usernames=tuple(f"user-{place}" for place in range(len(simulated.people))),
        reachable=(True,) * len(simulated.people),
        grades=NAMES,
    )  # fmt: skip
    return replace(made, **changes)


@pytest.fixture(scope="module")
def planted():
    return simulate(seed=1, gold=24)


@pytest.fixture(scope="module")
def figures(planted):
    return quality(material(planted, checks=planted.checks))


def test_the_report_names_every_planted_person_and_nobody_careful(planted, figures):
    said = verdict(figures, situation(planted))
    grounds = " ".join(said.grounds)
    for words in (
        "hasty 6 takes",
        "generous 7 grades",
        "always 2 8 gives “Fair”",
        "drifting 9 changed on",
    ):
        assert words in grounds
    assert "careful" not in grounds
    assert (said.tone, said.text) == ("bad", "Not good enough to decide on.")
    about = {name: advice for advice in said.advice for name in advice.people}
    assert set(about) == {"user-6", "user-7", "user-8", "user-9"}
    assert about["user-8"].text == "Talk to always 2 8: these labels carry no information."
    assert about["user-8"].about == "8"
    assert "Train drifting 9 and generous 7 on" in about["user-7"].text
    assert about["user-7"] == about["user-9"]
    labels = [row["labels"] for row in figures["annotators"]]
    assert about["user-7"].labels == labels[7] + labels[9]


def test_what_to_do_next_concerns_the_most_labels_first(planted, figures):
    advice = verdict(figures, situation(planted, tied=200)).advice
    order = [one for one in advice if one.act in ("person", "train", "guideline", "decide")]
    assert order[0].act == "decide"
    assert [one.labels for one in order] == sorted((one.labels for one in order), reverse=True)
    assert advice[-1].act == "label"


def test_people_whose_labels_turn_the_board_come_first(planted, figures):
    harm = {"8": {"measure": "nDCG@10", "shift": 0.0312, "moved": 2, "runs": 4}}
    people = list(range(len(planted.people)))
    told = figures | {"harm": harm, "people": people}
    advice = verdict(told, situation(planted, tied=2_000)).advice
    order = [one for one in advice if one.act in ("person", "train", "guideline", "decide")]
    assert order[0].people == ("user-8",)
    assert order[1].act == "decide"
    assert order[0].harm == (
        "Without always 2 8’s labels nDCG@10 changes by up to 0.031, and 2 runs change places."
    )
    assert order[1].harm == ""


def test_who_labels_no_more_is_not_talked_to(planted, figures):
    count = len(planted.people)
    said = verdict(figures, situation(planted, reachable=(False,) * count, is_open=False))
    texts = [advice.text for advice in said.advice if advice.people]
    assert len(texts) == 2
    assert texts[0].startswith("Check the labels of ")
    assert texts[1] == "Set aside the labels of always 2 8: they carry no information."


def test_of_many_people_some_are_named_and_the_rest_is_counted(planted, figures):
    finding = figures["annotators"][8]["findings"]
    rows = [
        row | {"findings": finding, "labels": 100 + place}
        for place, row in enumerate(figures["annotators"])
    ]
    said = verdict(figures | {"annotators": rows}, situation(planted))
    assert sum("gives “Fair”" in ground for ground in said.grounds) == 5
    assert "5 more people need review, with 510 labels." in said.grounds
    (advice,) = [advice for advice in said.advice if advice.people]
    assert advice.text == (
        "Talk to drifting 9, always 2 8, generous 7 and 7 more: these labels carry no information."
    )
    assert (len(advice.people), advice.labels) == (10, 1_045)


def test_figures_are_plain_values_and_follow_from_the_labels_alone(planted, figures):
    again = quality(material(planted, checks=planted.checks))
    assert json.loads(json.dumps(figures)) == json.loads(json.dumps(again))
    steps: list[int] = []
    quality(material(planted), steps.append)
    assert steps == list(range(1, STEPS + 1))


def test_figures_are_there_for_every_part(figures):
    assert figures["overall"]["alpha"]["ordinal"]["units"] == 400
    assert [row["name"] for row in figures["revisions"]] == ["1", "2"]
    assert {row["name"] for row in figures["segments"]} == {"files", "dates"}
    values = [row["value"] for row in figures["queries"]]
    assert values == sorted(values)
    assert len(values) == 20
    assert len(figures["pairs_of_people"]) == 45
    assert sum(row["given"] for row in figures["grades"]) == figures["labels"] == 1_200
    assert sum(row["labels"] for row in figures["annotators"]) == 1_200
    assert sum(window["units"] for window in figures["windows"]) == 400


def test_every_part_says_its_level_how_many_pairs_and_an_interval(figures):
    """Per query, segment, grade, annotator, pair of annotators, revision and window of time."""
    parts = {
        "query": figures["queries"],
        "segment": figures["segments"],
        "grade": figures["grades"],
        "annotator": [row["agreement"] for row in figures["annotators"]],
        "pair of annotators": figures["pairs_of_people"],
        "revision": figures["revisions"],
        "window": figures["windows"],
    }
    levels = {"grade": "nominal", "pair of annotators": "quadratic"}
    for part, rows in parts.items():
        assert rows, part
        for row in rows:
            assert row["level"] == levels.get(part, "ordinal")
            if row["value"] is None:
                assert row["why"] in ("no_overlap", "no_variation")
            else:
                assert row["units"] >= 2
                assert row["low"] <= row["value"] <= row["high"] or part != "grade"
    # the one who always says 2 agrees with no one, the careful with each other
    kinds = [person["agreement"]["value"] for person in figures["annotators"]]
    assert kinds[8] < 0.2 < min(kinds[:6])


def test_careful_people_alone_are_good_enough_and_so_the_report_says():
    simulated = simulate(seed=5, planted=(), careful=4)
    figures = quality(material(simulated, labels=agreeing(simulated)))
    said = verdict(figures, situation(simulated, tied=0, graded=0, labels_left=0))
    text = "Good enough to decide on, by agreement alone."
    assert (said.tone, said.text) == ("good", text)
    assert {advice.act for advice in said.advice} == {"gold"}
    overall = figures["overall"]
    alpha, exact = overall["alpha"]["ordinal"], percent(overall["percent_exact"]["value"])
    assert said.grounds[0] == (
        f"Krippendorff’s alpha (ordinal) is {alpha['value']:.2f}, between {alpha['low']:.2f} and "
        f"{alpha['high']:.2f} in {percent(0.95)} of resamples, from 400 pairs with 2+ "
        "labels."
    )
    assert said.grounds[1] == (
        f"Two annotators agree exactly in {exact} of cases, and within one grade in "
        f"{percent(overall['percent_within_1']['value'])}."
    )
    # no one plants anything in a campaign that is over
    over = situation(simulated, tied=0, graded=0, labels_left=0, is_open=False)
    assert verdict(figures, over).advice == ()


def with_gold_pairs(simulated, *, right):
    """Sixty gold pairs that everyone has labelled; all say the right grade, or all another."""
    people = len(simulated.people)
    pairs = np.repeat(np.arange(60), people)
    answers = pairs % GRADES
    steps = answers if right else (answers + 1) % GRADES
    annotators = np.tile(np.arange(people), 60)
    return Checks(
        annotators,
        steps - answers,
        steps,
        60.0 * np.arange(float(len(pairs))),
        pairs,
        answers,
        answers,
    )


def agreeing(simulated):
    """Everyone says the same, but for a few."""
    labels = simulated.labels
    steps = np.where(np.arange(len(labels.steps)) % 9, simulated.truth[labels.units], labels.steps)
    return replace(labels, steps=steps)


def test_agreement_is_not_being_right_and_the_verdict_knows():
    simulated = simulate(seed=5, planted=(), careful=4)
    labels = agreeing(simulated)
    alone = quality(material(simulated, labels=labels))
    said = verdict(alone, situation(simulated))
    assert (said.tone, alone["accuracy"]["calibrated"]) == ("good", None)
    assert any("based on agreement alone" in ground for ground in said.grounds)
    assert any(ground.startswith("Model confidence: ") for ground in said.grounds)
    for right, tone in ((True, "good"), (False, "bad")):
        checks = with_gold_pairs(simulated, right=right)
        figures = quality(material(simulated, labels=labels, checks=checks))
        accuracy, said = figures["accuracy"], verdict(figures, situation(simulated))
        assert accuracy["gold"]["pairs"] == accuracy["calibrated"]["pairs"] == 60
        assert accuracy["gold"]["value"] == float(right)
        assert abs(accuracy["calibrated"]["value"] - right) < 0.1
        assert said.tone == tone
        assert not any("agreement alone" in words for words in (said.text, *said.grounds))
    # the model is as confident as ever
    assert figures["model"]["confidence"] > 0.95


def test_adjudicated_pairs_calibrate_where_there_is_no_gold():
    simulated = simulate(seed=5, planted=(), careful=4)
    decided = np.full(400, -1)
    decided[:80] = simulated.truth[:80]
    made = material(simulated, labels=agreeing(simulated), decided=decided)
    found = quality(made)["accuracy"]
    assert (found["gold"]["pairs"], found["calibrated"]["source"]) == (0, "adjudicated")
    gold = with_gold_pairs(simulated, right=True)
    assert quality(replace(made, checks=gold))["accuracy"]["calibrated"]["source"] == "gold"


def test_a_segment_that_is_worse_than_the_rest_is_named():
    simulated = simulate(seed=5, planted=(), careful=4)
    labels, rng = simulated.labels, np.random.default_rng(0)
    in_dates = labels.units % 5 == 0
    steps = np.where(
        in_dates, rng.integers(0, GRADES, len(labels.units)), simulated.truth[labels.units]
    )
    made = material(
        simulated,
        labels=replace(labels, steps=steps),
        segment_of=(np.arange(400) % 5 == 0).astype(np.int64),
    )
    said = verdict(quality(made), situation(simulated))
    assert said.tone == "warn"
    assert "; not for segment “dates” (alpha " in said.text
    assert "80 pairs with 2+ labels)" in said.text


def test_one_label_a_pair_is_not_enough_overlap():
    simulated = simulate(seed=2, overlap=1)
    figures = quality(material(simulated))
    said = verdict(figures, situation(simulated, tied=0, graded=0))
    assert said.text == "Not enough overlap to say whether these labels can be trusted."
    assert said.grounds[0] == "0 of 400 labelled pairs have 2+ labels."
    assert not any("Two annotators" in ground for ground in said.grounds)
    assert said.advice[0].act == "overlap"
    assert figures["windows"] == []


def found(units, low, high):
    return {"units": units, "low": low, "high": high}


def test_so_many_pairs_are_wanted_as_tell_whether_labels_can_be_relied_on():
    assert pairs_wanted(found(0, None, None), 30) == 30
    assert pairs_wanted(found(12, None, None), 30) == 18
    # 0.4 wide across the bound: half as wide with four times the pairs
    assert pairs_wanted(found(50, 0.5, 0.9), 30) == 150
    assert pairs_wanted(found(10, 0.5, 0.9), 30) == 30
    # clear as it is: narrow, all above, all below
    assert pairs_wanted(found(50, 0.6, 0.75), 30) == 0
    assert pairs_wanted(found(50, 0.67, 0.95), 30) == 0
    assert pairs_wanted(found(50, 0.1, 0.6), 30) == 0


def test_a_segment_with_few_pairs_of_two_labels_is_advised_on():
    simulated = simulate(seed=5, planted=(), careful=4)
    labels = simulated.labels
    in_dates = labels.units % 20 == 0
    steps = np.where(in_dates, labels.steps, simulated.truth[labels.units])
    # of the twenty pairs about dates, all but six keep a single label
    first = np.zeros(len(steps), dtype=bool)
    first[np.unique(labels.units, return_index=True)[1]] = True
    kept = ~in_dates | first | (labels.units < 120)
    cut = replace(
        labels,
        **{
            name: getattr(labels, name)[kept]
            for name in ("units", "annotators", "times", "seconds")
        },
        steps=steps[kept],
    )
    made = material(
        simulated,
        labels=cut,
        segment_of=(np.arange(400) % 20 == 0).astype(np.int64),
        revisions=np.ones(len(cut.steps), dtype=np.int64),
    )
    said = verdict(quality(made), situation(simulated))
    (advice,) = [advice for advice in said.advice if advice.act in {"overlap", "segment"}]
    assert (advice.act, advice.about) == ("segment", "dates")
    assert "for pairs of segment “dates”: only 6 have 2+ labels." in advice.text


def test_without_labels_there_is_nothing_to_judge():
    simulated = simulate(seed=2)
    nothing = replace(
        simulated.labels,
        units=NONE,
        annotators=NONE,
        steps=NONE,
        seconds=NONE.astype(float),
        times=NONE.astype(float),
    )
    figures = quality(material(simulated, labels=nothing))
    assert verdict(figures, situation(simulated)).text == "No labels yet."


def test_what_happened_near_a_change_is_named(planted):
    at = planted.turned_at
    events = (
        Event(-1e6, "pool", "a new pool of 9 pairs"),
        Event(at, "guideline", "revision 2 of the guideline"),
        Event(at + 60, "guideline", "revision 2 of the guideline"),
    )
    row = quality(material(planted, events=events))["annotators"][9]
    assert [event["text"] for event in row["drift"]["near"]] == ["revision 2 of the guideline"]


def test_alpha_with_the_others_has_a_course_whose_mean_it_is(figures):
    for row in figures["annotators"]:
        course = row["over_time"][0]
        assert course["what"] == "alpha"
        total = sum(window["mean"] * window["count"] for window in course["windows"])
        assert total / row["compared"] == pytest.approx(row["agreement"]["value"])
    change = {"at": 0.0, "before": 0.8, "after": 0.31, "near": []}
    said = "Changed on 1970-01-01: 0.80 before, 0.31 since."
    assert describe_change("alpha", change) == said


def test_gold_and_repeats_are_counted_per_person(planted):
    checks = Checks(
        np.array([0] * 10 + [8] * 5),
        np.array([0] * 8 + [1, -1] + [2] * 5),
        np.array([3] * 8 + [4, 2] + [2] * 5),
        np.arange(15.0),
    )
    repeats = Repeats(np.array([0, 0, 1]), np.array([1, 2, 3]), np.array([1, 3, 3]))
    people = quality(material(planted, checks=checks, repeats=repeats))["annotators"]
    gold = people[0]["gold"]
    assert (gold["checked"], gold["right"], gold["within_one"], gold["bias"]) == (10, 8, 10, 0.0)
    assert gold["interval"][0] < 0.8 < gold["interval"][1]
    assert gold["confusion"][3] == [0, 0, 1, 8, 1]
    assert people[8]["gold"]["confusion"][0] == [0, 0, 5, 0, 0]
    assert people[8]["gold"]["right"] == people[2]["gold"]["checked"] == 0
    assert people[2]["gold"]["interval"] is None
    assert [person["repeats"]["same"] for person in people[:3]] == [1, 1, 0]


def checks_of(person, errors):
    errors = np.array(errors)
    return Checks(
        np.full(len(errors), person),
        errors,
        np.clip(2 + errors, 0, 4),
        60.0 * np.arange(float(len(errors))),
    )


def test_where_most_lean_only_gold_says_who_does():
    simulated = simulate(seed=3, careful=2, planted=("generous",) * 4)
    alone = quality(material(simulated))["annotators"]
    # those who do not lean differ from most: that is noted, and names no one
    assert [row["findings"] for row in alone] == [[]] * 6
    assert [note["kind"] for note in alone[0]["notes"]] == ["severe"]
    gold = simulate(seed=3, careful=2, planted=("generous",) * 4, gold=24).checks
    with_gold = quality(material(simulated, checks=gold))["annotators"]
    assert [row["findings"] for row in with_gold[:2]] == [[], []]
    assert [row["notes"] for row in with_gold[:2]] == [[], []]
    accuracy = [row["accuracy"]["value"] for row in with_gold]
    assert min(accuracy[:2]) > max(accuracy[2:])


def test_a_change_on_gold_is_named_with_its_date_and_what_happened_then(planted):
    others = planted.checks
    own = checks_of(0, [0] * 40 + [1, -1, 1, -1] * 10)  # to neither side
    kept = others.annotators != 0
    checks = Checks(
        *(
            np.concatenate([getattr(own, name), getattr(others, name)[kept]])
            for name in ("annotators", "errors", "steps", "times")
        )
    )
    events = (Event(2_000.0, "guideline", "revision 2 of the guideline"),)
    figures = quality(material(planted, checks=checks, events=events))
    row = figures["annotators"][0]
    assert [finding["kind"] for finding in row["findings"]] == ["gold_drift"]
    course = next(one for one in row["over_time"] if one["what"] == "gold")
    assert abs(course["change"]["at"] - 40 * 60) <= 120
    assert len(course["windows"]) == 8
    grounds = " ".join(verdict(figures, situation(planted)).grounds)
    assert "careful 0 changed on 1970-01-01: right on gold in 100" in grounds
    assert "Around that time: revision 2 of the guideline." in describe_change(
        "gold", course["change"]
    )


def test_a_change_is_told_with_a_real_minus_and_nought_without_a_sign():
    change = {"at": 0.0, "before": -0.04, "after": -0.6, "near": []}
    assert describe_change("bias", change) == (
        "Changed on 1970-01-01: 0.0 steps before, −0.6 steps since."
    )


def test_seconds_that_change_are_dated_and_compared_as_factors(planted):
    labels = planted.labels
    slow = (labels.annotators == 1) & (labels.times < planted.turned_at)
    seconds = np.where(slow, 4 * labels.seconds, labels.seconds)
    row = quality(material(planted, labels=replace(labels, seconds=seconds)))["annotators"][1]
    change = next(one for one in row["over_time"] if one["what"] == "seconds")["change"]
    assert abs(change["at"] - planted.turned_at) < 0.1 * planted.turned_at
    assert change["before"] / change["after"] == pytest.approx(4, rel=0.3)
    assert {one["what"] for one in row["over_time"]} == {
        "alpha", "bias", "right", "grade", "seconds",
    }  # fmt: skip


def test_labels_that_are_all_of_one_moment_have_no_course(planted):
    labels = replace(planted.labels, times=np.zeros(len(planted.labels.times)))
    figures = quality(material(planted, labels=labels))
    assert (figures["windows"], figures["drift"]) == ([], None)
    assert all(row["over_time"] == [] and row["drift"] is None for row in figures["annotators"])


def test_decisions_are_compared_with_the_labels(planted):
    decided = np.full(400, -1)
    decided[:100] = planted.truth[:100]
    figures = quality(material(planted, decided=decided))
    found = figures["decided"]
    assert (found["pairs"], found["unlike"] < 30, found["outside"] <= found["unlike"]) == (
        100, True, True,
    )  # fmt: skip
    labels = planted.labels
    lowest = np.full(400, 5)
    np.minimum.at(lowest, labels.units, labels.steps)
    decided[:100] = lowest[:100] - 1
    below = quality(material(planted, decided=decided))["decided"]
    assert below["pairs"] == below["outside"] == (lowest[:100] > 0).sum()
    adjudicated = figures["accuracy"]["adjudicated"]
    assert (adjudicated["pairs"], adjudicated["value"]) == (100, 1 - found["unlike"] / 100)
    assert adjudicated["low"] < adjudicated["value"] < adjudicated["high"]
    assert "adjudicated pairs" in " ".join(verdict(figures, situation(planted)).grounds)


def test_the_worst_confusion_is_the_cell_off_the_diagonal_with_the_most_labels():
    assert worst_confusion([[9, 2], [5, 9]]) == (1, 0)
    assert worst_confusion([[9, 0], [0, 9]]) is None
