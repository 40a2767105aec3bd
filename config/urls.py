"""Every address of the application, gathered from the apps."""

from django.conf import settings
from django.urls import URLPattern, URLResolver, include, path

from config import operations
from config.accounts import views as accounts
from config.database.views import database_sizes
from config.demo import views as demo
from config.policy_reports import policy_reports
from config.privacy import views as privacy
from judgments.pages.confirming import confirmed
from judgments.pages.languages import translated

handler500 = "config.unavailable.answer_failure"

urlpatterns: list[URLPattern | URLResolver] = [
    # first: addresses are tried in turn, and every label comes by one of these
    path("api/v1/", include("config.api_urls")),
    # then those with pages that ask by themselves: hundreds of patterns cost half a millisecond
    path("", include("evaluation.urls")),
    path("", include("annotation.urls")),
    path("", include("judgments.urls")),
    path("account/kept", translated(privacy.kept), name="kept"),
    path("account/kept/file", privacy.kept_file, name="kept-file"),
    path("accounts/<str:username>/kept", privacy.account_kept, name="account-kept"),
    path("accounts/<str:username>/erase", confirmed(privacy.account_erase), name="account-erase"),
    path("accounts", accounts.accounts, name="accounts"),
    path("accounts/<str:username>", accounts.account, name="account"),
    path(
        "accounts/<str:username>/reset-link",
        confirmed(accounts.account_reset_link),
        name="account-reset-link",
    ),
    path("accounts/<str:username>/<slug:act>", confirmed(accounts.account_act), name="account-act"),
    path("database-sizes", database_sizes, name="database-sizes"),
    path("demo/search/<slug:act>", demo.demo_search, name="demo-search"),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path("metrics", operations.metrics, name="metrics"),
    path("csp-reports", policy_reports, name="csp-reports"),
]
if settings.SIGN_ON_ISSUER:
    urlpatterns.append(path("", include("judgments.sign_on.urls")))
