"""Who is behind a version of a list: the people whose labels its grades follow from."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.db.models import Count

from annotation.models import Label
from judgments.lists.queries import get_list, get_version
from judgments.models import Judgment, Membership
from judgments.permissions import Access, check_may_see_people, may_see_people

# Databases bound how many values a query may carry.
AT_ONCE = 10_000


@dataclass(frozen=True)
class PersonBehind:
    """One person, and how many labels of theirs the version's new grades follow from."""

    name: str
    labels: int


def list_people_behind(*, access: Access, list_slug: str, number: int) -> list[PersonBehind]:
    """The annotators of the labels behind what a version added or changed, the busiest first.

    Only for leads and admins. The labels are those that each judgment names as its evidence.
    """
    check_may_see_people(access)
    judgment_list = get_list(access=access, slug=list_slug)
    version = get_version(judgment_list=judgment_list, name=str(number))
    rows = Judgment.objects.filter(list=judgment_list, since=version.number).order_by("pk")
    named = rows.values_list("evidence__labels", flat=True)
    counts = _count_by_annotator([label for labels in named for label in labels or ()])
    names = names_of(access=access, user_ids=counts)
    result = [PersonBehind(names[pk], count) for pk, count in counts.items()]
    return sorted(result, key=lambda one: (-one.labels, one.name))


def names_of(*, access: Access, user_ids: Iterable[int]) -> dict[int, str]:
    """What to call these people who labelled: by name where the viewer may, else by pseudonym."""
    if may_see_people(access):
        people = get_user_model().objects.in_bulk(list(user_ids))
        return {pk: str(person) for pk, person in people.items()}
    return pseudonyms_of(access=access)


def pseudonyms_of(*, access: Access) -> dict[int, str]:
    """The pseudonym of everyone who was ever a member of the collection."""
    ever_qs = Membership.ever.filter(collection=access.collection)
    return dict(ever_qs.values_list("user", "pseudonym"))


def _count_by_annotator(label_ids: Sequence[str]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for start in range(0, len(label_ids), AT_ONCE):
        labels_qs = Label.objects.filter(pk__in=label_ids[start : start + AT_ONCE])
        grouped = labels_qs.order_by().values_list("annotator").annotate(Count("pk"))
        counts.update(dict(grouped))
    return counts
