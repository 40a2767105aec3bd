"""Labels that were given elsewhere become a campaign's, and final grades its decisions.

What is there already stays: the same file again changes nothing. Grades are concluded from these
labels as from any others, so versions, blame and the quality report know who said what.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.campaigns.services import (
    MAX_NAME_CHARACTERS,
    MAX_OVERLAP,
    add_annotators,
    create_campaign,
)
from annotation.consolidation.services import lock_list
from annotation.guidelines.services import create_guideline, get_newest_revision, has_grades_of
from annotation.imports.files import GivenLabels, Key, read_given_labels, read_names
from annotation.imports.label_writes import (
    ImportRefused,
    conclude_stock,
    store_labels,
    take_stock,
)
from annotation.models import (
    Adjudication,
    Assignment,
    Campaign,
    Guideline,
    Label,
    LabelTiming,
    Pair,
)
from annotation.permissions import check_may_run
from judgments.audit import services as audit
from judgments.collections.queries import map_documents, map_queries
from judgments.collections.services import ensure_documents, ensure_queries
from judgments.jobs.kinds import Work
from judgments.members.services import add_name
from judgments.models import (
    Collection,
    JudgmentList,
    JudgmentVersion,
    Membership,
    SideText,
    User,
)
from judgments.permissions import Access, NotFound, check_may_lead, get_access
from judgments.storage.bulk import analyse
from touchstone.files.errors import Problems
from touchstone.files.id_columns import IdColumn
from touchstone.scales import Scale


@dataclass(frozen=True)
class LabelsImported:
    """What importing labels did. version: the newest version that follows; None if none does.

    people: names by user name. corrected: labels that supersede another one of the same person.
    """

    campaign: Campaign
    version: JudgmentVersion | None
    people: Mapping[str, str]
    pairs: int
    labels: int
    corrected: int
    unchanged: int
    decided: int

    def counts(self) -> dict[str, int | None]:
        """As plain values."""
        return {
            "version": self.version.number if self.version else None,
            "people": len(self.people),
            "pairs": self.pairs,
            "new_labels": self.labels,
            "corrected_labels": self.corrected,
            "labels_that_were_there": self.unchanged,
            "decisions": self.decided,
        }

    def values(self) -> dict[str, Any]:
        """The counts, the campaign's id, and whom each user name stands for."""
        campaign = {"campaign": str(self.campaign.public_id)}
        return campaign | self.counts() | {"names": dict(self.people)}

    @property
    def is_new(self) -> bool:
        """Whether the file said anything that was not there yet."""
        return bool(self.labels or self.corrected or self.decided)


def import_labels(
    *,
    access: Access,
    judgment_list: JudgmentList,
    given: GivenLabels,
    campaign_name: str,
    names: Mapping[str, str],
    create: bool,
    seed: int,
    at: datetime,
) -> LabelsImported:
    """Take a file's labels into the list's campaign of this name, all or nothing; for leads.

    A campaign that is not there is made and is closed. Each name is the member that `names` maps
    it to, else the member of that user name, else someone new who can't sign in. A grade that is
    another than before is a correction. Final grades become the viewer's decisions. create:
    unknown queries and documents become stubs; without it they are refused.
    Raises FileRefused with lines, ImportRefused, CampaignRefused.
    """
    if judgment_list.collection_id != access.collection.pk:
        raise NotFound("list")
    check_may_lead(access)
    with transaction.atomic():
        lock_list(judgment_list.pk)
        keys = _map_keys(judgment_list, given, create=create)
        campaign, is_new = _campaign(
            access, judgment_list, given, name=campaign_name, seed=seed, at=at
        )
        check_may_run(access, campaign)
        people = _people(access, campaign, given.annotators, names, at)
        stock = take_stock(campaign=campaign, keys=keys, given=given)
        counts = store_labels(stock=stock, given=given, people=people, by=access.user, at=at)
        analyse(Pair, Assignment, Label, LabelTiming, Adjudication, SideText)
        version = conclude_stock(stock=stock, judgment_list=judgment_list, at=at)
        if is_new:
            _close(campaign, given, at)
        done = LabelsImported(
            campaign=campaign,
            version=version,
            people={user.username: name for name, user in people.items()},
            pairs=len(stock.pairs),
            labels=counts["new"],
            corrected=counts["corrected"],
            unchanged=counts["unchanged"],
            decided=counts["decided"],
        )
        audit.record_by(
            access,
            at,
            "campaign.labels_imported",
            campaign.name,
            after=done.counts() | {"file": given.name},
        )
    return done


def work_on_labels(work: Work) -> None:
    """The job kind `import_labels`. params: list (slug), campaign (name), names, create, seed."""
    collection = Collection.objects.get(pk=work.collection_id)
    judgment_list = JudgmentList.objects.select_related("collection").get(
        collection=collection, slug=work.params["list"]
    )
    viewer = User.objects.get(pk=work.created_by_id or 0)
    at = timezone.now()
    with work.open() as file:
        given = read_given_labels(
            file,
            name=work.file_name,
            scale=Scale.from_json(judgment_list.scale),
            at=at,
            progress=work.progress,
        )
    with transaction.atomic():
        done = import_labels(
            access=get_access(viewer=viewer, slug=collection.slug),
            judgment_list=judgment_list,
            given=given,
            campaign_name=str(work.params["campaign"]),
            names=read_names(str(work.params["names"])),
            create=bool(work.params["create"]),
            seed=int(work.params["seed"]),
            at=at,
        )
        next_page = ["campaign", collection.slug, str(done.campaign.public_id)]
        work.finish(done.values() | {"next_page": next_page})


def _map_keys(
    judgment_list: JudgmentList, given: GivenLabels, *, create: bool
) -> dict[Key, tuple[int, int]]:
    """The pks of each pair's query and document. Raises FileRefused with unknown ids' lines."""
    collection, lines = judgment_list.collection, given.lines()
    qids, docids = {key[0] for key in lines}, {key[1] for key in lines}
    queries = map_queries(collection=collection, qids=qids)
    documents = map_documents(collection=collection, docids=docids)
    if create:
        queries = ensure_queries(collection=collection, qids=qids)
        new = sorted(docids - documents.keys())
        keys = ensure_documents(collection=collection, docids=IdColumn.of(new))
        documents |= zip(new, keys.tolist(), strict=True)
    problems = Problems(given.name)
    for (qid, docid), line in lines.items():
        if qid not in queries:
            problems.add(line, "unknown-query", f"the collection has no query {qid}.")
        elif docid not in documents:
            problems.add(line, "unknown-document", f"the collection has no document {docid}.")
    problems.raise_if_any()
    return {key: (queries[key[0]], documents[key[1]]) for key in lines}


def _campaign(
    access: Access,
    judgment_list: JudgmentList,
    given: GivenLabels,
    *,
    name: str,
    seed: int,
    at: datetime,
) -> tuple[Campaign, bool]:
    """The list's campaign of this name, and whether it had to be made."""
    campaigns_qs = Campaign.objects.select_related("list__collection", "guideline")
    result = campaigns_qs.filter(list=judgment_list, name=name.strip()).first()
    if result is not None:
        if result.state == Campaign.State.DRAFT:
            raise ImportRefused(
                "campaign_draft", "The campaign with this name is still a draft. Open it first."
            )
        return result, False
    made = create_campaign(
        access=access,
        at=at,
        seed=seed,
        judgment_list=judgment_list,
        guideline=_guideline(access, judgment_list, at),
        name=name,
        overlap=min(given.fewest_of_pair, MAX_OVERLAP),
    )
    return made, True


def _guideline(access: Access, judgment_list: JudgmentList, at: datetime) -> Guideline:
    """What stands for the guideline that was followed elsewhere, which no one here knows."""
    name = f"Elsewhere: {judgment_list.name}"[:MAX_NAME_CHARACTERS]
    result = Guideline.objects.filter(collection=access.collection, name=name).first()
    if result and has_grades_of(get_newest_revision(result).grades, judgment_list):
        return result
    said = "As defined where the labels were made."
    return create_guideline(
        access=access,
        at=at,
        judgment_list=judgment_list,
        name=name,
        text="These labels were imported from a file. Their guideline is not known.",
        grades=[
            {"code": code, "definition": said}
            for code in Scale.from_json(judgment_list.scale).codes
        ],
    )


def _people(
    access: Access,
    campaign: Campaign,
    annotators: Iterable[str],
    names: Mapping[str, str],
    at: datetime,
) -> dict[str, User]:
    """Who each name of the file is; new names are added to the campaign."""
    members_qs = Membership.ever.filter(collection=access.collection).select_related("user")
    members = {membership.user.username: membership.user for membership in members_qs}
    people: dict[str, User] = {}
    for name in annotators:
        username = names.get(name, name)
        if name in names and username not in members:
            raise ImportRefused("no_member", f"{username} is not a member of this collection.")
        people[name] = members.get(username) or add_name(
            collection=access.collection, name=name, by=access.user, at=at
        )
    doubled = [name for name, times in Counter(user.pk for user in people.values()).items()
               if times > 1]  # fmt: skip
    if doubled:
        same = sorted(name for name, user in people.items() if user.pk == doubled[0])
        raise ImportRefused("same_person", f"{' and '.join(same)} are mapped to the same person.")
    here = set(campaign.annotators.values_list("user_id", flat=True))
    new = [user for user in people.values() if user.pk not in here]
    if new:
        add_annotators(access=access, campaign=campaign, people=new, at=at)
    return people


def _close(campaign: Campaign, given: GivenLabels, at: datetime) -> None:
    """A campaign that came in a file is over: from its first label to now."""
    first = min((label.made_at or at for label in given.labels), default=at)
    campaign.state, campaign.opened_at, campaign.closed_at = Campaign.State.CLOSED, first, at
    campaign.save(update_fields=["state", "opened_at", "closed_at"])
