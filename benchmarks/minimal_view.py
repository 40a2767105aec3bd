"""The least that stores a label over HTTP with the same tools: a Django and REST framework view.

It checks a label's fields and inserts one row. No one signs in, nothing is leased, locked, found
again or handed on, no second label of a pair is refused, and nothing follows from a row: it is a
measure of what the tools cost by themselves, not of another product. Served by the gunicorn that
serves Touchstone: see labelling_http.py, which starts it with `DATABASE_URL`.
"""

import os

import environ
from django.conf import settings

DATABASE = environ.Env.db_url_config(os.environ["DATABASE_URL"])
if DATABASE["ENGINE"].endswith("sqlite3"):
    DATABASE["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
else:
    DATABASE["CONN_MAX_AGE"] = 600

settings.configure(
    SECRET_KEY="only for a benchmark on loopback",  # noqa: S106
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": DATABASE},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["rest_framework"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "UNAUTHENTICATED_USER": None,
    },
)

import django  # noqa: E402

django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import serializers  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Label(models.Model):
    """The fields of a label, without anything that they refer to."""

    id = models.UUIDField(primary_key=True)
    assignment = models.UUIDField()
    grade = models.SmallIntegerField()
    guideline_revision = models.IntegerField()
    content_hash = models.CharField(max_length=64)
    seconds = models.FloatField()
    made_at = models.DateTimeField()

    class Meta:
        app_label = "minimal"

    def __str__(self) -> str:
        return str(self.id)


class LabelSerializer(serializers.ModelSerializer[Label]):
    """What is sent."""

    class Meta:
        model = Label
        fields = "__all__"


class Labels(APIView):
    """Takes a label."""

    def post(self, request: Request) -> Response:
        """Store it."""
        read = LabelSerializer(data=request.data)
        read.is_valid(raise_exception=True)
        read.save()
        return Response({"labels": [{"id": str(read.data["id"]), "status": "stored"}]})


def health(request: HttpRequest) -> HttpResponse:
    """It answers."""
    return HttpResponse("ok")


urlpatterns = [path("labels", Labels.as_view()), path("healthz", health)]
application = get_wsgi_application()


def build() -> None:
    """Make the table."""
    with connection.schema_editor() as editor:
        editor.create_model(Label)


if __name__ == "__main__":
    build()
