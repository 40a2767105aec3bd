"""The assignment rules of a campaign, and which of its queries too few people may label."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, OuterRef

from annotation.campaigns.cached_counts import get_or_count
from annotation.campaigns.queries import at_work_qs
from annotation.models import AssignmentRule, Campaign, GoldItem, Pair
from annotation.permissions import check_may_watch
from annotation.seats.assigned import SCOPES, Rule, list_rules
from judgments.models import Membership, Query, User
from judgments.permissions import Access

MOST_SHOWN: Final = 50


@dataclass(frozen=True)
class RuleRow:
    """A rule. query_ids: those that it lists. people: user names; names: how they are called."""

    id: int
    scope: str
    segment: str
    query_ids: tuple[str, ...]
    people: tuple[str, ...]
    names: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class ThinQuery:
    """A query with pairs to label that fewer people may label than each pair needs."""

    query_id: str
    query: str
    people: int


@dataclass(frozen=True)
class Coverage:
    """Queries with pairs to label, by how many annotators meet their rules.

    unserved: how many no one may label. thin: how many some may, but fewer than the labels that
    each pair needs. first: the first of both, those without anyone before the others.
    """

    unserved: int
    thin: int
    first: tuple[ThinQuery, ...]


NOTHING: Final = Coverage(0, 0, ())


@dataclass(frozen=True)
class AssignmentPage:
    """tagged: the people of the campaign with their tags, by name."""

    campaign: Campaign
    rules: tuple[RuleRow, ...]
    coverage: Coverage
    tagged: tuple[tuple[str, tuple[str, ...]], ...]


def get_assignment_page(*, access: Access, campaign: Campaign) -> AssignmentPage:
    """Who labels what in a campaign; for leads and admins."""
    check_may_watch(access, campaign)
    return AssignmentPage(
        campaign=campaign,
        rules=_list_rows(campaign),
        coverage=get_coverage(campaign),
        tagged=tuple((str(person), tuple(tags)) for person, tags in _list_people(campaign) if tags),
    )


def get_coverage(campaign: Campaign) -> Coverage:
    """Which queries too few people may label; of a large campaign as it was a moment ago."""
    if not campaign.is_assigned:
        return NOTHING
    return get_or_count(campaign, "coverage", Coverage, lambda: _count(campaign))


def list_segments(campaign: Campaign) -> list[str]:
    """The segments of the queries of the campaign's collection."""
    own_qs = Query.objects.filter(collection=campaign.list.collection_id).exclude(segment="")
    return list(own_qs.order_by("segment").values_list("segment", flat=True).distinct())


def list_assignable(campaign: Campaign) -> list[User]:
    """The people who annotate in the campaign."""
    return [person for person, _ in _list_people(campaign)]


def _list_people(campaign: Campaign) -> list[tuple[User, list[str]]]:
    active_qs = campaign.annotators.filter(is_active=True)
    members_qs = Membership.objects.filter(
        collection=campaign.list.collection_id, user__in=active_qs.values("user")
    )
    members_qs = members_qs.select_related("user").order_by("user__username")
    return [(one.user, one.tags) for one in members_qs]


def _list_rows(campaign: Campaign) -> tuple[RuleRow, ...]:
    rules_qs = AssignmentRule.objects.filter(campaign=campaign).order_by("pk")
    rows = []
    for rule in rules_qs.prefetch_related("people", "queries"):
        people = sorted(rule.people.all(), key=lambda person: person.username)
        rows.append(
            RuleRow(
                id=rule.pk,
                scope=rule.scope,
                segment=rule.segment,
                query_ids=tuple(sorted(query.qid for query in rule.queries.all())),
                people=tuple(person.username for person in people),
                names=tuple(str(person) for person in people),
                tags=tuple(rule.tags),
            )
        )
    return tuple(rows)


def _count(campaign: Campaign) -> Coverage:
    gold = GoldItem.objects.filter(pair=OuterRef("pk"), retired_at=None)
    open_qs = campaign.pairs.filter(~Exists(gold), state=Pair.State.OPEN).order_by()
    rows = open_qs.values_list("query", "query__qid", "query__text", "query__segment").distinct()
    rules = list_rules(campaign)
    listed: dict[int, set[int]] = {}
    through_qs = AssignmentRule.queries.through.objects.filter(assignmentrule__campaign=campaign)
    for rule, query in through_qs.values_list("assignmentrule", "query"):
        listed.setdefault(query, set()).add(rule)
    working = set(at_work_qs().filter(campaign=campaign).values_list("user", flat=True))
    people = [(one.pk, tags) for one, tags in _list_people(campaign) if one.pk in working]
    counted: dict[frozenset[int], int] = {}
    thin = []
    for query, qid, text, segment in rows:
        own = [rule for rule in rules if _applies(rule, segment, listed.get(query, ()))]
        key = frozenset(rule.pk for rule in own)
        if key not in counted:
            counted[key] = sum(all(rule.is_met(*one) for rule in own) for one in people)
        if own and counted[key] < campaign.overlap:
            thin.append(ThinQuery(qid, text, counted[key]))
    thin.sort(key=lambda one: (one.people, one.query_id))
    unserved = sum(not one.people for one in thin)
    return Coverage(unserved, len(thin) - unserved, tuple(thin[:MOST_SHOWN]))


def _applies(rule: Rule, segment: str, listed_by: Iterable[int]) -> bool:
    if rule.scope == SCOPES.QUERIES:
        return rule.pk in listed_by
    return rule.scope == SCOPES.ALL or rule.segment == segment
