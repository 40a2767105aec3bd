"""What the pages about a list's runs share."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse

register = template.Library()

VIEWS = (
    ("leaderboard", "Leaderboard", "Every run and its values"),
    ("compare", "Compare", "How large a difference is, how sure, and on which queries"),
    ("stability", "Stability", "The order among other queries and other labels"),
    ("judge-next", "Judge next", "The labels that could change the order"),
    ("list-rosetta", "Dialects", "What other tools mean by nDCG, and which runs change places"),
    ("leaderboard-segments", "Segments", "Where each run is strong, and where weak"),
)
OF_SETS = frozenset({"leaderboard", "compare", "stability", "judge-next"})


@register.inclusion_tag("evaluation/_views.html")
def views(
    slug: str,
    list_slug: str,
    current: str,
    *,
    version: int | None = None,
    is_head: bool = True,
    saved_set: str = "",
) -> dict[str, Any]:
    """The ways to look at a list's runs, each of the same version and saved set where it can be.

    What to judge next is a question about the newest version alone.
    """
    rows = []
    for name, label, title in VIEWS:
        asked = {}
        if saved_set and name in OF_SETS:
            asked["set"] = saved_set
        if version and not is_head and name != "judge-next":
            asked["version"] = str(version)
        address = reverse(name, args=[slug, list_slug])
        rows.append((f"{address}?{urlencode(asked)}" if asked else address, label, title, name))
    return {"rows": rows, "current": current}
