"""Reading lists, their versions and releases."""

from judgments.formats.trec import format_qrels
from judgments.models import JudgmentList, JudgmentVersion
from judgments.permissions import Access, NotFound, check_may_see_rankings
from judgments.selectors.collections import list_document_ids, list_query_ids
from judgments.selectors.judged import get_judged

HEAD = "head"


def get_list(*, access: Access, slug: str) -> JudgmentList:
    """The list of the collection with this slug, for those who may see grades."""
    check_may_see_rankings(access)
    found = JudgmentList.objects.filter(collection=access.collection, slug=slug).first()
    if found is None:
        raise NotFound("list")
    found.collection = access.collection
    return found


def get_version(*, judgment_list: JudgmentList, name: str = HEAD) -> JudgmentVersion:
    """A version by its number, by a release's name, or the "head"; NotFound if there is none."""
    versions = JudgmentVersion.objects.filter(list=judgment_list)
    if name == HEAD:
        found = versions.order_by("-number").first()
    elif name.isascii() and name.isdecimal():
        found = versions.filter(number=int(name)).first() if len(name) < 10 else None
    else:
        found = versions.filter(releases__list=judgment_list, releases__name=name).first()
    if found is None:
        raise NotFound("version")
    found.list = judgment_list
    return found


def get_qrels(*, judgment_list: JudgmentList, number: int) -> bytes:
    """The grades of a version as qrels, in the one canonical form that a release's digest is of."""
    judged = get_judged(list_id=judgment_list.pk, version=number)
    collection = judgment_list.collection
    qids = list_query_ids(collection=collection, pks=set(judged.query_ids.tolist()))
    docids = list_document_ids(collection=collection, pks=set(judged.document_ids.tolist()))
    pairs = judged.pairs().items()
    return format_qrels((qids[q], docids[d], grade) for (q, d), grade in pairs)
