"""Opening and ending incidents, and telling people and receivers of them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from evaluation.canaries.words import WORDS
from evaluation.models import Canary, CanaryLook, DataSetCanary, DataSetLook, Incident
from judgments.messages.services import list_leads, notify
from judgments.models import Collection, User
from judgments.webhooks.services import publish_event
from touchstone.statistics.monitoring import Event, Finding, Watch, advance


def find_events(looks: Iterable[Mapping[str, str | None]], *, in_a_row: int) -> dict[str, Event]:
    """What the last look brings about, by kind. looks: the findings of all, in their order."""
    watches = dict.fromkeys(WORDS, Watch())
    events: dict[str, Event | None] = {}
    for look in looks:
        for kind in WORDS:
            found = look.get(kind)
            finding = None if found is None else Finding(found)
            watches[kind], events[kind] = advance(watches[kind], finding, in_a_row=in_a_row)
    return {kind: event for kind, event in events.items() if event is not None}


def record_event(
    event: Event,
    *,
    kind: str,
    canary: Canary | DataSetCanary,
    look: CanaryLook | DataSetLook,
    at: datetime,
) -> Incident:
    """Open an incident of this kind, or end the one that is open; looks as incidents name them."""
    is_live = isinstance(canary, Canary)
    own = {"canary" if is_live else "data_set_canary": canary, "kind": kind}
    suffix = "" if is_live else "_day"
    if event is Event.OPENED:
        return Incident.objects.create(**own, opened_at=at, **{f"opened_by{suffix}": look})
    incident = Incident.objects.get(**own, recovered_at=None)
    incident.recovered_at = at
    setattr(incident, f"recovered_by{suffix}", look)
    incident.save(update_fields=["recovered_at", f"recovered_by{suffix}"])
    return incident


def tell(
    event: Event,
    incident: Incident,
    *,
    collection: Collection,
    creator: User | None,
    payload: Mapping[str, str],
    page: tuple[str, *tuple[str, ...]],
    data: Mapping[str, Any],
    text: str,
    at: datetime,
) -> None:
    """Tell the collection's leads and the canary's creator, and the receivers of webhooks.

    payload: of the message, beside the collection, `what` and `words`. data: of the event, beside
    the incident, its kind and the text.
    """
    people = list_leads(collection)
    if creator is not None:
        people.append(creator)
    notify(
        kind="incident" if event is Event.OPENED else "recovered",
        key=f"{event}:{incident.pk}",
        people=people,
        payload={
            **payload,
            "collection": collection.name,
            "what": WORDS[incident.kind],
            "words": text,
        },
        page=page,
        collection=collection,
        at=at,
    )
    publish_event(
        event=f"incident.{event}",
        key=f"{event}:{incident.pk}",
        collection=collection,
        data={"incident": incident.pk, **data, "kind": incident.kind, "text": text},
        at=at,
    )
