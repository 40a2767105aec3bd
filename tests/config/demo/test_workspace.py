"""The demo workspace, built whole: what a new user meets."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.labelling.leasing import lease_next
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.models import Assignment, Campaign, Label, Pair
from annotation.permissions import get_desk
from config.demo.queries import QUERIES
from config.demo.rankers import RANKERS
from config.demo.workspace import SLUG, build_workspace, is_built
from evaluation.models import Evaluation, Run
from judgments.models import Document, JudgmentVersion, Membership, Query, User

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("demo")]


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker):
    """One workspace for all tests here: each looks, none changes what the next one sees."""
    with django_db_blocker.unblock():
        from django.db import transaction

        with transaction.atomic():
            yield build_workspace(at=timezone.now(), say=lambda text: None)
            transaction.set_rollback(True)


def test_the_workspace_has_documents_queries_runs_and_judged_pairs(built) -> None:
    assert is_built()
    assert Document.objects.filter(collection__slug=SLUG).count() == built.documents > 2000
    assert Query.objects.filter(collection__slug=SLUG).count() == len(QUERIES) >= 50
    assert Run.objects.count() == len(RANKERS) >= 5
    assert built.grades >= 300
    assert built.pairs == Pair.objects.count() > built.grades


def test_each_role_has_a_sign_in_whose_password_works(built) -> None:
    for sign_in in built.sign_ins:
        user = User.objects.get(username=sign_in.username)
        assert user.check_password(sign_in.password)
        assert Membership.objects.get(user=user).role == sign_in.role


def test_nobody_can_sign_in_as_a_reading(built) -> None:
    readings = User.objects.filter(username__endswith="-reading")
    assert readings.count() == 2
    assert not any(user.has_usable_password() for user in readings)


def test_every_judgment_comes_from_two_readings(built) -> None:
    version = JudgmentVersion.objects.get()
    complete = Pair.objects.filter(state=Pair.State.COMPLETE)
    assert version.source == JudgmentVersion.Source.LABELS
    assert version.added == complete.count() > 200
    for pair in complete[:20]:
        people = set(pair.labels.values_list("annotator__username", flat=True))
        assert people == {"first-reading", "second-reading"}


def test_every_run_is_evaluated_at_that_version(built) -> None:
    assert Evaluation.objects.filter(version__number=1).count() == len(RANKERS)


def test_the_annotator_begins_where_one_label_completes_a_pair(built) -> None:
    campaign = Campaign.objects.get()
    desk = get_desk(viewer=User.objects.get(username="annotator"), campaign_id=campaign.public_id)
    lease_next(desk=desk, count=20, at=timezone.now())
    assert list_leased_pairs(desk)
    leased = Assignment.objects.filter(annotator=desk.viewer, state=Assignment.State.LEASED)
    assert all(Label.objects.filter(pair=seat.pair).count() == 1 for seat in leased)


def test_what_is_stored_is_what_a_computation_from_scratch_gives(built) -> None:
    out = StringIO()
    call_command("verify", stdout=out)
