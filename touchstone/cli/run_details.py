"""How a run was made, as a command's options say it: parameters, commit and tags."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from touchstone.cli.running import BadOptionError
from touchstone.client.run_texts import Scalar


def add_detail_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--param",
        dest="parameters",
        action="append",
        default=[],
        type=parameter_of,
        metavar="NAME=VALUE",
        help="parameter of the run, for example k1=0.9; repeatable. Numbers, true, false, null and "
        "quoted text are read as JSON (version='\"9.10\"'), anything else is text",
    )
    parser.add_argument("--commit", default="", help="commit of the code that produced the run")
    parser.add_argument(
        "--tag",
        dest="tags",
        action="append",
        default=[],
        metavar="TAG",
        help="tag of the run; repeatable",
    )


def add_order_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--order",
        choices=("score", "rank"),
        default="score",
        help="rank: order by the rank column instead of the scores (default: score). Files of "
        "three columns (query, document, rank) are always ordered by rank",
    )


def parameter_of(text: str) -> tuple[str, Scalar]:
    """A parameter's name and value, from NAME=VALUE. Raises ArgumentTypeError without a name."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    try:
        result = json.loads(value, parse_constant=str)  # NaN and Infinity are texts
    except (ValueError, RecursionError):
        return name.strip(), value
    return name.strip(), value if isinstance(result, list | dict) else result


def parameters_of(options: Mapping[str, Any]) -> dict[str, Scalar]:
    """The parameters. Raises BadOptionError for a name that appears twice."""
    result: dict[str, Scalar] = {}
    for name, value in options["parameters"]:
        if name in result:
            raise BadOptionError(f"the parameter {name} is given more than once")
        result[name] = value
    return result
