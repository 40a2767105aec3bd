"""When a campaign acts on an annotator's checks.

A rule holds when it is beyond doubt that a person is right too rarely: when even the upper end of
the Wilson interval (95 %) of their share of right answers lies below the rule's threshold. So a
careful person who errs twice is left alone, and someone who guesses is noticed soon.

No one checks a person who is paused, so a rule that waits for more checks would never act on them.
For them the rule that sets labels aside goes by what is known: by the share of right answers
itself. Whose labels are set aside is paused as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from annotation.gold.accuracy import Accuracy, accuracy

WINDOW: Final = 20  # the newest checks that a rule looks at
PAUSE: Final = "pause"
SET_ASIDE: Final = "requeue"


@dataclass(frozen=True)
class Rule:
    """The action on an annotator whose accuracy is below `below_percent`.

    at_least: how many checks there must have been since it last followed.
    """

    action: str
    below_percent: int
    at_least: int


def broken(rule: Rule, errors: Sequence[int], *, beyond_doubt: bool = True) -> Accuracy | None:
    """What shows that a rule has to act: the accuracy that is too low; else None.

    errors: the person's since the rule last acted on them, oldest first. beyond_doubt: the whole
    interval has to lie below the threshold, not the share alone.
    """
    if len(errors) < rule.at_least:
        return None
    result = accuracy(errors[-WINDOW:])
    if result is None:
        return None
    share = result.exact_interval[1] if beyond_doubt else result.exact_share
    return None if share >= rule.below_percent / 100 else result


def due_actions(
    rules: Iterable[Rule], errors: Mapping[str, Sequence[int]], *, is_paused: bool = False
) -> list[tuple[Rule, Accuracy]]:
    """The rules that have to act now, the mildest first.

    errors: by action, each since that action was last taken.
    """
    due: list[tuple[Rule, Accuracy]] = []
    for rule in rules:
        if rule.action == PAUSE and is_paused:
            continue
        beyond_doubt = rule.action != SET_ASIDE or not is_paused
        shown = broken(rule, errors[rule.action], beyond_doubt=beyond_doubt)
        if shown is None:
            continue
        if rule.action == SET_ASIDE and not is_paused:
            due.append((replace(rule, action=PAUSE), shown))
        due.append((rule, shown))
        is_paused = is_paused or rule.action == PAUSE
    return due


def check_consistent(rules: Iterable[Rule]) -> None:
    """Raises ValueError where labels are set aside of someone who is not even to be paused."""
    below = {rule.action: rule.below_percent for rule in rules}
    if below.get(SET_ASIDE, 0) > below.get(PAUSE, 100):
        raise ValueError(
            "The threshold for setting labels aside can’t be above the threshold for pausing."
        )
