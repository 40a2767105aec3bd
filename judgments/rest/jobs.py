"""Long work: what a 202 answers."""

from typing import Any

from django.urls import reverse
from rest_framework import serializers
from rest_framework.response import Response

from judgments.models import Job
from judgments.permissions import Access


class LineProblem(serializers.Serializer[Any]):
    """A violated rule in a line of the job's file."""

    line = serializers.IntegerField()
    column = serializers.IntegerField(allow_null=True)
    rule = serializers.CharField()
    message = serializers.CharField()


class JobOutput(serializers.Serializer[Any]):
    """A background job. done, total: bytes of the file, or other units if there is no file.

    result: counts, when done.

    state: queued, running, done or failed; a failed one says why in `result` and `problems`.
    """

    id = serializers.UUIDField(source="public_id")
    kind = serializers.CharField()
    state = serializers.ChoiceField(Job.State.choices)
    file = serializers.CharField(source="file_name")
    done = serializers.IntegerField(source="done_units")
    total = serializers.IntegerField(source="total_units")
    result = serializers.DictField()
    problems = LineProblem(many=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def accepted(access: Access, job: Job) -> Response:
    """202: the job, and in `Location` where to ask for it."""
    location = reverse("api-job", args=[access.collection.slug, job.public_id])
    return Response(JobOutput(job).data, status=202, headers={"Location": location})
