"""Which labels are reviewed: a share of each person's, drawn by a hash that the campaign seeds.

The hash is arithmetic that both databases do alike, so nothing is stored, and what was drawn stays
drawn when the share rises. What is planted is drawn as everything else is.
"""

from hashlib import blake2b
from typing import Any, Final

from django.db.models import BigIntegerField, F, QuerySet
from django.db.models.functions import Cast

from annotation.models import Assignment, Campaign, Label

PRIME: Final = 2**31 - 1
PURPOSES: Final = ("pool", "extra", "gold", "repeat")  # all but training, whose answer is told


def list_drawn(campaign: Campaign) -> QuerySet[Any]:
    """The current labels that are drawn for review, of people who annotate now."""
    active_qs = campaign.annotators.filter(is_active=True, user__is_active=True)
    labels_qs = Label.objects.filter(
        pair__campaign=campaign,
        superseded_by=None,
        assignment__state=Assignment.State.DONE,
        assignment__purpose__in=PURPOSES,
        annotator__in=active_qs.values("user"),
    ).exclude(outcome=Label.Outcome.RETRACTED)
    by_pair, by_person, by_occasion, start = _coefficients(campaign.secret)
    pair, person, occasion = (
        Cast(name, BigIntegerField())
        for name in ("pair_id", "annotator_id", "assignment__occasion")
    )
    # x ** 5 permutes the numbers below the prime: 5 does not divide the prime - 1
    return (
        labels_qs.alias(
            x=(
                pair * by_pair % PRIME
                + person * by_person % PRIME
                + occasion * by_occasion % PRIME
                + start
            )
            % PRIME
        )
        .alias(square=F("x") * F("x") % PRIME)
        .alias(draw=F("square") * F("square") % PRIME * F("x") % PRIME)
        .filter(draw__lt=PRIME * campaign.review_percent // 100)
        .order_by("received_at", "pk")
    )


def _coefficients(secret: str) -> list[int]:
    digest = blake2b(b"review", digest_size=32, key=secret.encode()[:64]).digest()
    words = (digest[start : start + 8] for start in range(0, 32, 8))
    return [1 + int.from_bytes(word, "little") % (PRIME - 1) for word in words]
