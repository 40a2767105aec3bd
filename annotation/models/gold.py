"""Pairs with a known answer, and how a campaign uses them."""

from django.conf import settings
from django.db import models

from annotation.models.campaigns import Campaign
from annotation.models.labels import Label
from annotation.models.pools import Pair
from judgments.models import Query


class CheckPlan(models.Model):
    """How a campaign checks the work of its annotators; one without a row checks nothing.

    gold_percent, repeat_percent: of all that an annotator is given, how much shall be gold, and
    how much shall be what they labelled before. when_used_up: what follows once someone has met
    all the gold there is for them. feedback_after: after so many checks someone reads how
    they did; 0: never. training_pairs: how many pairs with a known answer someone who is new
    labels first; 0: none. training_percent of them have to be right, in training_tries tries.
    """

    class UsedUp(models.TextChoices):
        WARN = "warn", "Continue without checks and notify the leads"
        GO_ON = "go_on", "Continue without checks"
        STOP = "stop", "Assign no more pairs and notify the leads"

    campaign = models.OneToOneField(Campaign, on_delete=models.PROTECT, related_name="check_plan")
    gold_percent = models.PositiveSmallIntegerField(default=0)
    repeat_percent = models.PositiveSmallIntegerField(default=0)
    when_used_up = models.CharField(max_length=8, choices=UsedUp.choices, default=UsedUp.WARN)
    feedback_after = models.PositiveSmallIntegerField(default=0)
    training_pairs = models.PositiveSmallIntegerField(default=0, db_default=0)
    training_percent = models.PositiveSmallIntegerField(default=70, db_default=70)
    training_tries = models.PositiveSmallIntegerField(default=2, db_default=2)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(gold_percent__lte=30, repeat_percent__lte=30),
                name="check_plan_at_most_30_percent",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    training_pairs__lte=50,
                    training_percent__gte=1,
                    training_percent__lte=100,
                    training_tries__gte=1,
                    training_tries__lte=10,
                ),
                name="check_plan_training_in_bounds",
            ),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.gold_percent} % gold"

    @property
    def is_planting(self) -> bool:
        """Whether annotators are shown gold or repeats in the place of other pairs."""
        return self.gold_percent > 0 or self.repeat_percent > 0


class GoldItem(models.Model):
    """A pair whose right answer is known: a grade from `low` to `high`.

    While it is not retired, the pair has no seats in the overlap; it stands in for other pairs of
    its query (StandIn). Another answer is another row.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="gold")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="gold")
    low = models.SmallIntegerField()
    high = models.SmallIntegerField()
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    retired_at = models.DateTimeField(null=True)
    retired_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("pair",), condition=models.Q(retired_at=None), name="gold_once_in_use"
            ),
            models.CheckConstraint(
                condition=models.Q(low__lte=models.F("high")), name="gold_range_in_order"
            ),
            models.CheckConstraint(
                condition=models.Q(retired_at=None, retired_by=None)
                | models.Q(retired_at__isnull=False, retired_by__isnull=False),
                name="gold_retired_by_somebody",
            ),
        )

    def __str__(self) -> str:
        return f"{self.pair_id}: {self.low} to {self.high}"


class StandIn(models.Model):
    """A place in someone's order of pairs at which they are shown another one; never changed.

    replaced, shown: the pair whose place and seats these are, and the one that is shown there, for
    the how many-th time (occasion, from 0). Drawn for a query when a pair of it is first leased to
    the person; but which pair a repeat shows is chosen once its place is leased (null: not yet).
    One row a query has no pairs: it says that the query was drawn, so that whether anything is
    shown there changes neither later nor the number of statements.
    """

    class Purpose(models.TextChoices):
        NONE = "", "none"
        GOLD = "gold", "gold"
        REPEAT = "repeat", "repeat"

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="stand_ins")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    purpose = models.CharField(max_length=8, choices=Purpose.choices, blank=True, default="")
    replaced = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="+")
    shown = models.ForeignKey(Pair, null=True, on_delete=models.PROTECT, related_name="stand_ins")
    occasion = models.PositiveSmallIntegerField(default=0)
    drawn_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("annotator", "campaign", "query"),
                condition=models.Q(replaced=None),
                name="stand_in_query_drawn_once",
            ),
            models.UniqueConstraint(
                fields=("annotator", "replaced"), name="stand_in_one_at_a_place"
            ),
            models.UniqueConstraint(
                fields=("annotator", "shown", "occasion"), name="stand_in_shown_once"
            ),
            models.CheckConstraint(
                condition=models.Q(replaced=None, shown=None, purpose="")
                | models.Q(replaced__isnull=False, shown__isnull=False, purpose="gold")
                | models.Q(replaced__isnull=False, purpose="repeat"),
                name="stand_in_complete",
            ),
        )

    def __str__(self) -> str:
        return f"{self.shown_id} for {self.replaced_id}"


class GoldCheck(models.Model):
    """What comparing a label with the right answer gave; never changed.

    error: how many steps of the scale the label is above the range (below: negative), 0 inside;
    null where the label gives no grade.
    """

    label = models.OneToOneField(Label, on_delete=models.PROTECT, related_name="gold_check")
    item = models.ForeignKey(GoldItem, on_delete=models.PROTECT, related_name="checks")
    error = models.SmallIntegerField(null=True)
    checked_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.label_id}: {self.error}"


class CheckRule(models.Model):
    """What a campaign does about an annotator of too low accuracy; see gold/action_rules.py."""

    class Action(models.TextChoices):
        TELL = "tell", "Notify the lead"
        WARN = "warn", "Warn the annotator"
        PAUSE = "pause", "Pause the annotator"
        REQUEUE = "requeue", "Set their labels aside"

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="check_rules")
    action = models.CharField(max_length=8, choices=Action.choices)
    below_percent = models.PositiveSmallIntegerField()
    at_least = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "action"), name="check_rule_once"),
            models.CheckConstraint(
                condition=models.Q(
                    below_percent__gte=1, below_percent__lte=100, at_least__gte=3, at_least__lte=20
                ),
                name="check_rule_in_bounds",
            ),
        )

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.action} below {self.below_percent} %"


class CheckAction(models.Model):
    """Something that a rule or a lead did about a person, or that a lead undid; never changed.

    taken_by: the lead; null where a rule acted. right, checks: what was known then: so many right
    of so many. newest: the last of those checks; null without any. below_percent: the rule's; 0
    where a lead acted. seats: those set aside, by a requeue. undoes: what a lead took back.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="check_actions")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    action = models.CharField(max_length=8, choices=CheckRule.Action.choices)
    right = models.PositiveSmallIntegerField()
    checks = models.PositiveSmallIntegerField()
    below_percent = models.PositiveSmallIntegerField()
    newest = models.ForeignKey(GoldCheck, null=True, on_delete=models.PROTECT, related_name="+")
    seats = models.JSONField(default=list)
    message = models.TextField(blank=True, default="")
    taken_at = models.DateTimeField()
    taken_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    undoes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="undone_by"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.action} {self.annotator_id}"


class Feedback(models.Model):
    """What someone was told of a batch of their labels; never changed.

    newest: the last check that it tells of. items: [{"label": id, "low": grade, "high": grade}, …],
    labels of gold mixed with others whose grade is agreed upon; whose reason it was told, as
    "gold": id of the item, or "adjudication": id.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="feedback")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    newest = models.ForeignKey(GoldCheck, on_delete=models.PROTECT, related_name="+")
    items = models.JSONField()
    given_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("campaign", "annotator"), name="feedback_of_person"),)

    def __str__(self) -> str:
        return f"{self.annotator_id} in {self.campaign_id}"
