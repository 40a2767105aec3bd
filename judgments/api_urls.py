"""The hub's part of the REST interface. What holds several things ends in a slash."""

from django.urls import path

from judgments.archiving import api as archiving
from judgments.clicks import api as clicks
from judgments.collections import api as collections
from judgments.jobs import api as jobs
from judgments.lists import api as lists
from judgments.lists import learning_api as learning
from judgments.lists import releases_api as releases
from judgments.pictures import api as pictures
from judgments.samples import api as samples
from judgments.sets import api as sets
from judgments.traffic import api as traffic
from judgments.webhooks import api as webhooks

C = "collections/<slug:slug>"
L = f"{C}/lists/<slug:list_slug>"
V = f"{L}/versions"
W = f"{C}/webhooks/<uuid:webhook_id>"

urlpatterns = [
    path("collections/", collections.Collections.as_view(), name="api-collections"),
    path(C, collections.Collection.as_view(), name="api-collection"),
    path(f"{C}/archive", archiving.CollectionArchive.as_view(), name="api-collection-archive"),
    path(f"{C}/restore", archiving.CollectionRestore.as_view(), name="api-collection-restore"),
    path(f"{C}/queries/", collections.Queries.as_view(), name="api-queries"),
    path(f"{C}/documents/", collections.Documents.as_view(), name="api-documents"),
    path(f"{C}/documents/<path:doc_id>", collections.Document.as_view(), name="api-document"),
    path(f"{C}/pictures", pictures.Pictures.as_view(), name="api-pictures"),
    path(f"{C}/pictures/fetch", pictures.PicturesFetch.as_view(), name="api-pictures-fetch"),
    path(f"{C}/pictures/files", pictures.PictureFiles.as_view(), name="api-pictures-files"),
    path(f"{C}/jobs/<uuid:job_id>", jobs.Job.as_view(), name="api-job"),
    path(f"{C}/sets/", sets.Sets.as_view(), name="api-sets"),
    path(f"{C}/sets/<slug:set_slug>", sets.OneSet.as_view(), name="api-set"),
    path(f"{C}/traffic/", traffic.TrafficLogs.as_view(), name="api-traffic-logs"),
    path(f"{C}/traffic/<int:number>", traffic.TrafficLog.as_view(), name="api-traffic"),
    path(f"{C}/clicks/", clicks.ClickLogs.as_view(), name="api-click-logs"),
    path(f"{C}/interleaving/", clicks.Interleavings.as_view(), name="api-interleavings"),
    path(
        f"{C}/interleaving/<int:number>",
        clicks.OneInterleaving.as_view(),
        name="api-interleaving",
    ),
    path(f"{C}/clicks/<int:number>", clicks.OneClickLog.as_view(), name="api-click-log"),
    path(f"{C}/clicks/<int:number>/pairs", clicks.ClickPairs.as_view(), name="api-click-pairs"),
    path(f"{C}/clicks/<int:number>/people", clicks.ClickPeople.as_view(), name="api-click-people"),
    path(f"{C}/lists/", lists.Lists.as_view(), name="api-lists"),
    path(L, lists.List.as_view(), name="api-list"),
    path(f"{L}/archive", archiving.ListArchive.as_view(), name="api-list-archive"),
    path(f"{L}/restore", archiving.ListRestore.as_view(), name="api-list-restore"),
    path(f"{L}/qrels", lists.QrelsImport.as_view(), name="api-list-qrels"),
    path(f"{L}/click-grades", clicks.ClickGrades.as_view(), name="api-click-grades"),
    path(f"{L}/samples/", samples.Samples.as_view(), name="api-samples"),
    path(f"{L}/samples/<int:number>", samples.Sample.as_view(), name="api-sample"),
    path(
        f"{L}/samples/<int:number>/queries",
        samples.SampleQueries.as_view(),
        name="api-sample-queries",
    ),
    path(f"{L}/releases/", releases.Releases.as_view(), name="api-releases"),
    path(f"{L}/releases/<slug:name>", releases.OneRelease.as_view(), name="api-release"),
    path(f"{V}/", lists.Versions.as_view(), name="api-versions"),
    path(f"{V}/<slug:before>..<slug:after>", lists.Changes.as_view(), name="api-changes"),
    path(f"{V}/<slug:name>", lists.Version.as_view(), name="api-version"),
    path(f"{V}/<slug:name>/qrels", lists.Qrels.as_view(), name="api-qrels"),
    path(f"{V}/<slug:name>/training", learning.Learning.as_view(), name="api-training"),
    path(f"{C}/webhooks/", webhooks.Webhooks.as_view(), name="api-webhooks"),
    path(W, webhooks.OneWebhook.as_view(), name="api-webhook"),
    path(f"{W}/secret", webhooks.SigningSecret.as_view(), name="api-webhook-secret"),
    path(f"{W}/deliveries/", webhooks.Deliveries.as_view(), name="api-webhook-deliveries"),
    path(
        f"{W}/deliveries/<uuid:delivery_id>/replay",
        webhooks.Replay.as_view(),
        name="api-webhook-replay",
    ),
]
