"""The hub's pages as people meet them."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from judgments.jobs.services import work_jobs
from judgments.lists.services import release_version
from judgments.members.services import setup_code
from judgments.models import (
    AuditEntry,
    Collection,
    Document,
    Job,
    JudgmentList,
    Membership,
    Query,
    Release,
)
from judgments.versions.services import Change
from tests.builders import (
    NOW,
    World,
    commit,
    make_access,
    make_collection,
    make_documents,
    make_queries,
    make_user,
    make_world,
)

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough pass phrase"
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def world(settings, tmp_path) -> World:
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    return make_world()


def client_of(username: str) -> Client:
    client = Client()
    client.force_login(make_user(username=username), backend=BACKEND)
    return client


def text_of(response) -> str:
    """What a reader sees: without tags, blanks collapsed."""
    html = re.sub(r"<(script|style)\b.*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def upload(name: str, text: str):
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile(name, text.encode())


@pytest.mark.parametrize("path", ["/login", "/nowhere", "/api/v1/collections"])
def test_every_answer_says_what_it_may_load(path: str) -> None:
    for asks in (Client(), client_of("ben")):
        policy = asks.get(path).headers["Content-Security-Policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= {*policy}


def two_versions(world: World) -> None:
    (q1, q2, _), (d1, d2, d3, *_) = world.queries, world.documents
    commit(
        judgment_list=world.judgments,
        grades={(q1, d1): 3, (q1, d2): 0, (q2, d3): 2},
        by=world.ada,
        reason="the first import",
    )
    commit(
        judgment_list=world.judgments,
        grades={(q1, d1): 1, (q1, d2): None, (q2, d1): 4},
        by=world.ada,
        reason="a second look",
    )


def test_an_empty_installation_is_set_up_in_the_browser(client):
    assert client.get(reverse("login")).headers["Location"] == reverse("setup")
    data = {"code": "wrong", "username": "ada", "name": "Ada", "password": PASSWORD}
    refused = client.post(reverse("setup"), data)
    assert "Wrong code" in text_of(refused)
    assert 'value="ada"' in refused.content.decode()
    assert PASSWORD not in refused.content.decode()
    done = client.post(reverse("setup"), data | {"code": setup_code()}, follow=True)
    assert "No collections yet" in text_of(done)
    assert client.get(reverse("setup")).status_code == 404


def test_signing_in_and_out(client):
    make_user(username="ada").set_password(PASSWORD)
    user = make_user(username="ada")
    user.set_password(PASSWORD)
    user.save()
    client.post(reverse("login"), {"username": "ada", "password": PASSWORD})
    assert client.get(reverse("home")).status_code == 200
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert client.get(reverse("home")).status_code == 302


def test_another_password_for_oneself_keeps_this_session_ends_others_and_is_in_the_log(client):
    user = make_user(username="ada")
    user.set_password(PASSWORD)
    user.save()
    elsewhere = Client()
    for one in (client, elsewhere):
        one.post(reverse("login"), {"username": "ada", "password": PASSWORD})
    another = f"another {PASSWORD}"
    words = {"old_password": PASSWORD, "new_password1": another, "new_password2": "else"}
    assert client.post(reverse("password"), words).status_code == 200
    changes_qs = AuditEntry.objects.exclude(action="sign_in.succeeded")
    assert not changes_qs.exists()
    done = client.post(reverse("password"), words | {"new_password2": another}, follow=True)
    assert "Password changed" in text_of(done)
    assert elsewhere.get(reverse("home")).status_code == 302
    (entry,) = changes_qs
    assert (entry.action, entry.actor, entry.subject) == ("password.changed", user, "ada")
    assert (entry.before, entry.after) == (None, {"tokens_ended": 0})


def test_ten_wrong_passwords_lock_this_address_out_for_this_account_only(client):
    for username in ("ada", "ben"):
        user = make_user(username=username)
        user.set_password(PASSWORD)
        user.save()
    for _ in range(10):
        response = client.post(reverse("login"), {"username": "ada", "password": "wrong"})
    assert response.status_code == 429
    right = {"username": "ada", "password": PASSWORD}
    assert client.post(reverse("login"), right).status_code == 429
    assert client.post(reverse("login"), right | {"username": "ben"}).status_code == 302
    elsewhere = client.post(reverse("login"), right, REMOTE_ADDR="192.0.2.7")
    assert elsewhere.status_code == 302


def test_whoever_makes_a_collection_leads_it(world):
    client = client_of("fay")
    data = {"name": "Films", "slug": "Films!", "description": "what we watch"}
    refused = client.post(reverse("collection-create"), data)
    assert "lower-case" in text_of(refused)
    assert "what we watch" in refused.content.decode()
    taken = client.post(reverse("collection-create"), data | {"slug": "books"})
    assert "collection books already exists" in text_of(taken)
    page = client.post(reverse("collection-create"), data | {"slug": "films"}, follow=True)
    assert "Upload queries" in text_of(page)
    assert Membership.objects.get(collection__slug="films").role == "lead"


def test_the_overview_says_what_to_do_next_until_it_is_done():
    collection = make_collection(cast=False)
    ada = client_of("ada")
    overview = reverse("collection", args=[collection.slug])
    assert "What to do next" in text_of(ada.get(overview))
    make_queries(collection=collection)
    page = ada.get(overview)
    assert page.context["page"].next_step.title == "Upload documents"


def test_queries_are_uploaded_by_a_job_with_its_own_page(world):
    ada = client_of("ada")
    url = reverse("queries-upload", args=["books"])
    assert "This field is required" in text_of(ada.post(url, {}))
    response = ada.post(url, {"file": upload("more.tsv", "new\tone more\n")})
    job = Job.objects.get()
    assert response.headers["Location"] == reverse("job", args=["books", job.public_id])
    waiting = ada.get(response.headers["Location"])
    assert "waiting" in text_of(waiting)
    assert "every 1s" in waiting.content.decode()
    work_jobs()
    part = ada.get(response.headers["Location"], headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert "HX-Request" in part.headers["Vary"]
    assert "every 1s" not in part.content.decode()
    assert Query.objects.get(qid="new").text == "one more"


def test_the_columns_of_a_file_are_shown_and_chosen_before_it_is_imported(world):
    ada, text = client_of("ada"), "key;words;note\nnew;red shoes;x\n"
    head = upload("q.csv", text.replace("key", "id"))
    part = ada.post(reverse("queries-upload-preview", args=["books"]), {"file": head})
    assert "separated by semicolons" in part.text
    assert '<input type="hidden" name="column" value="words">' in part.text
    assert "red shoes" in part.text
    assert "<html" not in part.text
    page = ada.get(reverse("queries-upload", args=["books"]))
    assert f'hx-post="{reverse("queries-upload-preview", args=["books"])}"' in page.text
    sent = {"column": ["key", "words", "note"], "part": ["query_id", "text", ""]}
    ada.post(
        reverse("queries-upload", args=["books"]), {"file": upload("q.csv", text)} | sent
    )  # fmt: skip
    work_jobs()
    assert Query.objects.get(qid="new").text == "red shoes"
    unreadable = upload("q.csv", "key,words\n")
    part = ada.post(reverse("queries-upload-preview", args=["books"]), {"file": unreadable})
    assert "neither CSV nor TSV" in part.text


def test_a_job_that_no_worker_takes_says_so(world):
    ada = client_of("ada")
    response = ada.post(
        reverse("documents-upload", args=["books"]), {"file": upload("d.tsv", "a\tb\n")}
    )
    assert "No worker" not in text_of(ada.get(response.headers["Location"]))
    Job.objects.update(created_at=NOW)
    assert "No worker" in text_of(ada.get(response.headers["Location"]))


def test_a_refused_file_shows_its_lines(world):
    ada = client_of("ada")
    response = ada.post(
        reverse("queries-upload", args=["books"]), {"file": upload("q.tsv", "a\tb\na\tc\n")}
    )
    work_jobs()
    shown = text_of(ada.get(response.headers["Location"]))
    assert "line 2" in shown
    assert "Try again" in shown


def test_queries_are_found_by_id_text_and_segment(world):
    dora = client_of("dora")
    url = reverse("queries", args=["books"])
    assert [q.qid for q in dora.get(url, {"q": "number 2"}).context["page"].rows] == ["q2"]
    assert [q.qid for q in dora.get(url, {"segment": "head"}).context["page"].rows] == ["q1", "q3"]
    assert "No matching queries" in text_of(dora.get(url, {"q": "%"}))


def test_a_long_table_has_pages_and_keeps_its_filters(world):
    make_documents(collection=world.collection, count=120, prefix="many")
    dora = client_of("dora")
    url = reverse("documents", args=["books"])
    page = dora.get(url, {"q": "many", "page": "2"})
    assert len(page.context["page"].rows) == 50
    assert "?q=many&amp;page=3" in page.content.decode()
    for odd in ("0", "-1", "99999999999999999999999", "x"):
        assert dora.get(url, {"page": odd}).status_code == 200


def test_odd_searches_do_no_harm(world):
    dora = client_of("dora")
    for odd in ("'", "\ud800".encode("utf-8", "surrogatepass"), "a" * 10_000, "_", "\\"):
        for name in ("queries", "documents"):
            assert dora.get(reverse(name, args=["books"]), {"q": odd}).status_code == 200


def test_a_nul_in_an_address_is_a_bad_request(world):
    dora = client_of("dora")
    assert dora.get("/c/books/queries?q=a%00b").status_code == 400
    assert dora.get("/c/books/query/a%00b").status_code == 400


def test_a_query_shows_its_judged_documents_at_a_version(world):
    two_versions(world)
    dora = client_of("dora")
    url = reverse("query", args=["books", "q1"])
    newest = dora.get(url).context["page"]
    assert [(row.id, row.grade.code, row.since) for row in newest.judged] == [("d1", 1, 2)]
    first = dora.get(url, {"version": "1"}).context["page"]
    assert [(row.id, row.grade.code) for row in first.judged] == [("d1", 3), ("d2", 0)]
    assert dora.get(url, {"version": "3"}).status_code == 404
    assert dora.get(url, {"list": "none"}).status_code == 404


def test_a_document_shows_its_text_and_fields_as_text(world):
    Document.objects.filter(docid="d1").update(
        body="<script>alert(1)</script>", fields={"price": 3, "tags": ["a", "b"], "new": True}
    )
    two_versions(world)
    page = client_of("dora").get(reverse("document", args=["books", "d1"]))
    assert "&lt;script&gt;alert(1)" in page.content.decode()
    shown = re.findall(r"<dt>(\w+)</dt><dd>(.*?)</dd>", page.content.decode())
    assert shown == [("new", "yes"), ("price", "3"), ("tags", "a, b")]
    assert [row.id for row in page.context["page"].judged] == ["q2", "q1"]


@pytest.mark.parametrize(
    "docid", ["a/b", "https://example.org/x?y=1&z#f", "ä ö".replace(" ", "-"), "100%"]
)
def test_ids_may_hold_what_addresses_use(world, docid):
    Document.objects.filter(docid="d1").update(docid=docid)
    dora = client_of("dora")
    assert dora.get(reverse("document", args=["books", docid])).status_code == 200


def test_a_researcher_who_annotates_in_an_open_campaign_sees_no_grades(world):
    two_versions(world)
    Membership.objects.filter(user=world.dora).update(is_annotating=True)
    dora = client_of("dora")
    assert dora.get(reverse("list", args=["books", "main"])).status_code == 404
    page = dora.get(reverse("query", args=["books", "q1"]))
    assert page.context["page"].judged is None
    assert "Lists" not in text_of(page)


def test_a_lead_makes_a_list_with_named_grades(world):
    ada = client_of("ada")
    url = reverse("list-create", args=["books"])
    data = {"name": "Two", "slug": "two", "scale": "0,0.5,0.9", "grade_names": "no\nhalf"}
    refused = ada.post(url, data)
    assert "3 grades and 2 names" in text_of(refused)
    assert "half" in refused.content.decode()
    assert "written like" in text_of(ada.post(url, data | {"scale": "none"}))
    ada.post(url, data | {"grade_names": "no\nhalf\nyes"})
    scale = JudgmentList.objects.get(slug="two").scale
    assert [(g["code"], g["name"], g["value"]) for g in scale] == [
        (0, "no", 0.0),
        (1, "half", 0.5),
        (2, "yes", 0.9),
    ]


def test_the_list_page_has_versions_with_names_and_reasons_for_leads_only(world):
    two_versions(world)
    url = reverse("list", args=["books", "main"])
    lead = text_of(client_of("ada").get(url))
    assert "a second look" in lead
    assert "Release version 2" in lead
    researcher = text_of(client_of("dora").get(url))
    assert "a second look" not in researcher
    assert "Ada" not in researcher
    assert "Release version" not in researcher


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list", ["main"]),
        ("version", ["main", "2"]),
        ("diff", ["main", "1", "2"]),
        ("lists", []),
        ("queries", []),
        ("collection", []),
    ],
)
def test_no_page_of_a_researcher_names_anybody_else(world, name, arguments):
    two_versions(world)
    release_version(
        access=make_access(collection=world.collection),
        at=NOW,
        judgment_list=world.judgments,
        number=2,
        name="spring",
    )
    html = client_of("dora").get(reverse(name, args=["books", *arguments])).content.decode()
    for person in (world.ada, world.ben, world.cem):
        assert person.name not in html
        assert person.email not in html
        assert person.username not in re.findall(r"\w+", html)


def test_a_version_page_shows_what_it_changed_and_filters_it(world):
    two_versions(world)
    ada = client_of("ada")
    url = reverse("version", args=["books", "main", "2"])
    diff = ada.get(url).context["page"].diff
    assert diff.counts == {"added": 1, "changed": 1, "removed": 1}
    assert [(row.qid, row.docid, row.kind) for row in diff.rows] == [
        ("q1", "d1", "changed"),
        ("q1", "d2", "removed"),
        ("q2", "d1", "added"),
    ]
    only = ada.get(url, {"kind": "removed"}).context["page"].diff
    assert [row.docid for row in only.rows] == ["d2"]
    of_q2 = ada.get(url, {"query": "q2"}).context["page"].diff
    assert [row.kind for row in of_q2.rows] == ["added"]


def test_leads_see_how_people_voted_and_researchers_do_not(world):
    q, d = world.queries[0], world.documents[0]
    evidence = {"votes": {"1": 1, "3": 2}, "labels": [], "adjudicated": True}
    commit(judgment_list=world.judgments, grades=[Change(q.pk, d.pk, 3, evidence)])
    for name, arguments in (("version", ["main", "1"]), ("query", ["q1"]), ("document", ["d1"])):
        url = reverse(name, args=["books", *arguments])
        lead = client_of("ada").get(url)
        assert "3 × 2, 1 × 1, decided" in text_of(lead)
        assert reverse("pair-of-list", args=["books", "main"]) in lead.content.decode()
        researcher = client_of("dora").get(url)
        assert "×" not in text_of(researcher)
        assert "Votes" not in text_of(researcher)


def test_any_two_versions_or_releases_are_compared(world):
    two_versions(world)
    ada = client_of("ada")
    ada.post(reverse("release", args=["books", "main", 1]), {"name": "spring", "notes": "n"})
    asked = ada.get(
        reverse("diff-choose", args=["books", "main"]), {"before": "spring", "after": "head"}
    )
    assert asked.headers["Location"] == reverse("diff", args=["books", "main", "spring", "head"])
    page = ada.get(asked.headers["Location"]).context["page"]
    assert (page.before, page.after) == (1, 2)
    nothing = reverse("diff-choose", args=["books", "main"])
    assert ada.get(nothing, {"before": "none", "after": "1"}).status_code == 404


def test_a_release_name_is_given_once_and_what_was_typed_stays(world):
    two_versions(world)
    ada = client_of("ada")
    url = reverse("release", args=["books", "main", 2])
    ada.post(url, {"name": "spring"})
    refused = ada.post(url, {"name": "spring", "notes": "typed"})
    assert "release spring already exists" in text_of(refused)
    assert "typed" in refused.content.decode()
    assert Release.objects.count() == 1


def test_qrels_are_downloaded_as_the_release_names_them(world):
    two_versions(world)
    dora = client_of("dora")
    response = dora.get(reverse("qrels", args=["books", "main", "1"]))
    assert response.content == b"q1 0 d1 3\nq1 0 d2 0\nq2 0 d3 2\n"
    assert response.headers["Content-Disposition"] == 'attachment; filename="books-main-1.qrels"'


def test_reverting_is_a_new_version_with_a_reason(world):
    two_versions(world)
    ada = client_of("ada")
    url = reverse("revert", args=["books", "main", 1])
    assert "This field is required" in text_of(ada.post(url, {}))
    page = ada.post(url, {"reason": "it was better"}, follow=True)
    assert "Version 3 restores the grades of version 1" in text_of(page)
    again = ada.post(url, {"reason": "it was better"}, follow=True)
    assert "already has these grades" in text_of(again)


def test_an_invitation_leads_from_a_link_into_the_collection(world, client):
    ada = client_of("ada")
    page = ada.post(reverse("members", args=["books"]), {"role": "researcher", "days": "7"})
    link = re.search(r"http://testserver(/invitations/[\w-]+)", page.content.decode()).group(1)
    assert link not in ada.get(reverse("members", args=["books"])).content.decode()
    refused = client.post(link, {"username": "fay", "password": "short"})
    assert "too short" in text_of(refused)
    joined = client.post(link, {"username": "fay", "password": PASSWORD}, follow=True)
    assert joined.status_code == 200
    assert Membership.objects.get(user__username="fay").role == "researcher"
    assert client.get(reverse("queries", args=["books"])).status_code == 200
    assert Client().get(link).status_code == 404


def test_a_new_token_is_shown_in_one_answer_only(world):
    dora = client_of("dora")
    page = dora.post(reverse("tokens"), {"name": "nightly", "scope": "write", "days": "30"})
    made = page.context["made"]
    assert made in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    later = dora.get(reverse("tokens")).content.decode()
    assert made not in later
    assert "nightly" in later


def test_the_audit_log_is_filtered_by_what_was_done(world):
    ada = client_of("ada")
    rows = ada.get(reverse("audit", args=["books"])).context["page"].rows
    assert {row.action for row in rows} == {"collection.created", "list.created"}
    url = reverse("audit", args=["books"])
    only = ada.get(url, {"action": "list.created"}).context["page"].rows
    assert [row.subject for row in only] == ["main"]


def test_ones_own_password_is_changed_with_the_old_one(client):
    user = make_user(username="ada")
    user.set_password(PASSWORD)
    user.save()
    client.force_login(user, backend=BACKEND)
    data = {"old_password": "x", "new_password1": PASSWORD + "2", "new_password2": PASSWORD + "2"}
    assert client.post(reverse("password"), data).status_code == 200
    assert client.post(reverse("password"), data | {"old_password": PASSWORD}).status_code == 302
    user.refresh_from_db()
    assert user.check_password(PASSWORD + "2")


def test_reading_pages_writes_nothing(world, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    two_versions(world)
    ada = client_of("ada")
    urls = [
        reverse("collection", args=["books"]),
        reverse("list", args=["books", "main"]),
        reverse("version", args=["books", "main", "2"]),
        reverse("members", args=["books"]),
        reverse("audit", args=["books"]),
        reverse("query", args=["books", "q1"]),
        reverse("document", args=["books", "d1"]),
    ]
    for url in urls:
        with CaptureQueriesContext(connection) as queries:
            assert ada.get(url).status_code == 200
        assert not [q["sql"] for q in queries if not q["sql"].startswith("SELECT")]
        assert len(queries) <= 30, url
    assert Collection.objects.count() == 2
