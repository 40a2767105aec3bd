"""What answers with plain means say of how their queries were chosen."""

from typing import Any

from rest_framework import serializers

from judgments.models import JudgmentList
from judgments.rest.answers import AnswerSerializer
from judgments.samples.origins import Origins, find_origins


class OriginsOutput(AnswerSerializer):
    """How many judged queries were drawn by a sample, added by Judge next, chosen by hand, or
    imported with their grades, and how many clicks or machine judges alone graded. Plain means are
    over all of these: no estimates of other queries.
    """

    answer = Origins

    def get_attribute(self, instance: object) -> Any:
        """Not of the answer, but of its context, which is what `of_origins` returns."""
        return self.context["origins"]


class OfOriginsOutput(serializers.Serializer[Any]):
    """origins: how the judged queries were chosen; null at an older version."""

    origins = OriginsOutput(allow_null=True)


def of_origins(judgment_list: JudgmentList, *, is_head: bool) -> dict[str, Any]:
    """How the queries of an answer were chosen, as far as that is known of its version."""
    return {"origins": find_origins(judgment_list=judgment_list) if is_head else None}
