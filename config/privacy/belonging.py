"""Which rows belong to a collection: those from which foreign keys lead to it.

Read from the models, so that a new one can't be forgotten.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.apps import apps
from django.db.models import Field, Model, Q, QuerySet

from judgments.models import AuditEntry, Collection, SecondFactor

# stay, whatever they lead to: sealed facts, and what people sign in with
STAYS: Final[tuple[type[Model], ...]] = (AuditEntry, SecondFactor)


@dataclass(frozen=True)
class Belonging:
    """A model whose rows belong to collections.

    paths: lookups that lead to the collection; a row belongs to it where one of them does. depth:
    greater than that of every model on a path.
    """

    model: type[Model]
    paths: tuple[str, ...]
    depth: int

    def rows(self, collection: Collection) -> QuerySet[Any]:
        """The rows that belong to the collection."""
        return self.model._base_manager.filter(self.condition(collection))

    def condition(self, collection: Collection) -> Q:
        """The same, as a condition."""
        result = Q()
        for path in self.paths:
            result |= Q(**{path: collection})
        return result


@dataclass(frozen=True)
class Dependence:
    """A foreign key to rows of a collection that does not itself decide to what a row belongs."""

    model: type[Model]
    path: str


@cache
def belongings() -> Mapping[type[Model], Belonging]:
    """The models whose rows belong to collections, those that refer to others first.

    A required key decides, the shortest way; where there is none, any optional key does.
    """
    found: dict[type[Model], Belonging] = {}
    while True:
        before = len(found)
        for required in (True, False):
            for model in _models():
                if model not in found:
                    own = _of(model, found, required=required)
                    if own:
                        found[model] = own
            if len(found) > before:
                break  # what optional keys say counts only where required ones say nothing
        if len(found) == before:
            return dict(sorted(found.items(), key=lambda one: -one[1].depth))


@cache
def dependences() -> tuple[Dependence, ...]:
    """All other foreign keys to rows of collections: of one row, they must lead to the same one."""
    found = belongings()
    result = []
    for model in _models():
        decides = found[model].paths if model in found else ()
        for key, path, _ in _keys(model, found):
            if path not in decides and not (model is AuditEntry and key == "collection"):
                result.append(Dependence(model, path))
    return tuple(result)


def _models() -> list[type[Model]]:
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model is not Collection and model._meta.managed
    ]


def _of(
    model: type[Model], found: Mapping[type[Model], Belonging], *, required: bool
) -> Belonging | None:
    if model in STAYS:
        return None
    keys = [
        (path, depth)
        for name, path, depth in _keys(model, found)
        if model._meta.get_field(name).null is not required
    ]
    if not keys:
        return None
    if required:
        keys = [min(keys, key=lambda key: key[1])]
    return Belonging(model, tuple(path for path, _ in keys), max(depth for _, depth in keys) + 1)


def _keys(model: type[Model], found: Mapping[type[Model], Belonging]) -> list[tuple[str, str, int]]:
    """Name, lookup of the collection, and depth of each foreign key to rows of collections."""
    result = []
    for field in model._meta.concrete_fields:
        target = _target(field)
        if target is Collection:
            result.append((field.name, field.name, 0))
        elif target in found and target is not model:
            own = found[target]
            result += [(field.name, f"{field.name}__{path}", own.depth) for path in own.paths]
    return result


def _target(field: "Field[Any, Any]") -> Any:
    return field.related_model if field.remote_field else None
