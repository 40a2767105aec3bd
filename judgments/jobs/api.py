"""Long work: what a 202 leads to."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.jobs.queries import get_job
from judgments.permissions import get_access
from judgments.rest.jobs import JobOutput
from judgments.rest.parsing import check_parameters


class Job(APIView):
    """A background job."""

    @extend_schema(operation_id="get_job", responses=JobOutput)
    def get(self, request: Request, slug: str, job_id: UUID) -> Response:
        """Return a job's progress; poll until its state is done or failed."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(JobOutput(get_job(access=access, public_id=job_id)).data)
