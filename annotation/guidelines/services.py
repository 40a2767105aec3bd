"""Guidelines: how to grade, in revisions that never change."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from annotation.guidelines.rules import GradeText, GuidelineRefused, checked_grades, checked_text
from annotation.models import Guideline, GuidelineRevision
from judgments.audit import services as audit
from judgments.collections.naming import unless_taken
from judgments.models import JudgmentList, User
from judgments.permissions import Access, NotFound, check_may_lead
from touchstone.scales import Scale

MAX_NAME_CHARACTERS: Final = 200


def create_guideline(
    *,
    access: Access,
    at: datetime,
    judgment_list: JudgmentList,
    name: str,
    text: str,
    grades: Sequence[Any],
) -> Guideline:
    """A guideline for the scale of a list, with its first revision; for leads.

    grades: [{"code": 0, "definition": …, "examples": [..], "counter_examples": [..]}, …].
    Raises GuidelineRefused, e.g. for a grade without a definition or a name that is taken.
    """
    _check_own(access, judgment_list.collection_id)
    name = checked_name(name)
    content = _content(text, grades, judgment_list)
    with unless_taken(GuidelineRefused(f"The guideline {name} already exists.", "name_taken")):
        guideline = Guideline.objects.create(
            collection=access.collection, name=name, created_at=at, created_by=access.user
        )
        _add_revision(guideline, 1, content, by=access.user, at=at)
        audit.record_by(access, at, "guideline.created", name)
    return guideline


def revise_guideline(
    *,
    access: Access,
    at: datetime,
    guideline: Guideline,
    judgment_list: JudgmentList,
    text: str,
    grades: Sequence[Any],
) -> GuidelineRevision:
    """The guideline's next revision, or its newest one if nothing differs; for leads.

    Labels name the revision that was shown, so those made before stay what they were.
    Raises GuidelineRefused also where a list that uses the guideline has another scale.
    """
    _check_own(access, guideline.collection_id, judgment_list.collection_id)
    content = _content(text, grades, judgment_list)
    used_on = JudgmentList.objects.filter(campaigns__guideline=guideline).distinct()
    for other in used_on.order_by("pk"):
        if not has_grades_of(content[1], other):
            raise GuidelineRefused(
                f"The list {other.name} uses this guideline with a different scale."
            )
    with transaction.atomic():
        Guideline.objects.select_for_update(no_key=True).get(pk=guideline.pk)
        newest = get_newest_revision(guideline)
        if (newest.text, newest.grades) == content:
            return newest
        revision = _add_revision(guideline, newest.number + 1, content, by=access.user, at=at)
        audit.record_by(
            access,
            at,
            "guideline.revised",
            guideline.name,
            before={"revision": newest.number},
            after={"revision": revision.number},
        )
    return revision


def get_newest_revision(guideline: Guideline) -> GuidelineRevision:
    """What is shown to annotators now."""
    newest = guideline.revisions.order_by("-number").first()
    assert newest is not None  # a guideline begins with a revision
    return newest


def has_grades_of(grades: Sequence[GradeText], judgment_list: JudgmentList) -> bool:
    """Whether these grades are those of the list's scale."""
    codes = Scale.from_json(judgment_list.scale).codes
    return tuple(grade["code"] for grade in grades) == codes


def checked_name(name: str) -> str:
    """A name without blanks around it. Raises GuidelineRefused for none, or a long one."""
    name = name.strip()
    if not name or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise GuidelineRefused(
            f"Enter a name of at most {MAX_NAME_CHARACTERS} characters.", "name_invalid"
        )
    return name


def _check_own(access: Access, *collection_ids: int) -> None:
    if any(pk != access.collection.pk for pk in collection_ids):
        raise NotFound("guideline")
    check_may_lead(access)


def _content(
    text: str, grades: Sequence[Any], judgment_list: JudgmentList
) -> tuple[str, list[GradeText]]:
    scale = Scale.from_json(judgment_list.scale)
    return checked_text(text), checked_grades(list(grades), scale)


def _add_revision(
    guideline: Guideline,
    number: int,
    content: tuple[str, list[GradeText]],
    *,
    by: User,
    at: datetime,
) -> GuidelineRevision:
    text, grades = content
    return GuidelineRevision.objects.create(
        guideline=guideline,
        number=number,
        text=text,
        grades=grades,
        created_at=at,
        created_by=by,
    )
