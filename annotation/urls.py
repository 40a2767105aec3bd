"""Addresses of the annotation room."""

from django.urls import path

from annotation.views import labelling

urlpatterns = [
    path("label/<uuid:campaign_id>", labelling.label, name="label"),
]
