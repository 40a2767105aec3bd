"""The addresses of sign-on; included only where it is configured."""

from django.conf import settings
from django.urls import URLPattern, path

from judgments.pages.languages import translated
from judgments.sign_on import views

PROVIDER = {"provider_id": settings.SIGN_ON_PROVIDER}

urlpatterns: list[URLPattern] = [
    path("sign-on", translated(views.begin), PROVIDER, name="sign-on"),
    # the name under which allauth asks for it
    path("sign-on/callback", translated(views.complete), PROVIDER, name="openid_connect_callback"),
]
