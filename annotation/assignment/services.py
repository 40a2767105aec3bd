"""Saying who labels which queries of a campaign."""

from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Final

from django.db import transaction
from django.db.models import Q

from annotation.assignment.queries import list_assignable, list_segments
from annotation.models import Assignment, AssignmentRule, Campaign
from annotation.permissions import check_may_run
from annotation.seats.assigned import SCOPES, list_rules, withheld_by
from annotation.seats.services import end_leases
from judgments.audit import services as audit
from judgments.members.tags import clean_tags
from judgments.models import Membership, Query
from judgments.permissions import Access, NotFound
from touchstone.errors import DomainError

MOST_RULES: Final = 200
MOST_QUERIES: Final = 10_000  # that a rule lists


class AssignmentRefused(DomainError):
    """The rule can't be added; the message says why."""


def add_rule(
    *,
    access: Access,
    campaign: Campaign,
    scope: str,
    segment: str = "",
    queries: Iterable[str] = (),
    people: Iterable[str] = (),
    tags: Iterable[str] = (),
    at: datetime,
) -> AssignmentRule:
    """Have some queries labelled only by the people named, or by those who have all of the tags.

    queries: ids. people: user names of annotators of the campaign. Pairs that are leased to others
    are given back; their labels stay. For leads. Raises AssignmentRefused.
    """
    check_may_run(access, campaign)
    query_rows = _find_queries(campaign, scope, queries)
    segment = segment if scope == SCOPES.SEGMENT else ""
    if scope not in SCOPES.values or (scope == SCOPES.SEGMENT and not _has(campaign, segment)):
        raise AssignmentRefused("segment_unknown", "Choose a segment that queries have.")
    known = {person.username: person for person in list_assignable(campaign)}
    named = sorted(set(people))
    missing = [name for name in named if name not in known]
    if missing:
        raise AssignmentRefused(
            "no_annotator", f"{missing[0]} is not an annotator of this campaign."
        )
    try:
        wanted = clean_tags(tags)
    except ValueError as error:
        raise AssignmentRefused("tags_invalid", str(error)) from error
    if not named and not wanted:
        raise AssignmentRefused("nobody", "Choose people, or enter languages or skills.")
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if locked.assignment_rules.count() >= MOST_RULES:
            raise AssignmentRefused("too_many", f"A campaign can have at most {MOST_RULES} rules.")
        made = AssignmentRule.objects.create(
            campaign=campaign,
            scope=scope,
            segment=segment,
            tags=wanted,
            created_at=at,
            created_by=access.user,
        )
        made.people.set([known[name] for name in named])
        made.queries.set(query_rows)
        _note(campaign, is_assigned=True)
        _end_others_leases(campaign)
        audit.record_by(access, at, "campaign.assignment_added", campaign.name, after=_plain(made))
    return made


def remove_rule(*, access: Access, campaign: Campaign, rule_id: int, at: datetime) -> None:
    """Let everyone have the queries of a rule, as far as other rules do; for leads.

    Raises NotFound for a rule of another campaign.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        rule = campaign.assignment_rules.filter(pk=rule_id).first()
        if rule is None:
            raise NotFound("rule")
        audit.record_by(
            access, at, "campaign.assignment_removed", campaign.name, before=_plain(rule)
        )
        rule.delete()
        _note(campaign, is_assigned=campaign.assignment_rules.exists())


def _has(campaign: Campaign, segment: str) -> bool:
    return bool(segment) and segment in list_segments(campaign)


def _find_queries(campaign: Campaign, scope: str, queries: Iterable[str]) -> list[Query]:
    if scope != SCOPES.QUERIES:
        return []
    wanted = sorted(set(queries))
    if not wanted or len(wanted) > MOST_QUERIES:
        raise AssignmentRefused("queries_invalid", f"Enter 1 to {MOST_QUERIES:,} query ids.")
    found_qs = Query.objects.filter(collection=campaign.list.collection_id)
    result = {
        query.qid: query
        for start in range(0, len(wanted), 500)
        for query in found_qs.filter(qid__in=wanted[start : start + 500])
    }
    missing = [qid for qid in wanted if qid not in result]
    if missing:
        raise AssignmentRefused("query_unknown", f"There is no query {missing[0]}.")
    return list(result.values())


def _note(campaign: Campaign, *, is_assigned: bool) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(is_assigned=is_assigned)
    campaign.is_assigned = is_assigned


def _end_others_leases(campaign: Campaign) -> None:
    """Give back what people hold of queries that are not for them any more."""
    held_qs = Assignment.objects.filter(pair__campaign=campaign, state=Assignment.State.LEASED)
    holders = held_qs.order_by().values_list("annotator", flat=True).distinct()
    members_qs = Membership.objects.filter(collection=campaign.list.collection_id)
    tags = dict(members_qs.filter(user__in=holders).values_list("user", "tags"))
    rules = list_rules(campaign)
    kept = {person: withheld_by(rules, person, tags.get(person, ())) for person in holders}
    lost = [Q(one.find("pair__query"), annotator=pk) for pk, one in kept.items() if one and pk]
    if lost:
        purposes = (Assignment.Purpose.TRAINING,)
        end_leases(held_qs.filter(reduce(or_, lost)).exclude(purpose__in=purposes))


def _plain(rule: AssignmentRule) -> dict[str, object]:
    return {
        "scope": rule.scope,
        "segment": rule.segment,
        "queries": rule.queries.count(),
        "people": sorted(rule.people.values_list("username", flat=True)),
        "tags": rule.tags,
    }
