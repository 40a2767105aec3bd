"""Labels that people gave elsewhere become a campaign's."""

import secrets
from typing import Any, BinaryIO, Final, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.campaigns.services import MAX_NAME_CHARACTERS
from annotation.imports.files import MAX_NAMES_CHARACTERS, read_given_labels, read_names
from annotation.imports.services import import_labels
from judgments.jobs.services import submit_job
from judgments.lists.queries import get_list
from judgments.permissions import check_may_lead, get_access
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.uploads import FILE_BODY, UploadView, is_for_a_worker, take_upload
from touchstone.scales import Scale

LARGE: Final = 256 * 1024  # some ten seconds: a label costs more than a line of qrels


class LabelsImport(UploadView):
    """Labels made elsewhere, from a file."""

    class Options(serializers.Serializer[Any]):
        """campaign: the name of the one that gets them; a new name makes one, which is closed.

        names: lines like `agent_1 = ben`, whose account a name of the file stands for. create:
        unknown queries and documents become stubs.
        """

        campaign = serializers.CharField(max_length=MAX_NAME_CHARACTERS)
        names = serializers.CharField(
            max_length=MAX_NAMES_CHARACTERS, allow_blank=True, default="", trim_whitespace=False
        )
        create = serializers.BooleanField(default=False)  # type: ignore[assignment]

    class Output(serializers.Serializer[Any]):
        """The result of importing labels. version: the resulting version; null if there is none.

        names: the account of each username in the file.
        """

        campaign = serializers.UUIDField()
        version = serializers.IntegerField(allow_null=True)
        people = serializers.IntegerField()
        pairs = serializers.IntegerField()
        new_labels = serializers.IntegerField()
        corrected_labels = serializers.IntegerField()
        labels_that_were_there = serializers.IntegerField()
        decisions = serializers.IntegerField()
        names = serializers.DictField(child=serializers.CharField())

    @extend_schema(
        operation_id="import_labels",
        parameters=[Options],
        request=FILE_BODY,
        responses={200: Output, 201: Output, 202: JobOutput},
    )
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Import labels as CSV or JSONL, and final grades as adjudications, into a campaign; for
        leads.

        All or nothing; 200 if nothing was new. 202 with a job if the file is large, or with
        `Prefer: respond-async`.
        """
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        one = get_list(access=access, slug=list_slug)
        upload, options = take_upload(request, self.Options)
        at, seed, names = timezone.now(), secrets.randbits(62), read_names(options["names"])
        if is_for_a_worker(request, upload, large=LARGE):
            params = {"list": list_slug, "seed": seed, **options}
            job = submit_job(access=access, kind="import_labels", file=upload, params=params, at=at)
            return accepted(access, job)
        done = import_labels(
            access=access,
            judgment_list=one,
            given=read_given_labels(
                cast(BinaryIO, upload),
                name=upload.name or "labels",
                scale=Scale.from_json(one.scale),
                at=at,
            ),
            campaign_name=options["campaign"],
            names=names,
            create=options["create"],
            seed=seed,
            at=at,
        )
        return Response(self.Output(done.values()).data, status=201 if done.is_new else 200)
