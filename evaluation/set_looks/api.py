"""What answers say of the saved set that their numbers are of."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from evaluation.evaluations.queries import SetChoice
from evaluation.set_looks.services import count_look
from judgments.models import SetLook
from judgments.permissions import Access


class SetParameter(serializers.Serializer[Any]):
    """set: only the queries of a saved set. If it is held out, the request counts as a look."""

    set = serializers.SlugField(max_length=64, allow_blank=True, default="")


class _SetField(serializers.CharField):
    def get_attribute(self, instance: object) -> Any:
        return self.context["set"]


class _LooksField(serializers.IntegerField):
    def get_attribute(self, instance: object) -> Any:
        return self.context["looks"]


class OfSetOutput(serializers.Serializer[Any]):
    """set: the saved set. looks: at it, including this one; null unless it is held out.

    Both are not of the answer, but of its context, which is what `of_set` returns.
    """

    set = _SetField()
    looks = _LooksField(allow_null=True)


def of_set(access: Access, sets: SetChoice, look: SetLook.Page) -> dict[str, Any]:
    """The set that an answer is about; a held-out one has been looked at then."""
    result = count_look(access=access, sets=sets, page=look, at=timezone.now())
    return {"set": sets.slug, "looks": result and result.count}
