"""Long work: what a 202 leads to."""

from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.models import Job as JobRow
from judgments.permissions import Access, get_access
from judgments.rest.parsing import check_parameters
from judgments.selectors.jobs import get_job


class LineProblem(serializers.Serializer[Any]):
    """A broken rule at one line of the job's file."""

    line = serializers.IntegerField()
    column = serializers.IntegerField(allow_null=True)
    rule = serializers.CharField()
    message = serializers.CharField()


class JobOutput(serializers.Serializer[Any]):
    """Long work. done, total: bytes of the file. result: counts, once it is done.

    state: queued, running, done or failed; a failed one says why in `result` and `problems`.
    """

    id = serializers.UUIDField(source="public_id")
    kind = serializers.CharField()
    state = serializers.ChoiceField(JobRow.State.choices)
    file = serializers.CharField(source="file_name")
    done = serializers.IntegerField(source="done_units")
    total = serializers.IntegerField(source="total_units")
    result = serializers.DictField()
    problems = LineProblem(many=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class Job(APIView):
    """One piece of long work."""

    @extend_schema(operation_id="get_job", responses=JobOutput)
    def get(self, request: Request, slug: str, job_id: UUID) -> Response:
        """How far the work is; ask again until its state is done or failed."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(JobOutput(get_job(access=access, public_id=job_id)).data)


def accepted(access: Access, job: JobRow) -> Response:
    """202: the job, and in `Location` where to ask for it."""
    location = reverse("api-job", args=[access.collection.slug, job.public_id])
    return Response(JobOutput(job).data, status=202, headers={"Location": location})
