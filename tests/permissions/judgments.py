"""Who gets what at the hub's addresses."""

from datetime import timedelta

from django.core import signing
from django.utils import timezone

from judgments.accounts.password_reset import create_reset_token
from judgments.accounts.tokens import create_token
from judgments.jobs.services import submit_job
from judgments.members.services import invite
from judgments.messages.services import notify
from judgments.messages.tokens import CONFIRMATION_SALT
from judgments.models import Invitation, Notice, Picture
from tests.builders import NOW, World, commit, make_access, make_set
from tests.judgments.clicks.builders import HEADER, make_clicks, make_interleaving
from tests.judgments.pictures.drawing import choose, data_uri, drawn, load
from tests.judgments.samples.builders import make_frame, make_sample
from tests.permissions.table import Row, everybody, leads, managers, readers
from touchstone.scales import Scale


def books(world: World) -> dict[str, object]:
    return {"slug": world.collection.slug}


def main(world: World) -> dict[str, object]:
    return books(world) | {"list_slug": world.judgments.slug}


def committed(world: World) -> None:
    q, (d1, d2, *_) = world.queries[0], world.documents
    commit(judgment_list=world.judgments, grades={(q, d1): 3, (q, d2): 0}, by=world.ada)
    commit(judgment_list=world.judgments, grades={(q, d1): 1}, by=world.ada)


def both(world: World) -> dict[str, object]:
    committed(world)
    return main(world)


def version_1(world: World) -> dict[str, object]:
    committed(world)
    return main(world) | {"name": "1"}


def number_1(world: World) -> dict[str, object]:
    committed(world)
    return main(world) | {"number": 1}


def one_to_two(world: World) -> dict[str, object]:
    committed(world)
    return main(world) | {"before": "1", "after": "2"}


def ben(world: World) -> dict[str, object]:
    return books(world) | {"username": "ben"}


def held_out(world: World) -> dict[str, object]:
    return books(world) | {"set_slug": make_set(world=world, qids=["q1"], is_held_out=True).slug}


def token_of_ada(world: World) -> dict[str, object]:
    token, _ = create_token(by=world.ada, name="t", scope="read", days=7, at=timezone.now())
    return {"token_key": token.token_key}


def open_invitation(world: World) -> Invitation:
    invitation, _ = invite(
        access=make_access(collection=world.collection),
        role="annotator",
        note="",
        days=7,
        at=timezone.now(),
    )
    return invitation


def invitation_link(world: World) -> dict[str, object]:
    _, token = invite(
        access=make_access(collection=world.collection),
        role="annotator",
        note="",
        days=7,
        at=timezone.now(),
    )
    return {"token": token}


def old_invitation_link(world: World) -> dict[str, object]:
    _, token = invite(
        access=make_access(collection=world.collection),
        role="annotator",
        note="",
        days=7,
        at=timezone.now() - timedelta(days=8),
    )
    return {"token": token}


def job_of_ada(world: World) -> dict[str, object]:
    job = submit_job(
        access=make_access(collection=world.collection),
        kind="import_queries",
        file=None,
        params={},
        at=timezone.now(),
    )
    return books(world) | {"public_id": job.public_id}


def stored_picture(world: World) -> dict[str, object]:
    load(world.collection, {"d1": {"photo": data_uri(drawn())}})
    choose(world.collection, photo="small")
    return books(world) | {"name": Picture.objects.get().public_id}


def notice_of_ada(world: World) -> dict[str, object]:
    notify(
        kind="report",
        key="one",
        people=[world.ada],
        payload={"campaign": "First", "collection": "Books"},
        page=("home",),
        collection=world.collection,
        at=timezone.now(),
    )
    return {"notice_id": Notice.objects.get().public_id}


def confirmation_of_ada(world: World) -> dict[str, object]:
    said = {"user": world.ada.pk, "address": "ada@post.example"}
    return {"token": signing.dumps(said, salt=CONFIRMATION_SALT)}


def frame(world: World) -> dict[str, object]:
    return books(world) | {"number": make_frame(world=world).number}


def clicks(world: World) -> dict[str, object]:
    return books(world) | {"number": make_clicks(world=world).number}


def interleaving(world: World) -> dict[str, object]:
    return books(world) | {"number": make_interleaving(world=world).number}


def sample(world: World) -> dict[str, object]:
    plan = make_sample(world=world)
    return main(world) | {"number": plan.number}


def reset_of_cem(world: World) -> dict[str, object]:
    """Of someone who does not sign in here: that would end the link."""
    token = create_reset_token(user=world.cem, by=None, at=NOW)
    return {"account": world.cem.public_id, "token": token}


def wrong_reset_of_cem(world: World) -> dict[str, object]:
    return reset_of_cem(world) | {"token": "d5x4st-0"}


SET = {"name": "Two", "slug": "two", "typed": "q1\nq2"}
CLICKS = {
    "name": "May",
    "file": f"{HEADER}\nclick,q1,d1,1,p1,c1,1\n".encode(),
    "impressions": "impression",
    "clicks": "click",
}
ROWS = [
    everybody("home", annotator=302),
    everybody("home", query="all"),
    everybody("login", 302, anonymous=200),
    everybody("login", 302, method="post", anonymous=200),
    everybody("sign-in-code", 302),
    everybody("sign-in-code", 302, method="post", anonymous=302),
    everybody("sign-in-key", 302, method="post", anonymous=302),
    everybody("password", method="post"),
    everybody("security-key-add", 404, method="post"),
    everybody("second-factor"),
    everybody("second-factor", 404, method="post", data={"code": "123456"}),
    everybody("second-factor-begin", 302, method="post"),
    everybody("second-factor-change", path=lambda world: {"act": "off"}, method="post"),
    everybody("second-factor-change", path=lambda world: {"act": "codes"}, method="post"),
    everybody("second-factor-change", 404, path=lambda world: {"act": "explode"}, method="post"),
    everybody("logout", 302, method="post", anonymous=302),
    everybody("setup", 404, anonymous=404),
    everybody("tokens"),
    everybody("tokens", method="post", data={"name": "t", "scope": "read", "days": 7}),
    Row(name="token-delete", path=token_of_ada, method="post", lead=302),
    everybody("token-delete", 405, path=token_of_ada),
    everybody("password"),
    everybody("language"),
    everybody("language", 302, method="post", data={"language": "de"}),
    everybody("sessions"),
    everybody("sessions-end", 302, method="post"),
    everybody("session-end", 404, path=lambda world: {"key": "0"}, method="post"),
    # found only where the server sends e-mail
    everybody("password-forgotten", 404, anonymous=404),
    everybody("password-reset", path=reset_of_cem, anonymous=200),
    everybody("password-reset", path=reset_of_cem, method="post", anonymous=200),
    everybody("password-reset", 404, path=wrong_reset_of_cem, anonymous=404),
    everybody("invitation", path=invitation_link, anonymous=200),
    everybody("invitation", 302, path=invitation_link, method="post", anonymous=200),
    everybody("invitation", 404, path=old_invitation_link, anonymous=404),
    everybody("notices"),
    everybody("notices-read", 302, method="post"),
    Row(name="notice-open", path=notice_of_ada, method="post", lead=302),
    everybody("notice-open", 405, path=notice_of_ada),
    everybody("message-settings"),
    everybody("message-settings", 302, method="post", data={"wanted": ["report email"]}),
    everybody("message-settings", 404, method="post", data={"wanted": ["no such"]}),
    everybody("message-address", 302, method="post", data={"address": ""}),
    everybody("message-address", method="post", data={"address": "a@post.example"}),
    Row(name="address-confirm", path=confirmation_of_ada, lead=200),
    Row(name="address-confirm", path=confirmation_of_ada, method="post", lead=302),
    everybody("collection-create"),
    everybody("collection-create", 302, method="post", data={"name": "New", "slug": "new"}),
    Row(name="collection", path=books, annotator=200, researcher=200, lead=200, admin=200),
    managers("collection-archive", 302, path=books, method="post"),
    everybody("collection-archive", 405, path=books),
    managers("collection-restore", 302, path=books, method="post"),
    leads("list-archive", 302, path=main, method="post"),
    leads("list-restore", 302, path=main, method="post"),
    readers("queries", path=books),
    readers("query", path=lambda world: books(world) | {"qid": "q1"}),
    readers("sets", path=books),
    readers("set", path=held_out),
    Row(name="set-create", path=books, researcher=200, lead=200),
    Row(name="set-create", path=books, method="post", data=SET, researcher=302, lead=302),
    leads("set-change", researcher=302, path=held_out),
    leads("set-change", 302, researcher=302, path=held_out, method="post", data={"name": "Two"}),
    leads("set-archive", 302, researcher=302, path=held_out, method="post"),
    leads("set-restore", 302, researcher=302, path=held_out, method="post"),
    readers("clicks", path=books),
    leads("clicks-upload", path=books),
    leads("clicks-upload", 302, path=books, method="post", data=CLICKS),
    leads("interleaving-upload", path=books),
    leads("interleaving-upload", 302, path=books, method="post", data=CLICKS),
    readers("interleaving", path=interleaving),
    readers("click-log", path=clicks),
    readers("click-pairs", path=clicks),
    readers("click-rankers", path=clicks),
    readers("click-people", path=clicks),
    leads("click-people", path=clicks, method="post", data={"score": "nope"}),
    leads(
        "click-people",
        302,
        path=clicks,
        method="post",
        data={"basis": "main", "target": "main", "score": "coec", "fewest": 1},
    ),
    readers("traffic", path=books),
    leads("traffic-upload", path=books),
    leads(
        "traffic-upload",
        302,
        path=books,
        method="post",
        data={"name": "May", "file": b"query,searches\na,2\nb,1\n"},
    ),
    leads("traffic-upload-preview", path=books, method="post", data={"file": b"query,searches\n"}),
    readers("traffic-frame", path=frame),
    readers("traffic-frame", path=frame, query="cuts=nope"),
    leads("traffic-delete", 302, path=frame, method="post"),
    leads("sample-create", path=frame),
    leads(
        "sample-create",
        path=frame,
        method="post",
        data={"n": 4, "seed": 1, "chances": "equal", "allocation": "queries", "preview": ""},
    ),
    readers("sample", path=sample),
    readers("sample-file", path=sample),
    readers("documents", path=books),
    readers("document", path=lambda world: books(world) | {"docid": "d1"}),
    leads("queries-upload", path=books),
    leads("queries-upload", 302, path=books, method="post", data={"file": b"new\tone\n"}),
    leads("queries-upload-preview", path=books, method="post", data={"file": b"id,text\n"}),
    leads("documents-upload-preview", path=books, method="post", data={"file": b"id,text\n"}),
    leads("documents-upload", path=books),
    leads("documents-upload", 302, path=books, method="post", data={"file": b"new\tone\n"}),
    readers("pictures", path=books),
    leads("pictures", 302, path=books, method="post", data={"size:photo": "small"}),
    leads("pictures-upload", 302, path=books, method="post", data={"file": b"PK"}),
    leads("pictures-fetch", 302, path=books, method="post"),
    readers("picture", path=stored_picture),
    managers("members", path=books),
    managers("members", path=books, method="post", data={"role": "annotator", "days": 7}),
    managers("member-role", 302, path=ben, method="post", data={"role": "researcher"}),
    managers("member-tags", 302, path=ben, method="post", data={"tags": "de"}),
    managers("member-end", 302, path=ben, method="post"),
    managers(
        "invitation-withdraw",
        302,
        path=lambda world: books(world) | {"invitation_id": open_invitation(world).pk},
        method="post",
    ),
    managers("audit", path=books),
    managers("audit-file", path=books),
    Row(name="site-audit", admin=200),
    Row(name="site-audit-file", admin=200),
    managers("job", path=job_of_ada),
    readers("lists", path=books),
    leads("list-create", path=books),
    leads(
        "list-create",
        302,
        path=books,
        method="post",
        data={"name": "Two", "slug": "two", "scale": str(Scale.default())},
    ),
    readers("list", path=main),
    leads("list-import", path=main),
    leads(
        "list-import",
        302,
        path=main,
        method="post",
        data={"file": b"q1 0 d1 1\n", "format": "trec"},
    ),
    readers("version", path=version_1),
    readers("qrels", path=version_1),
    readers("export", path=version_1),
    readers(
        "export",
        path=version_1,
        method="post",
        data={"features": b"query_id,doc_id,f\nq1,d1,1\n", "format": "xgboost"},
    ),
    readers("diff", path=one_to_two),
    readers("diff-choose", 302, path=both, query="before=0&after=2"),
    leads("release", path=number_1),
    leads("release", 302, path=number_1, method="post", data={"name": "spring"}),
    leads("revert", path=number_1),
    leads("revert", 302, path=number_1, method="post", data={"reason": "why"}),
]
