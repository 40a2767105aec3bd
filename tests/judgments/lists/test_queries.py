"""Lists: making, releasing and reverting them."""

import hashlib

import pytest

from judgments.lists.forms import ListForm
from judgments.lists.queries import get_qrels, get_version
from judgments.lists.services import ListRefused, create_list, release_version, revert_version
from judgments.models import AuditEntry, Judgment, Release
from judgments.permissions import NotFound
from judgments.versions.queries import get_judged
from judgments.versions.services import Change
from tests.builders import NOW, commit, make_access
from touchstone.scales import Scale

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


def release(world, access, *, number=1, name="v1"):
    return release_version(
        access=access, at=NOW, judgment_list=world.judgments, number=number, name=name
    )


def revert(world, access, *, number, reason=""):
    return revert_version(
        access=access, at=NOW, judgment_list=world.judgments, number=number, reason=reason
    )


def test_a_lead_makes_a_list_on_a_scale(world, ada):
    made = create_list(
        access=ada, at=NOW, slug="web", name="Web", scale=Scale.parse("-2..4"), description="d"
    )
    made.refresh_from_db()
    assert Scale.from_json(made.scale).codes == (-2, -1, 0, 1, 2, 3, 4)
    assert (made.head, made.created_by) == (0, world.ada)
    entry = AuditEntry.objects.filter(action="list.created").latest("pk")
    assert (entry.subject, entry.actor, entry.collection) == ("web", world.ada, world.collection)


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_nobody_but_a_lead_makes_a_list_releases_or_reverts(world, username):
    access = make_access(collection=world.collection, username=username)
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    with pytest.raises(NotFound):
        create_list(access=access, at=NOW, slug="web", name="", scale=Scale.default())
    with pytest.raises(NotFound):
        release(world, access)
    with pytest.raises(NotFound):
        revert(world, access, number=0)


def test_a_slug_that_is_taken_or_malformed_is_refused(ada):
    for slug in ("main", "Main", "a b", "-a", ""):
        with pytest.raises(ListRefused):
            create_list(access=ada, at=NOW, slug=slug, name="", scale=Scale.default())


def test_a_lead_of_another_collection_can_do_nothing_to_the_list(world):
    eve = make_access(
        collection=make_world_of_eve(world),
        username="eve",
    )
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    with pytest.raises(NotFound):
        release(world, eve)
    with pytest.raises(NotFound):
        revert(world, eve, number=0)


def make_world_of_eve(world):
    return world.eve.memberships.get().collection


def test_a_release_has_the_digest_of_the_exported_qrels(world, ada):
    (q1, q2, _), (d1, d2, *_) = world.queries, world.documents
    commit(judgment_list=world.judgments, grades={(q2, d1): 0, (q1, d2): 4, (q1, d1): 3})
    made = release(world, ada, name="spring-2026")
    exported = get_qrels(judgment_list=world.judgments, number=1)
    assert exported == b"q1 0 d1 3\nq1 0 d2 4\nq2 0 d1 0\n"
    assert made.sha256 == hashlib.sha256(exported).hexdigest()
    commit(judgment_list=world.judgments, grades={(q1, d1): 0})
    assert get_version(judgment_list=world.judgments, name="spring-2026").number == 1
    assert get_qrels(judgment_list=world.judgments, number=1) == exported


@pytest.mark.parametrize("name", ["7", "head", "Spring", "a b", ""])
def test_a_release_name_that_could_be_taken_for_a_version_is_refused(world, ada, name):
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    with pytest.raises(ListRefused):
        release(world, ada, name=name)


def test_a_release_name_is_given_once(world, ada):
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    release(world, ada)
    with pytest.raises(ListRefused, match="release v1 already exists"):
        release(world, ada)
    assert Release.objects.count() == 1


def test_a_version_that_does_not_exist_is_not_found(world):
    for name in ("head", "1", "0", "99999999999999999999", "spring", "²"):
        with pytest.raises(NotFound):
            get_version(judgment_list=world.judgments, name=name)


def test_reverting_makes_a_new_version_with_the_old_grades_and_evidence(world, ada):
    q, (d1, d2, d3, *_) = world.queries[0], world.documents
    votes = {"votes": {"3": 2}}
    commit(judgment_list=world.judgments, grades=[Change(q.pk, d1.pk, 3, votes)])
    commit(judgment_list=world.judgments, grades={(q, d1): 0, (q, d2): 2})
    commit(judgment_list=world.judgments, grades={(q, d1): None, (q, d2): 1, (q, d3): 4})
    made = revert(world, ada, number=1, reason="the import was wrong")
    assert (made.number, made.source, made.author) == (4, "revert", world.ada)
    assert (made.added, made.changed, made.removed) == (1, 0, 2)
    assert get_judged(list_id=world.judgments.pk, version=4).pairs() == {(q.pk, d1.pk): 3}
    assert Judgment.objects.get(until=None).evidence == votes
    assert len(get_judged(list_id=world.judgments.pk, version=3)) == 2


def test_reverting_to_what_the_head_holds_makes_no_version(world, ada):
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    assert revert(world, ada, number=1) is None
    assert revert(world, ada, number=0).removed == 1
    with pytest.raises(NotFound):
        revert(world, ada, number=3)


@pytest.mark.parametrize("between", [" = ", ": ", " - ", "=", " – "])
def test_grades_that_are_typed_before_their_names_do_not_become_names(between):
    typed = "\n".join(f"{grade}{between}{name}" for grade, name in ((0, "no"), (1, "3 of 4")))
    assert names_of(typed) == ["no", "3 of 4"]


@pytest.mark.parametrize("typed", ["0 stars\n1 star", "0: no\n5: yes", "no\n1: yes"])
def test_names_that_do_not_all_begin_with_their_own_grade_stay_whole(typed):
    assert names_of(typed) == typed.split("\n")


def names_of(typed):
    form = ListForm({"name": "Two", "slug": "two", "scale": "0..1", "grade_names": typed})
    assert form.is_valid()
    return [grade.name for grade in form.cleaned_data["scale"].grades]
