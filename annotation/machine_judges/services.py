"""Making machine judges and their revisions; their secrets."""

from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction

from annotation.machine_judges.configuration import Configuration, ConfigurationRefused, check
from annotation.machine_judges.prompts import render_instructions
from annotation.models import GuidelineRevision, JudgeRevision, MachineJudge
from evaluation.public import parse_tags
from judgments.audit import services as audit
from judgments.outgoing.rules import find_origin
from judgments.permissions import Access, NotFound, check_may_lead
from judgments.secrets.holders import SecretFieldRefused, drop_secret, keep_secret
from touchstone.errors import DomainError

MAX_NAME_CHARACTERS: Final = 200
OFF: Final = (
    "This server makes no requests to other servers. An administrator allows the model’s endpoint "
    "by listing it in TOUCHSTONE_OUTGOING."
)


class JudgeRefused(DomainError):
    """The machine judge can't be made, changed or asked like this."""


def origin_of(configuration: Configuration) -> str:
    """Scheme, host and port that are asked. Raises ConfigurationRefused where not allowed."""
    if not settings.OUTGOING:
        raise ConfigurationRefused("url", OFF)
    try:
        return str(find_origin(configuration.url, settings.OUTGOING)[0])
    except ValueError as error:
        message = f"{str(error)[:1].upper()}{str(error)[1:]}. Ask an administrator to allow it."
        raise ConfigurationRefused("url", message) from error


def create_judge(
    *,
    access: Access,
    name: str,
    configuration: Configuration,
    guideline_revision: GuidelineRevision,
    secret: str,
    at: datetime,
) -> MachineJudge:
    """A machine judge with its first revision; for leads.

    Raises JudgeRefused for a name that is empty or taken, and what `revise_judge` does.
    """
    check_may_lead(access)
    name = " ".join(name.split())
    if not 0 < len(name) <= MAX_NAME_CHARACTERS:
        raise JudgeRefused("name_invalid", f"A name has 1 to {MAX_NAME_CHARACTERS} characters.")
    try:
        with transaction.atomic():
            judge = MachineJudge.objects.create(
                collection=access.collection, name=name, created_at=at, created_by=access.user
            )
            audit.record_by(access, at, "judge.created", name)
            revise_judge(
                access=access,
                judge=judge,
                configuration=configuration,
                guideline_revision=guideline_revision,
                secret=secret,
                at=at,
            )
    except IntegrityError as error:
        if not MachineJudge.objects.filter(collection=access.collection, name=name).exists():
            raise
        raise JudgeRefused("name_taken", f"The machine judge {name} already exists.") from error
    return judge


def revise_judge(
    *,
    access: Access,
    judge: MachineJudge,
    configuration: Configuration,
    guideline_revision: GuidelineRevision,
    secret: str,
    at: datetime,
) -> JudgeRevision:
    """Make the next revision of a machine judge; for leads.

    secret: a new one; "" keeps the stored one. The same again is no new revision.
    Raises ConfigurationRefused, and SecretRefused where no secret can be stored.
    """
    check_may_lead(access)
    check_own(access, judge)
    if guideline_revision.guideline.collection_id != access.collection.pk:
        raise NotFound("guideline")
    check(configuration)
    origin = origin_of(configuration)
    instructions = instructions_of(configuration, guideline_revision)
    with transaction.atomic():
        locked = MachineJudge.objects.select_for_update(no_key=True).get(pk=judge.pk)
        _keep_secret(access, locked, configuration, secret=secret, origin=origin, at=at)
        last = locked.revisions.order_by("-number").first()
        if last and _is_same(last, configuration, guideline_revision, instructions):
            return last
        revision = JudgeRevision.objects.create(
            judge=locked,
            number=last.number + 1 if last else 1,
            guideline_revision=guideline_revision,
            configuration=configuration.to_json(),
            instructions=instructions,
            created_at=at,
            created_by=access.user,
        )
        audit.record_by(
            access,
            at,
            "judge.revised",
            judge.name,
            after={"revision": revision.number, "server": origin, "model": configuration.model},
        )
    return revision


def _is_same(
    last: JudgeRevision,
    configuration: Configuration,
    guideline_revision: GuidelineRevision,
    instructions: str,
) -> bool:
    """Whether a revision says this already; fields that it was made before have their defaults."""
    own = (guideline_revision.pk, instructions, configuration)
    stored = Configuration.from_json(last.configuration)
    return own == (last.guideline_revision_id, last.instructions, stored)


def instructions_of(configuration: Configuration, revision: GuidelineRevision) -> str:
    """What a judge is told of how to grade."""
    return render_instructions(
        template=configuration.template,
        guideline=revision.text,
        grades=revision.grades,
        gives_reason=configuration.gives_reason,
    )


def _keep_secret(
    access: Access,
    judge: MachineJudge,
    configuration: Configuration,
    *,
    secret: str,
    origin: str,
    at: datetime,
) -> None:
    try:
        is_new = keep_secret(
            holder=judge,
            header=configuration.secret_header,
            value=secret,
            origin=origin,
            access=access,
            at=at,
        )
    except SecretFieldRefused as error:
        raise ConfigurationRefused(error.field, error.message) from error
    if is_new:
        audit.record_by(access, at, "judge.secret_stored", judge.name, after={"server": origin})


def remove_secret(*, access: Access, judge: MachineJudge, at: datetime) -> None:
    """Erase the stored secret; for leads."""
    check_may_lead(access)
    check_own(access, judge)
    with transaction.atomic():
        if not drop_secret(judge):
            raise JudgeRefused("no_secret", "There is no stored secret.")
        audit.record_by(access, at, "judge.secret_removed", judge.name)


def choose_family(*, access: Access, judge: MachineJudge, family: str, at: datetime) -> None:
    """Say which rankers are built on models of the judge's family, by their tag; for leads.

    family: "" for none. Raises JudgeRefused for more than one tag, and what `parse_tags` does.
    """
    check_may_lead(access)
    check_own(access, judge)
    tags = parse_tags(family)
    if len(tags) > 1:
        raise JudgeRefused("one_family", "One tag only.")
    chosen = "".join(tags)
    if chosen == judge.family:
        return
    with transaction.atomic():
        audit.record_by(
            access,
            at,
            "judge.family_chosen",
            judge.name,
            before={"family": judge.family},
            after={"family": chosen},
        )
        judge.family = chosen
        judge.save(update_fields=["family"])


def check_own(access: Access, judge: MachineJudge) -> None:
    """Raises NotFound for a judge of another collection."""
    if judge.collection_id != access.collection.pk:
        raise NotFound("machine judge")
