"""Serializers made from frozen dataclasses, so that an answer's fields are said once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from inspect import getdoc
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from rest_framework import serializers
from rest_framework.fields import Field

PLAIN: Final[Mapping[Any, type["Field[Any, Any, Any, Any]"]]] = {
    bool: serializers.BooleanField,
    datetime: serializers.DateTimeField,
    float: serializers.FloatField,
    int: serializers.IntegerField,
    object: serializers.JSONField,
    str: serializers.CharField,
    UUID: serializers.UUIDField,
}


class AnswerSerializer(serializers.Serializer[Any]):
    """The fields of `answer`, a frozen dataclass, and those that a subclass declares.

    A declared field replaces the dataclass's of the same name. Fields with the metadata `ON_PAGES`
    are left out. The description is the subclass's docstring, else the dataclass's as far as its
    paragraph "On pages".
    Raises TypeError for a field of a type that has no place in JSON.
    """

    answer: ClassVar[type]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.__doc__ = cls.__doc__ or (getdoc(cls.answer) or "").partition("\n\nOn pages")[0]

    def get_fields(self) -> "dict[str, Field[Any, Any, Any, Any]]":
        """The serializer's fields by name, in the dataclass's order."""
        declared = super().get_fields()
        hints = get_type_hints(self.answer)
        own = [one.name for one in fields(self.answer) if one.metadata.get("rest", True)]
        made = {name: _field_of(hints[name]) for name in own if name not in declared}
        return {name: (made | declared)[name] for name in dict.fromkeys([*own, *declared])}


class WordsField(serializers.CharField):
    """What a function says of the whole answer, as pages say it by a filter."""

    def __init__(self, words: Callable[[Any], str], **more: Any) -> None:
        super().__init__(source="*", **more)
        self.words = words

    def to_representation(self, value: Any) -> str:
        """The words about an answer."""
        return self.words(value)


@cache
def serializer_of(answer: type) -> type[AnswerSerializer]:
    """The serializer of a dataclass that needs no declared field, named after it."""
    name = f"{answer.__name__}Output"
    return type(name, (AnswerSerializer,), {"answer": answer, "__module__": answer.__module__})


def _field_of(hint: Any, **more: Any) -> "Field[Any, Any, Any, Any]":
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not NoneType)
        more["allow_null"] = True
    kind, own = get_origin(hint) or hint, get_args(hint)
    if kind is Literal:
        return serializers.CharField(**more)
    if issubclass(kind, Sequence) and own:
        item = own[0]
        if hasattr(item, "__dataclass_fields__"):
            return serializer_of(item)(many=True, **more)
        return serializers.ListField(child=_field_of(item), **more)
    if issubclass(kind, Mapping):
        return serializers.DictField(child=_field_of(own[1]), **more)
    if hasattr(kind, "__dataclass_fields__"):
        return serializer_of(kind)(**more)
    if kind not in PLAIN:
        raise TypeError(f"{hint} has no place in JSON")
    return PLAIN[kind](**more)
