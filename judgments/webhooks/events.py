"""The types of event that webhooks get; a function of plain values."""

from collections.abc import Mapping
from typing import Final

TEST: Final = "webhook.test"
# what an endpoint can choose, with what makes it
EVENTS: Final[Mapping[str, str]] = {
    "release.created": "A version of a judgment list was released.",
    "run.evaluated": "A run was evaluated for the first time on a list.",
    "incident.opened": (
        "A canary found a regression, a broken rule, lower coverage, slow responses or an outage."
    ),
    "incident.recovered": "An incident of a canary is over.",
    "campaign.closed": "A campaign was closed.",
    "gate.failed": "A regression gate found a run worse than its baseline.",
}
