"""Which queries of a campaign a person may label, by its assignment rules.

They are read when seats are taken, never for a label.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import AssignmentRule, Campaign
from judgments.models import Membership, User

SCOPES = AssignmentRule.Scope


@dataclass(frozen=True)
class Rule:
    """A rule as it is asked: who meets it. people: user ids."""

    pk: int
    scope: str
    segment: str
    people: frozenset[int]
    tags: frozenset[str]

    def is_met(self, user_id: int, tags: Collection[str]) -> bool:
        """Whether a person is named, or has all of the tags."""
        return user_id in self.people or (bool(self.tags) and self.tags.issubset(tags))


def list_rules(campaign: Campaign) -> list[Rule]:
    """The rules of a campaign."""
    if not campaign.is_assigned:
        return []
    rules_qs = AssignmentRule.objects.filter(campaign=campaign).order_by("pk")
    people: dict[int, set[int]] = {}
    named_qs = AssignmentRule.people.through.objects.filter(assignmentrule__campaign=campaign)
    for rule, user in named_qs.values_list("assignmentrule", "user"):
        people.setdefault(rule, set()).add(user)
    rows = rules_qs.values_list("pk", "scope", "segment", "tags")
    return [
        Rule(pk, scope, segment, frozenset(people.get(pk, ())), frozenset(tags))
        for pk, scope, segment, tags in rows
    ]


@dataclass(frozen=True)
class Withheld:
    """Queries that a person does not get: all, those of rules that list them, and of segments."""

    all: bool
    rules: frozenset[int]
    segments: frozenset[str]

    def find(self, of: str) -> Q:
        """What finds them. of: the path to the query from what is filtered."""
        if self.all:
            return Q(**{f"{of}__isnull": False})
        listed_qs = AssignmentRule.queries.through.objects.filter(assignmentrule__in=self.rules)
        listed = Q(**{f"{of}__in": listed_qs.values("query")})
        return listed | Q(**{f"{of}__segment__in": self.segments})


def withheld_from(campaign: Campaign, viewer: User) -> Withheld | None:
    """The queries of a campaign that a person does not get; None where they get all."""
    rules = list_rules(campaign)
    if not rules:
        return None
    members_qs = Membership.objects.filter(user=viewer, collection__lists=campaign.list_id)
    tags: list[str] = members_qs.values_list("tags", flat=True).first() or []
    return withheld_by(rules, viewer.pk, tags)


def withheld_by(rules: Iterable[Rule], user_id: int, tags: Collection[str]) -> Withheld | None:
    """As `withheld_from`, of rules and tags that were read already."""
    unmet = [rule for rule in rules if not rule.is_met(user_id, tags)]
    if not unmet:
        return None
    return Withheld(
        all=any(rule.scope == SCOPES.ALL for rule in unmet),
        rules=frozenset(rule.pk for rule in unmet if rule.scope == SCOPES.QUERIES),
        segments=frozenset(rule.segment for rule in unmet if rule.scope == SCOPES.SEGMENT),
    )
