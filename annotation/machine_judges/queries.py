"""Reading machine judges, for leads and admins."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Max, QuerySet

from annotation.machine_judges.configuration import Configuration
from annotation.models import GuidelineRevision, JudgeRevision, MachineJudge
from judgments.permissions import Access, NotFound, check_may_see_people


@dataclass(frozen=True)
class JudgesPage:
    """The machine judges of a collection. is_off: the server makes no requests at all."""

    rows: QuerySet[Any]
    has_guideline: bool
    is_off: bool


@dataclass(frozen=True)
class JudgePage:
    """A machine judge. revision: the one that is shown; newest: the number of the last.

    secret_for: the server that the stored secret is for; "" without one.
    """

    judge: MachineJudge
    revision: JudgeRevision
    configuration: Configuration
    newest: int
    secret_for: str
    may_change: bool
    is_off: bool

    @property
    def is_newest(self) -> bool:
        return self.revision.number == self.newest

    @property
    def numbers(self) -> range:
        """Of all revisions, the newest first."""
        return range(self.newest, 0, -1)

    @property
    def has_prices(self) -> bool:
        return bool(self.configuration.prompt_price or self.configuration.completion_price)


def get_judges_page(*, access: Access) -> JudgesPage:
    """The collection's machine judges by name, with their newest revision's number and time."""
    check_may_see_people(access)
    own_qs = MachineJudge.objects.filter(collection=access.collection).annotate(
        newest=Max("revisions__number"), revised_at=Max("revisions__created_at")
    )
    return JudgesPage(
        rows=own_qs.order_by("name", "pk"),
        has_guideline=access.collection.guidelines.exists(),
        is_off=not settings.OUTGOING,
    )


def get_judge(*, access: Access, judge_id: int) -> MachineJudge:
    """A machine judge of the collection."""
    check_may_see_people(access)
    own_qs = MachineJudge.objects.filter(collection=access.collection, pk=judge_id)
    judge = own_qs.select_related("secret").first()
    if judge is None:
        raise NotFound("machine judge")
    return judge


def get_judge_page(*, access: Access, judge_id: int, number: int | None = None) -> JudgePage:
    """A machine judge with one of its revisions, the newest unless a number is given."""
    judge = get_judge(access=access, judge_id=judge_id)
    revisions_qs = judge.revisions.select_related("guideline_revision__guideline", "created_by")
    newest = revisions_qs.order_by("-number").first()
    assert newest is not None  # a judge begins with a revision
    shown = newest if number is None else revisions_qs.filter(number=number).first()
    if shown is None:
        raise NotFound("revision")
    secret = judge.secret
    return JudgePage(
        judge=judge,
        revision=shown,
        configuration=Configuration.from_json(shown.configuration),
        newest=newest.number,
        secret_for=secret.origin if secret is not None and secret.ciphertext else "",
        may_change=access.is_lead,
        is_off=not settings.OUTGOING,
    )


def list_newest_guidelines(*, access: Access) -> list[GuidelineRevision]:
    """The newest revision of each guideline of the collection, by name."""
    check_may_see_people(access)
    newest = (
        GuidelineRevision.objects.filter(guideline__collection=access.collection)
        .order_by()
        .values_list("guideline")
        .annotate(Max("pk"))
    )
    own_qs = GuidelineRevision.objects.filter(pk__in=[pk for _, pk in newest])
    return list(own_qs.select_related("guideline").order_by("guideline__name"))
