"""The pages of rankers: what is there, what comes next, and who brought it."""

from datetime import timedelta

import pytest
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Ranker, Run
from evaluation.runs.services import withdraw_run
from judgments.models import JudgmentList, Membership
from tests.builders import NOW, World, commit, make_access, make_list, make_user, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_ranker, make_run

pytestmark = pytest.mark.django_db
NASTY = '<b>"O\'Neil" & 🙂</b>'


def two_runs(world: World) -> tuple[Run, Run]:
    """Of one ranker, both evaluated at version 1; the first one is Dora's, the other Ada's."""
    first = make_run(collection=world.collection, rankings={"q1": ["d2", "d1"]}, name="early")
    second = make_run(collection=world.collection, rankings={"q1": ["d1"]}, name="late")
    Run.objects.filter(pk=first.pk).update(created_by=world.dora)
    Run.objects.filter(pk=second.pk).update(created_by=world.ada)
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return first, second


def get(world: World, name: str, *arguments: object, user: str = "dora", query: str = ""):
    url = reverse(name, args=["books", *arguments])
    return signed_in(getattr(world, user)).get(url + query)


def test_an_empty_list_says_what_a_ranker_and_a_run_are_and_what_to_do(world):
    page = get(world, "rankers")
    assert "A ranker is a system that orders documents" in text_of(page)
    assert "A run is one file of what it returned" in text_of(page)
    assert reverse("ranker-create", args=["books"]) in links_of(page)


def test_an_admin_reads_but_is_not_asked_to_upload(world):
    root = signed_in(make_user(username="root", is_superuser=True))
    page = root.get(reverse("rankers", args=["books"]))
    assert "Researchers and leads of this collection" in text_of(page)
    assert reverse("ranker-create", args=["books"]) not in links_of(page)


def test_each_ranker_shows_its_newest_run_and_counts_those_that_are_not_withdrawn(world):
    _, second = two_runs(world)
    make_ranker(collection=world.collection, slug="empty")
    third = make_run(collection=world.collection, rankings={"q1": ["d3"]}, name="third")
    withdraw_run(access=make_access(collection=world.collection), run=third, at=NOW)
    page = get(world, "rankers")
    rows = text_of(page)
    assert "bm25 late 2" in rows
    assert "third" not in rows
    assert reverse("run", args=["books", second.public_id]) in links_of(page)
    assert f"{reverse('run-upload', args=['books'])}?ranker=empty" in links_of(page)


def test_rankers_are_sorted_by_links_in_the_header(world):
    two_runs(world)  # of bm25
    make_ranker(collection=world.collection, slug="aaa")
    make_run(collection=world.collection, rankings={"q1": ["d3"]}, name="last", ranker="zzz")

    def slugs(sort: str) -> list[str]:
        return [row.slug for row in get(world, "rankers", query=sort).context["page"].rows]

    assert slugs("") == slugs("?sort=name") == slugs("?sort=secret") == ["aaa", "bm25", "zzz"]
    assert slugs("?sort=-name") == ["zzz", "bm25", "aaa"]
    assert slugs("?sort=-runs") == ["bm25", "zzz", "aaa"]
    assert slugs("?sort=-uploaded") == ["zzz", "bm25", "aaa"]
    assert slugs("?sort=uploaded") == ["bm25", "zzz", "aaa"]  # without a run: last, either way
    html = get(world, "rankers", query="?sort=-runs").content.decode()
    assert '<th scope="col" class="num" aria-sort="descending"><a href="?sort=runs">Runs' in html


def test_a_ranker_is_registered_and_its_first_run_comes_next(world):
    dora = signed_in(world.dora)
    url = reverse("ranker-create", args=["books"])
    data = {"name": NASTY, "slug": "neil", "description": "BM25, but kinder"}
    answer = dora.post(url, data, follow=True)
    assert answer.redirect_chain[-1][0].endswith("/runs/upload?ranker=neil")
    assert '<option value="neil" selected>' in answer.content.decode()
    assert Ranker.objects.get(slug="neil").created_by == world.dora


def test_a_short_name_that_is_taken_is_refused_and_what_was_typed_stays(world):
    make_ranker(collection=world.collection)
    answer = signed_in(world.dora).post(
        reverse("ranker-create", args=["books"]),
        {"name": "Mine", "slug": "bm25", "description": "my words"},
    )
    assert "The ranker bm25 already exists." in text_of(answer)
    assert 'value="Mine"' in answer.content.decode()
    assert "my words" in answer.content.decode()


def test_a_ranker_shows_its_runs_values_at_the_head_the_newest_first(world):
    first, _ = two_runs(world)
    page = get(world, "ranker", "bm25")
    text = text_of(page)
    assert [row.name for row in page.context["page"].rows] == ["late", "early"]
    assert "0.6309" in text
    assert "1.0000" in text
    there = reverse("run", args=["books", first.public_id])
    assert f"{there}?list=main&version=1&measure=nDCG%4010" in links_of(page)
    assert f"{there}?list=main&version=1&measure=Judged%4010" in links_of(page)


def test_what_stands_behind_a_mean_is_the_same_on_every_page(world):
    run = make_run(collection=world.collection, rankings={"q1": ["d2", "d1"], "q2": ["d1"]})
    grades = {(query, world.documents[0]): 3 for query in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    pages = [get(world, "ranker", "bm25"), get(world, "run", run.public_id)]
    pages.append(get(world, "leaderboard", "main"))
    for page in pages:
        assert "0.5436 ± 1.2562" in text_of(page)


def test_a_value_of_an_older_version_says_that_the_newer_is_being_computed(world):
    two_runs(world)
    assert "computing" not in text_of(get(world, "ranker", "bm25"))
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    page = get(world, "ranker", "bm25")
    assert "computing" in text_of(page)
    assert "/versions/1" in "".join(links_of(page))


def test_a_withdrawn_run_is_marked_and_can_not_be_withdrawn_again(world):
    first, _ = two_runs(world)
    dora = signed_in(world.dora)
    url = reverse("run-withdraw", args=["books", first.public_id])
    assert f'action="{url}"' in get(world, "ranker", "bm25").content.decode()
    assert "early withdrawn." in text_of(dora.post(url, follow=True))
    page = get(world, "ranker", "bm25")
    assert f'action="{url}"' not in page.content.decode()
    assert "early withdrawn" in text_of(page)
    assert "already withdrawn" in text_of(dora.post(url, follow=True))


def test_somebody_elses_run_is_not_for_a_researcher_to_withdraw(world):
    _, second = two_runs(world)
    url = reverse("run-withdraw", args=["books", second.public_id])
    assert f'action="{url}"' not in get(world, "ranker", "bm25").content.decode()
    answer = signed_in(world.dora).post(url, follow=True)
    assert "Only its uploader or a lead" in text_of(answer)
    second.refresh_from_db()
    assert second.withdrawn_at is None


def test_a_ranker_can_be_seen_on_another_list(world):
    two_runs(world)
    strict = make_list(collection=world.collection, slug="strict", name="Strict")
    commit(judgment_list=strict, grades={(world.queries[0], world.documents[1]): 1})
    refresh_evaluations(list_id=strict.pk, at=NOW)
    page = get(world, "ranker", "bm25", query="?list=strict")
    assert "?list=strict&version=1&measure=nDCG%4010" in "".join(links_of(page))
    assert get(world, "ranker", "bm25", query="?list=nope").status_code == 404


def test_without_a_list_a_ranker_still_shows_its_runs(world):
    two_runs(world)
    world = make_world(slug="films")
    JudgmentList.objects.filter(collection=world.collection).delete()
    make_run(collection=world.collection, rankings={"q1": ["d1"]}, name="alone")
    page = signed_in(world.dora).get(reverse("ranker", args=["films", "bm25"]))
    assert "There is no judgment list yet." in text_of(page)
    assert "alone" in text_of(page)


def test_names_are_shown_as_they_are_and_never_as_markup(world):
    ranker = make_ranker(collection=world.collection)
    Ranker.objects.filter(pk=ranker.pk).update(name=NASTY, description=NASTY)
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]}, name=NASTY)
    for page in (
        get(world, "rankers"),
        get(world, "ranker", "bm25"),
        get(world, "run", str(run.public_id)),
        get(world, "run-upload"),
    ):
        assert page.status_code == 200
        assert "<b>" not in page.content.decode()
        assert "🙂" in page.content.decode()


def test_a_researcher_sees_no_annotators_name_a_lead_does(world):
    first, _ = two_runs(world)
    Run.objects.filter(pk=first.pk).update(created_by=world.ben, name="by-ben")
    Ranker.objects.update(created_by=world.ben)
    run = str(first.public_id)
    for name, arguments in (("rankers", []), ("ranker", ["bm25"]), ("run", [run])):
        assert "Ben" not in text_of(get(world, name, *arguments)), name
    assert "Ben" in text_of(get(world, "ranker", "bm25", user="ada"))
    pseudonym = Membership.objects.get(user=world.ben).pseudonym
    assert pseudonym in text_of(get(world, "ranker", "bm25"))


def test_whoever_annotates_in_an_open_campaign_finds_no_rankers(world):
    first, _ = two_runs(world)
    Membership.objects.filter(user=world.dora).update(is_annotating=True)
    run = str(first.public_id)
    for name, arguments in (
        ("rankers", []),
        ("ranker-create", []),
        ("ranker", ["bm25"]),
        ("run-upload", []),
        ("run", [run]),
        ("run-query", [run, "q1"]),
    ):
        assert get(world, name, *arguments).status_code == 404, name


def test_more_runs_ask_no_more_of_the_database(world, django_assert_max_num_queries):
    two_runs(world)
    for number in range(30):
        make_run(
            collection=world.collection,
            rankings={"q1": ["d1", "d2"], "q2": [f"d{1 + number % 5}"]},
            ranker=f"r{number}",
        )
        make_run(
            collection=world.collection,
            text=f"q1 Q0 d1 1 {number + 2} x\n",
            name=f"more {number}",
        )
    refresh_evaluations(list_id=world.judgments.pk, at=NOW + timedelta(seconds=1))
    dora = signed_in(world.dora)
    for name, arguments in (("rankers", []), ("ranker", ["bm25"])):
        with django_assert_max_num_queries(18):
            assert dora.get(reverse(name, args=["books", *arguments])).status_code == 200
