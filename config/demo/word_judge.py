"""The demo's machine judge: no language model, but rules about words, behind the same protocol.

It is weak and honest: it grades a document by the share of the question's words that it holds, rare
words weighing more, and says so. So the demo shows what a judge looks like that can't be trusted.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np

from annotation.guidelines.services import get_newest_revision
from annotation.machine_judges.campaigns import start_judging
from annotation.machine_judges.configuration import Configuration
from annotation.machine_judges.services import create_judge, revise_judge
from annotation.models import Campaign, MachineJudge
from config.demo.inverted_index import Postings
from config.demo.tokens import word_tokens
from config.demo.workspace import LIST, SLUG
from judgments.models import User
from judgments.permissions import get_access

NAME: Final = "Words in common (no language model)"
PATH: Final = "/v1/chat/completions"
# where grades 1, 2, 3 and 4 begin, as shares of the question's words
BOUNDS: Final = (0.3, 0.5, 0.7, 0.9)
RATE: Final = 60.0  # requests a second, so that the demo stays quick meanwhile


class Unreadable(ValueError):
    """No request about a pair."""


def complete(body: bytes, postings: Postings) -> dict[str, Any]:
    """The chat completion that answers a request about a pair. Raises Unreadable."""
    query, document = _parts(body)
    wanted, result = set(word_tokens(query)), set(word_tokens(document))
    share = _weight(wanted & result, postings) / (_weight(wanted, postings) or 1.0)
    grade = int(np.searchsorted(BOUNDS, share, side="right"))
    reason = f"Holds {len(wanted & result)} of {len(wanted)} words of the question."
    return {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": json.dumps({"reason": reason, "grade": grade}),
                },
            }
        ],
        "usage": {"prompt_tokens": len(body) // 4, "completion_tokens": 20},
    }


def _parts(body: bytes) -> tuple[str, str]:
    """The query, without its description, and the document of a request."""
    try:
        asked: Any = json.loads(body)
        messages: Sequence[Mapping[str, str]] = asked["messages"]
        message = messages[-1]["content"]
        query, _, rest = message.partition("</query ")
        document, _, _ = rest.partition("<document ")[2].rpartition("</document ")
        # the first line is what is left of the tag
        return query.split("\n")[1], document.split("\n", 1)[1]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise Unreadable("not a request about a pair") from error


def _weight(words: set[str], postings: Postings) -> float:
    """Inverse document frequencies, added."""
    size = len(postings.lengths)
    return sum(math.log(1 + size / (1 + len(postings.of(word)[0]))) for word in sorted(words))


def have_judge(url: str, *, at: datetime) -> None:
    """Have the machine judge at this server, and let it label the demo's campaign once."""
    lead = get_access(viewer=User.objects.get(username="lead"), slug=SLUG)
    campaign = (
        Campaign.objects.filter(list__collection=lead.collection, list__slug=LIST)
        .select_related("list__collection", "guideline")
        .earliest("pk")
    )
    configuration = Configuration(
        url=f"{url}{PATH}",
        model="words-in-common",
        parameters={},
        secret_header="",
        rate=RATE,
        at_once=4,
    )
    asked: dict[str, Any] = {
        "access": lead,
        "configuration": configuration,
        "guideline_revision": get_newest_revision(campaign.guideline),
        "secret": "",
        "at": at,
    }
    judge = MachineJudge.objects.filter(collection=lead.collection, name=NAME).first()
    if judge is not None:
        revise_judge(judge=judge, **asked)
        return
    judge = create_judge(name=NAME, **asked)
    start_judging(access=lead, judge=judge, campaign=campaign, at=at)
