"""Asking a model about one pair, to see what is sent, what comes back and what is made of it."""

import json
import threading
from dataclasses import dataclass, replace
from typing import Final

from annotation.machine_judges.answers import WORDS, Outcome
from annotation.machine_judges.asking import masked, open_endpoint
from annotation.machine_judges.configuration import MASKED, Configuration, Prompter, check
from annotation.machine_judges.services import JudgeRefused, check_own, instructions_of
from annotation.machine_judges.shown import load_shown
from annotation.models import GuidelineRevision, MachineJudge, Pair
from annotation.models.machine_judges import make_salt
from judgments.models import Document, Query
from judgments.outgoing.client import Client, Limits
from judgments.permissions import Access, NotFound, check_may_lead

LONGEST_TIMEOUT: Final = 20.0  # seconds: a person and a web process wait
LARGEST: Final = 1024 * 1024  # bytes of an answer
SHOWN: Final = 20_000  # characters of a request and of an answer


@dataclass(frozen=True)
class Tried:
    """One pair. request: its lines, the secret masked. answer: the beginning of the body.

    grade: the label that would come of it; None for a failure. words, detail: what became of it.
    cost: in 10⁻¹⁰ of the currency.
    """

    qid: str
    docid: str
    request: str
    words: str
    grade: int | None
    status: int | None
    seconds: float
    detail: str
    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool
    cost: int
    answer: str
    is_cut: bool


def try_pair(
    *,
    access: Access,
    judge: MachineJudge | None,
    configuration: Configuration,
    guideline_revision: GuidelineRevision,
    secret: str,
    qid: str,
    docid: str,
) -> Tried:
    """Ask about one pair, once; for leads. Nothing is stored.

    judge: the one that is revised, None for a new one. secret: "" for the stored one. qid, docid:
    "" for the first pair of a campaign.
    Raises ConfigurationRefused, SecretRefused, JudgeRefused.
    """
    check_may_lead(access)
    if judge is not None:
        check_own(access, judge)
    if guideline_revision.guideline.collection_id != access.collection.pk:
        raise NotFound("guideline")
    check(configuration)
    query, document = _get_pair(access, qid, docid)
    loaded = load_shown(collection=access.collection, pairs=[(query.pk, document.pk)])
    if not loaded:
        raise JudgeRefused("no_text", "This query or this document has no text.")
    once = replace(configuration, attempts=1, timeout=min(configuration.timeout, LONGEST_TIMEOUT))
    prompter = Prompter(
        configuration=once,
        instructions=instructions_of(configuration, guideline_revision),
        salt=make_salt(),
        codes=[grade["code"] for grade in guideline_revision.grades],
    )
    ((shown, _),) = loaded.values()
    prompt = prompter.prompt(shown)
    with Client(limits=Limits(seconds=once.timeout, size=LARGEST, connections=1)) as client:
        endpoint = open_endpoint(
            judge=judge, prompter=prompter, client=client, stop=threading.Event(), secret=secret
        )
        (asked,), _ = endpoint.ask(prompt)
    body = masked(asked.body, endpoint.secret).decode("utf-8", "replace")
    detail = masked(asked.detail.encode(), endpoint.secret).decode()
    return Tried(
        qid=query.qid,
        docid=document.docid,
        request=_request_lines(once, prompt.body),
        words=WORDS[asked.outcome],
        grade=asked.grade if asked.outcome is Outcome.LABELLED else None,
        status=asked.status,
        seconds=asked.seconds,
        detail=detail,
        prompt_tokens=asked.prompt_tokens,
        completion_tokens=asked.completion_tokens,
        is_estimated=asked.is_estimated,
        cost=once.cost_of(
            prompt_tokens=asked.prompt_tokens, completion_tokens=asked.completion_tokens
        ),
        answer=body[:SHOWN],
        is_cut=len(body) > SHOWN,
    )


def _get_pair(access: Access, qid: str, docid: str) -> tuple[Query, Document]:
    """The pair that is named; what is not named comes from the first pair of a campaign."""
    own = access.collection
    if qid and docid:
        query = Query.objects.filter(collection=own, qid=qid).first()
        document = Document.objects.filter(collection=own, docid=docid).first()
        if query is None or document is None:
            raise JudgeRefused("no_pair", "This collection has no such query or document.")
        return query, document
    pairs_qs = Pair.objects.filter(campaign__list__collection=own, document__is_stub=False)
    if qid:
        pairs_qs = pairs_qs.filter(query__qid=qid)
    if docid:
        pairs_qs = pairs_qs.filter(document__docid=docid)
    pair = pairs_qs.select_related("query", "document").order_by("pk").first()
    if pair is None:
        message = "No campaign has such a pair. Enter the ids of a query and of a document."
        raise JudgeRefused("no_pair", message)
    return pair.query, pair.document


def _request_lines(configuration: Configuration, body: bytes) -> str:
    """The request as text, with the secret masked."""
    lines = [f"POST {configuration.url}", "Content-Type: application/json"]
    if configuration.secret_header:
        lines.append(f"{configuration.secret_header}: {MASKED}")
    shown = json.dumps(json.loads(body), ensure_ascii=False, indent=2).replace("\\n", "\n")
    return "\n".join([*lines, "", shown])[:SHOWN]
