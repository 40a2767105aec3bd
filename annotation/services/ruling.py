"""Acting on what the checks say about somebody, and taking it back.

The decision is in annotation/rules.py. Every action is a row and stands in the audit log.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from django.db import transaction
from django.db.models import F, QuerySet

from annotation.checks import Accuracy
from annotation.models import (
    Assignment,
    Campaign,
    CampaignAnnotator,
    CheckAction,
    CheckRule,
    GoldCheck,
    Pair,
)
from annotation.permissions import check_may_run
from annotation.rules import Rule, due_actions
from annotation.selectors.overlap import overlap_labels
from annotation.services.gold import GoldRefused
from annotation.services.recording import record_person
from annotation.services.seats import balance_seats, end_leases, lock_pairs
from judgments.models import User
from judgments.permissions import Access
from judgments.services import audit
from judgments.waking import wake

MESSAGES: Final[Mapping[str, str]] = {
    CheckRule.Action.WARN: "Several of your labels differ from what was agreed upon. Please read "
    "the guideline once more, above all what it says of the grades that you use most.",
    CheckRule.Action.PAUSE: "Many of your labels differ from what was agreed upon, so nothing more "
    "is asked for the moment. Your labels are kept. The lead of this campaign knows, and will "
    "talk to you.",
}
Shown = Sequence[tuple[GoldCheck, int]]


def change_rules(
    *, access: Access, campaign: Campaign, rules: Sequence[Rule], at: datetime
) -> None:
    """The rules of a campaign from now on; for leads. An action that is not named has none.

    Raises GoldRefused for an unknown action or numbers out of bounds.
    """
    check_may_run(access, campaign)
    for rule in rules:
        if rule.action not in CheckRule.Action.values:
            raise GoldRefused("action_unknown", f"{rule.action!r} is nothing that a rule does.")
        if not 1 <= rule.below_percent <= 100 or not 3 <= rule.at_least <= 20:
            raise GoldRefused("rule_invalid", "A rule needs 1 to 100 percent and 3 to 20 checks.")
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        before = [_worded(rule) for rule in list_rules(campaign)]
        CheckRule.objects.filter(campaign=campaign).delete()
        CheckRule.objects.bulk_create(
            CheckRule(
                campaign=campaign,
                action=rule.action,
                below_percent=rule.below_percent,
                at_least=rule.at_least,
            )
            for rule in rules
        )
        audit.record_by(
            access,
            at,
            "campaign.rules_changed",
            campaign.name,
            before=before,
            after=[_worded(rule) for rule in rules],
        )


def list_rules(campaign: Campaign) -> list[Rule]:
    """The rules of a campaign, the mildest first."""
    found = {
        rule.action: Rule(rule.action, rule.below_percent, rule.at_least)
        for rule in CheckRule.objects.filter(campaign=campaign)
    }
    return [found[action] for action in CheckRule.Action.values if action in found]


def act(*, annotator: CampaignAnnotator, at: datetime) -> list[CheckAction]:
    """Do what the campaign's rules ask for about somebody; the caller has locked their place."""
    rules = list_rules(annotator.campaign)
    if not rules or annotator.campaign.state != Campaign.State.OPEN:
        return []
    shown = _list_checks(annotator)
    since = {rule.action: _since_last(annotator, rule.action, shown) for rule in rules}
    errors = {action: [error for _, error in checks] for action, checks in since.items()}
    return [_take(annotator, rule, found, shown, at) for rule, found in due_actions(rules, errors)]


def undo_action(*, access: Access, action: CheckAction, at: datetime) -> CheckAction:
    """Take an action back; for leads. Its rule begins to count anew.

    A paused person goes on; labels that were set aside count again, beside those that others
    gave meanwhile. Raises GoldRefused for what was undone already.
    """
    check_may_run(access, action.campaign)
    places_qs = CampaignAnnotator.objects.select_related("campaign__list")
    with transaction.atomic():
        annotator = places_qs.select_for_update(no_key=True, of=("self",)).get(
            campaign=action.campaign, user=action.annotator
        )
        standing_qs = CheckAction.objects.filter(pk=action.pk, undoes=None, undone_by=None)
        if not standing_qs.exists():
            raise GoldRefused("undone", "This has been undone already.")
        if action.action == CheckRule.Action.PAUSE:
            _set_pause(annotator, "")
        elif action.action == CheckRule.Action.REQUEUE:
            _count_again(annotator.campaign, action.seats)
        checks = [check for check, _ in _list_checks(annotator)]
        newest = max([action.newest, *checks], key=attrgetter("pk"))
        undone = CheckAction.objects.create(
            campaign=action.campaign,
            annotator=action.annotator,
            action=action.action,
            right=action.right,
            checks=action.checks,
            below_percent=action.below_percent,
            newest=newest,
            taken_at=at,
            taken_by=access.user,
            undoes=action,
        )
        _record(annotator, access.user, at, "check.undone", undone)
    return undone


def _worded(rule: Rule) -> dict[str, Any]:
    return {
        "action": rule.action,
        "below_percent": rule.below_percent,
        "at_least": rule.at_least,
    }


def _list_checks(annotator: CampaignAnnotator) -> list[tuple[GoldCheck, int]]:
    """The checks of somebody's graded labels of gold, oldest first, with their errors."""
    checks_qs = GoldCheck.objects.select_related("label").filter(
        item__campaign=annotator.campaign_id, label__annotator=annotator.user_id
    )
    held_qs = checks_qs.filter(error__isnull=False, label__superseded_by__isnull=True)
    in_turn = held_qs.order_by("label__received_at", "label")
    return [(check, check.error) for check in in_turn if check.error is not None]


def _since_last(annotator: CampaignAnnotator, action: str, shown: Shown) -> Shown:
    """The checks after the one that was the newest when this action was last taken or undone."""
    taken_qs = CheckAction.objects.filter(
        campaign=annotator.campaign_id, annotator=annotator.user_id, action=action
    )
    last = taken_qs.order_by("-pk").values_list("newest", flat=True).first()
    return [(check, error) for check, error in shown if check.pk > (last or 0)]


def _take(
    annotator: CampaignAnnotator, rule: Rule, found: Accuracy, shown: Shown, at: datetime
) -> CheckAction:
    seats: list[int] = []
    if rule.action == CheckRule.Action.PAUSE:
        _set_pause(annotator, MESSAGES[rule.action])
    elif rule.action == CheckRule.Action.REQUEUE:
        seats = _set_aside(annotator, since=_last_good(shown))
    taken = CheckAction.objects.create(
        campaign=annotator.campaign,
        annotator_id=annotator.user_id,
        action=rule.action,
        right=found.exact,
        checks=found.checks,
        below_percent=rule.below_percent,
        newest=max((check for check, _ in shown), key=attrgetter("pk")),
        seats=seats,
        message=MESSAGES.get(rule.action, ""),
        taken_at=at,
    )
    _record(annotator, None, at, "check.acted", taken)
    return taken


def _last_good(shown: Shown) -> datetime | None:
    """When the newest label of gold came that was right."""
    return next((check.label.received_at for check, error in reversed(shown) if not error), None)


def _set_pause(annotator: CampaignAnnotator, words: str) -> None:
    annotator.paused = words
    annotator.save(update_fields=["paused"])
    if words:
        own = Assignment.objects.filter(
            pair__campaign=annotator.campaign_id, annotator=annotator.user_id
        )
        end_leases(own)


def _set_aside(annotator: CampaignAnnotator, *, since: datetime | None) -> list[int]:
    """Let labels count no longer, and others label their pairs; the ids of the seats."""
    labels_qs = overlap_labels().filter(
        pair__campaign=annotator.campaign_id, annotator=annotator.user_id
    )
    if since is not None:
        labels_qs = labels_qs.filter(received_at__gt=since)
    named = labels_qs.order_by().values_list("assignment", flat=True)
    seats_qs = Assignment.objects.filter(pk__in=list(named))
    return _move(
        annotator.campaign, seats_qs, before=Assignment.State.DONE, after=Assignment.State.ASIDE
    )


def _count_again(campaign: Campaign, seat_ids: Sequence[int]) -> None:
    seats_qs = Assignment.objects.filter(pk__in=seat_ids)
    _move(campaign, seats_qs, before=Assignment.State.ASIDE, after=Assignment.State.DONE)


def _move(
    campaign: Campaign, seats_qs: QuerySet[Assignment], *, before: str, after: str
) -> list[int]:
    """Change the state of seats, and have their pairs concluded anew; the ids of the seats."""
    wanted = set(seats_qs.order_by().values_list("pair", flat=True))
    pair_ids = lock_pairs(Pair.objects.filter(pk__in=wanted))
    moved = list(seats_qs.filter(state=before).order_by("pk").values_list("pk", flat=True))
    Assignment.objects.filter(pk__in=moved).update(state=after)
    Pair.objects.filter(pk__in=pair_ids).update(label_seq=F("label_seq") + 1)
    balance_seats(pair_ids=pair_ids, overlap=campaign.overlap)
    wake("annotation.consolidate", campaign.list_id)
    return moved


def _record(
    annotator: CampaignAnnotator, actor: User | None, at: datetime, word: str, done: CheckAction
) -> None:
    record_person(
        annotator.campaign,
        annotator.user,
        actor,
        at,
        word,
        after={
            "action": done.action,
            "right": done.right,
            "checks": done.checks,
            "below_percent": done.below_percent,
            "labels_set_aside": len(done.seats),
        },
    )
