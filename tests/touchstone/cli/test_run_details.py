"""Parameters of a run, as typed."""

from argparse import ArgumentTypeError

import pytest

from touchstone.cli.run_details import parameter_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k1=0.9", 0.9),
        ("depth=1000", 1000),
        ("stemmed=true", True),
        ("prf=null", None),
        ('lucene="9.10"', "9.10"),
        ("model=bm25", "bm25"),
        ("query=a=b", "a=b"),
        ("fields=[1]", "[1]"),
        ("low=NaN", "NaN"),
        ("empty=", ""),
    ],
)
def test_a_value_is_a_scalar(text: str, value: object) -> None:
    name, found = parameter_of(text)
    assert name == text.partition("=")[0]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["k1", "=0.9", " =1"])
def test_a_parameter_has_a_name(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="NAME=VALUE"):
        parameter_of(text)
