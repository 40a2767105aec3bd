"""Annotation's addresses."""

from django.urls import URLPattern, path

from annotation.views import campaigns, guidelines, labelling, pairs, pools

C = "c/<slug:slug>"
K = f"{C}/campaigns/<uuid:campaign_id>"
G = f"{C}/guidelines/<int:guideline_id>"

urlpatterns: list[URLPattern] = [
    path("label/<uuid:campaign_id>", labelling.label, name="label"),
    path("my-campaigns", campaigns.my_campaigns, name="my-campaigns"),
    path(f"{C}/campaigns", campaigns.campaigns, name="campaigns"),
    path(f"{C}/campaigns/new", campaigns.campaign_create, name="campaign-create"),
    path(K, campaigns.campaign_page, name="campaign"),
    path(f"{K}/change", campaigns.campaign_change, name="campaign-change"),
    path(f"{K}/open", campaigns.campaign_open, name="campaign-open"),
    path(f"{K}/close", campaigns.campaign_close, name="campaign-close"),
    path(f"{K}/approve", campaigns.campaign_approve, name="campaign-approve"),
    path(f"{K}/pool", pools.pool, name="campaign-pool"),
    path(f"{K}/pool/preview", pools.pool_preview, name="campaign-pool-preview"),
    path(f"{K}/pool/top-up", pools.top_up, name="campaign-top-up"),
    path(f"{K}/pairs", pairs.pairs, name="campaign-pairs"),
    path(f"{K}/people", campaigns.campaign_people_add, name="campaign-people-add"),
    path(
        f"{K}/people/<str:username>/remove",
        campaigns.campaign_person_remove,
        name="campaign-person-remove",
    ),
    path(f"{C}/pairs/<int:pair_id>", pairs.pair, name="pair"),
    path(f"{C}/lists/<slug:list_slug>/pair", pairs.pair_of_list, name="pair-of-list"),
    path(
        f"{C}/lists/<slug:list_slug>/versions/<int:number>/people",
        pairs.version_people,
        name="version-people",
    ),
    path(f"{C}/guidelines", guidelines.guidelines, name="guidelines"),
    path(f"{C}/guidelines/new", guidelines.guideline_create, name="guideline-create"),
    path(f"{C}/guidelines/preview", guidelines.guideline_preview, name="guideline-preview"),
    path(G, guidelines.guideline, name="guideline"),
    path(f"{G}/edit", guidelines.guideline_revise, name="guideline-revise"),
    path(f"{G}/revisions/<int:number>", guidelines.guideline, name="guideline-revision"),
]
