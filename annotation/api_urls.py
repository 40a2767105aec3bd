"""Annotation's part of the REST interface."""

from django.urls import path

from annotation import api

urlpatterns = [
    path("campaigns/<uuid:campaign_id>/next", api.Next.as_view(), name="api-campaign-next"),
    path("campaigns/<uuid:campaign_id>/labels", api.Labels.as_view(), name="api-campaign-labels"),
    path(
        "campaigns/<uuid:campaign_id>/release", api.Release.as_view(), name="api-campaign-release"
    ),
]
