"""When a campaign acts on what its checks say about somebody.

A rule holds when it is beyond doubt that a person is right too rarely: when even the upper end of
the Wilson interval (95 %) of their share of right answers lies below the rule's threshold. So a
careful person who errs twice is left alone, and somebody who guesses is noticed soon.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from annotation.checks import Accuracy, accuracy

WINDOW: Final = 20  # the newest checks that a rule looks at


@dataclass(frozen=True)
class Rule:
    """What follows when somebody is right less often than `below_percent`.

    at_least: how many checks there must have been since it last followed.
    """

    action: str
    below_percent: int
    at_least: int


def broken(rule: Rule, errors: Sequence[int]) -> Accuracy | None:
    """What shows that a rule has to act: the accuracy that is too low beyond doubt; else None.

    errors: the person's since the rule last acted on them, oldest first.
    """
    if len(errors) < rule.at_least:
        return None
    found = accuracy(errors[-WINDOW:])
    if found is None or found.exact_interval[1] >= rule.below_percent / 100:
        return None
    return found


def due_actions(
    rules: Iterable[Rule], errors: Mapping[str, Sequence[int]]
) -> list[tuple[Rule, Accuracy]]:
    """The rules that have to act now. errors: by action, each since that action was last taken."""
    found = ((rule, broken(rule, errors[rule.action])) for rule in rules)
    return [(rule, shown) for rule, shown in found if shown is not None]
