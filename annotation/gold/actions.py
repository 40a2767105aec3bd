"""Actions on annotators by rules or leads, and undoing them.

What rules decide is in action_rules.py. Every action is a row and is in the audit log.
A lead's action takes the list's lock first, then people's places, then pairs.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils.translation import gettext_noop

from annotation.campaigns.notices import tell_paused
from annotation.campaigns.records import record_person
from annotation.consolidation.overlap import overlap_labels
from annotation.consolidation.services import commit_conclusions, conclude, lock_list
from annotation.gold.accuracy import Accuracy, accuracy
from annotation.gold.action_rules import Rule, check_consistent, due_actions
from annotation.gold.services import GoldRefused
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
from annotation.seats.services import balance_seats, end_leases, lock_pairs
from judgments.audit import services as audit
from judgments.models import JudgmentList, User
from judgments.permissions import Access, NotFound
from judgments.storage.bulk import Among
from judgments.waking import wake

# stored in English; the annotator's pages put them into the reader's language
MESSAGES: Final[Mapping[str, str]] = {
    CheckRule.Action.WARN: gettext_noop(
        "Several of your labels differ from the agreed grades. Please read the guideline again, "
        "especially the definitions of the grades you use most."
    ),
    CheckRule.Action.PAUSE: gettext_noop(
        "Your work is paused because many of your labels differ from the agreed grades. Your "
        "labels are kept. The lead of this campaign has been notified and will contact you."
    ),
}
BY_LEAD: Final = gettext_noop(
    "The lead of this campaign has paused your work and will contact you. Your labels are kept."
)
MOST_PEOPLE: Final = 100
Shown = Sequence[tuple[GoldCheck, int]]


def change_rules(
    *, access: Access, campaign: Campaign, rules: Sequence[Rule], at: datetime
) -> None:
    """The rules of a campaign from now on; for leads. An action that is not named has none.

    They are asked at once about everyone, of all that is known: a paused person gets no further
    check. Raises GoldRefused for an unknown action, or numbers that are out of bounds or clash.
    """
    check_may_run(access, campaign)
    for rule in rules:
        if rule.action not in CheckRule.Action.values:
            raise GoldRefused("action_unknown", f"Unknown action {rule.action!r}.")
        if not 1 <= rule.below_percent <= 100 or not 3 <= rule.at_least <= 20:
            raise GoldRefused(
                "rule_invalid", "A rule needs a threshold of 1 to 100 percent and 3 to 20 checks."
            )
    try:
        check_consistent(rules)
    except ValueError as error:
        raise GoldRefused("rules_clash", str(error)) from None
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
        for annotator in _lock_places(campaign):
            act(annotator=annotator, at=at)


def set_labels_aside(
    *, access: Access, campaign: Campaign, people: Sequence[User], at: datetime, reason: str = ""
) -> list[CheckAction]:
    """Let labels of these people count no longer, and have others label the pairs; for leads.

    They are paused as well while the campaign is open. In a closed campaign no seat opens: grades
    follow from the labels that are left. Returns what was done; nothing of what stands already.
    Raises GoldRefused for too many people, NotFound for someone who is not of the campaign.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        judgment_list = lock_list(campaign.list_id)
        taken = []
        for annotator in _lock_chosen(campaign, people):
            if _may_pause(annotator):
                taken.append(
                    _act_as_lead(access, annotator, CheckRule.Action.PAUSE, at=at, reason=reason)
                )
            seats = _set_aside(annotator, since=None)
            if seats:
                action = CheckRule.Action.REQUEUE
                taken.append(
                    _act_as_lead(access, annotator, action, at=at, reason=reason, seats=seats)
                )
                _conclude_if_closed(annotator.campaign, judgment_list, seats, at)
    return taken


def pause_people(
    *, access: Access, campaign: Campaign, people: Sequence[User], at: datetime, reason: str = ""
) -> list[CheckAction]:
    """Ask nothing more of these people until a lead undoes it; for leads. Their labels count.

    Returns what was done; nothing for those who are paused already, have left, or whose campaign
    is not open. Raises as `set_labels_aside` does.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        lock_list(campaign.list_id, commits=False)
        return [
            _act_as_lead(access, annotator, CheckRule.Action.PAUSE, at=at, reason=reason)
            for annotator in _lock_chosen(campaign, people)
            if _may_pause(annotator)
        ]


def list_rules(campaign: Campaign) -> list[Rule]:
    """The rules of a campaign, the mildest first."""
    result = {
        rule.action: Rule(rule.action, rule.below_percent, rule.at_least)
        for rule in CheckRule.objects.filter(campaign=campaign)
    }
    return [result[action] for action in CheckRule.Action.values if action in result]


def act(*, annotator: CampaignAnnotator, at: datetime) -> list[CheckAction]:
    """Do what the campaign's rules ask for about someone; the caller has locked their place."""
    rules = list_rules(annotator.campaign)
    if not rules or annotator.campaign.state != Campaign.State.OPEN:
        return []
    shown = _list_checks(annotator)
    since = {rule.action: _since_last(annotator, rule.action, shown) for rule in rules}
    errors = {action: [error for _, error in checks] for action, checks in since.items()}
    if CheckRule.Action.PAUSE not in errors:
        errors[CheckRule.Action.PAUSE] = []
    due = due_actions(rules, errors, is_paused=bool(annotator.paused))
    return [_take(annotator, rule, result, shown, at) for rule, result in due]


def undo_action(*, access: Access, action: CheckAction, at: datetime) -> CheckAction:
    """Undo an action; for leads. Its rule starts counting again.

    A paused person resumes; labels that were set aside count again, beside those that others
    gave meanwhile. Raises GoldRefused for what was undone already.
    """
    check_may_run(access, action.campaign)
    places_qs = CampaignAnnotator.objects.select_related("campaign__list__collection", "user")
    with transaction.atomic():
        judgment_list = lock_list(action.campaign.list_id)
        annotator = places_qs.select_for_update(no_key=True, of=("self",)).get(
            campaign=action.campaign, user=action.annotator
        )
        standing_qs = CheckAction.objects.filter(pk=action.pk, undoes=None, undone_by=None)
        if not standing_qs.exists():
            raise GoldRefused("undone", "This has already been undone.")
        if action.action == CheckRule.Action.PAUSE:
            _set_pause(annotator, "")
        elif action.action == CheckRule.Action.REQUEUE:
            _count_again(annotator.campaign, action.seats)
            _conclude_if_closed(annotator.campaign, judgment_list, action.seats, at)
        checks = [check for check, _ in _list_checks(annotator)]
        known = [check for check in (action.newest, *checks) if check is not None]
        newest = max(known, key=attrgetter("pk"), default=None)
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
    """The checks of an annotator's graded labels of gold, oldest first, with their errors."""
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
    last = taken_qs.aggregate(last=Max("newest"))["last"]
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
    if rule.action == CheckRule.Action.PAUSE:
        accuracy_of_rule = {
            "right": found.exact,
            "checks": found.checks,
            "below_percent": rule.below_percent,
        }
        tell_paused(
            annotator, action_id=taken.pk, reason=taken.message, accuracy=accuracy_of_rule, at=at
        )
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
    seats_qs = Assignment.objects.filter(Among("pk", named))
    return _move(
        annotator.campaign, seats_qs, before=Assignment.State.DONE, after=Assignment.State.ASIDE
    )


def _count_again(campaign: Campaign, seat_ids: Sequence[int]) -> None:
    seats_qs = Assignment.objects.filter(Among("pk", seat_ids))
    _move(campaign, seats_qs, before=Assignment.State.ASIDE, after=Assignment.State.DONE)


def _move(
    campaign: Campaign, seats_qs: QuerySet[Assignment], *, before: str, after: str
) -> list[int]:
    """Change the state of seats, and have their pairs concluded again; the ids of the seats."""
    wanted = set(seats_qs.order_by().values_list("pair", flat=True))
    pair_ids = lock_pairs(Pair.objects.filter(Among("pk", wanted)))
    moved = list(seats_qs.filter(state=before).order_by("pk").values_list("pk", flat=True))
    Assignment.objects.filter(Among("pk", moved)).update(state=after)
    Pair.objects.filter(Among("pk", pair_ids)).update(label_seq=F("label_seq") + 1)
    if campaign.state != Campaign.State.CLOSED:
        balance_seats(pair_ids=pair_ids, overlap=campaign.overlap)
    wake("annotation.consolidate", campaign.list_id)
    return moved


def _lock_places(campaign: Campaign) -> list[CampaignAnnotator]:
    """The places of all who annotate in the campaign, locked until the transaction ends."""
    places_qs = CampaignAnnotator.objects.select_related("campaign__list__collection", "user")
    locked_qs = places_qs.select_for_update(no_key=True, of=("self",)).order_by("pk")
    return list(locked_qs.filter(campaign=campaign, is_active=True))


def _lock_chosen(campaign: Campaign, people: Sequence[User]) -> list[CampaignAnnotator]:
    """The places of these people, also of some who have left; the caller holds the list's lock."""
    chosen = {person.pk for person in people}
    if not 1 <= len(chosen) <= MOST_PEOPLE:
        raise GoldRefused("people_count", f"Choose 1 to {MOST_PEOPLE} people.")
    places_qs = CampaignAnnotator.objects.select_related("campaign__list__collection", "user")
    locked_qs = places_qs.select_for_update(no_key=True, of=("self",)).order_by("pk")
    places = list(locked_qs.filter(campaign=campaign, user__in=chosen))
    if len(places) < len(chosen):
        raise NotFound("annotator")
    return places


def _may_pause(annotator: CampaignAnnotator) -> bool:
    is_open = annotator.campaign.state == Campaign.State.OPEN
    return is_open and annotator.is_active and not annotator.paused


def _act_as_lead(
    access: Access,
    annotator: CampaignAnnotator,
    action: str,
    *,
    at: datetime,
    reason: str,
    seats: Sequence[int] = (),
) -> CheckAction:
    if action == CheckRule.Action.PAUSE:
        _set_pause(annotator, BY_LEAD)
    shown = _list_checks(annotator)
    result = accuracy([error for _, error in shown])
    taken = CheckAction.objects.create(
        campaign=annotator.campaign,
        annotator_id=annotator.user_id,
        action=action,
        right=result.exact if result else 0,
        checks=result.checks if result else 0,
        below_percent=0,
        newest=max((check for check, _ in shown), key=attrgetter("pk"), default=None),
        seats=list(seats),
        message=BY_LEAD if action == CheckRule.Action.PAUSE else "",
        taken_at=at,
        taken_by=access.user,
    )
    _record(annotator, access.user, at, "check.acted", taken, reason=reason)
    if action == CheckRule.Action.PAUSE:
        tell_paused(annotator, action_id=taken.pk, reason=BY_LEAD, at=at)
    return taken


def _conclude_if_closed(
    campaign: Campaign, judgment_list: JudgmentList, seat_ids: Sequence[int], at: datetime
) -> None:
    """Let grades follow at once: no one consolidates a closed campaign. The list is locked."""
    if campaign.state != Campaign.State.CLOSED:
        return
    seats_qs = Assignment.objects.filter(Among("pk", seat_ids))
    pair_ids = sorted(set(seats_qs.order_by().values_list("pair", flat=True)))
    due_qs = Pair.objects.filter(Among("pk", pair_ids))
    concluded = conclude(judgment_list=judgment_list, due_qs=due_qs)
    if campaign.commit == Campaign.Commit.LIVE:
        commit_conclusions(judgment_list=judgment_list, concluded=concluded, by=None, at=at)


def _record(
    annotator: CampaignAnnotator,
    actor: User | None,
    at: datetime,
    word: str,
    done: CheckAction,
    *,
    reason: str = "",
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
        }
        | ({"reason": reason} if reason else {}),
    )
