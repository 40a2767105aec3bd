"""The verdict of a gate: what it prints, and how its process ends."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Final, Literal, get_args
from xml.sax.saxutils import quoteattr

from touchstone.client.errors import ClientUsageError, ServerUnavailableError

PASS, WORSE, INCONCLUSIVE = 0, 1, 3  # 2 is misuse or a bad file, 4 no answer

Format = Literal["md", "junit", "json"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
EQUAL: Final[dict[str, Any]] = {
    "verdict": "no worse",
    "difference": 0.0,
    "ci": [0.0, 0.0],
    "mdd": None,
    "needed": None,
}
SIGNS: Final = {"better": "✅", "no worse": "✅", "worse": "❌", "inconclusive": "⚠️"}


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """A run held against a baseline by one measure at one judgment version.

    list: as collection/list. margin: how much worse the run may be. level: of the interval.
    verdict: "better", "no worse", "worse" or "inconclusive". difference: the mean of run minus
    baseline over n queries; ci: its interval. mdd: the minimum detectable difference (80 % power).
    needed: where it is inconclusive, how many queries would probably decide. None where unknown.
    """

    list: str
    run: str
    baseline: str
    measure: str
    margin: float
    level: float
    version: int
    verdict: str
    difference: float | None
    ci: tuple[float, float] | None
    n: int
    mdd: float | None
    needed: int | None

    @property
    def is_worse(self) -> bool:
        return self.verdict == "worse"

    def exit_status(self, *, strict: bool = False) -> int:
        """0 pass, 1 worse, 3 inconclusive where that is not let pass."""
        if self.is_worse:
            return WORSE
        return INCONCLUSIVE if strict and self.verdict == "inconclusive" else PASS

    @property
    def sentence(self) -> str:
        """The result in one line."""
        low, high = self.ci or (None, None)
        text = (
            f"{self.verdict}: {self.run} minus {self.baseline} is {_number(self.difference)} "
            f"{self.measure} [{_number(low)}, {_number(high)}] over {self.n:,} queries, "
            f"margin {self.margin:g}, judgments version {self.version}"
        )
        return f"{text}; {self.needed:,} queries would probably decide" if self.needed else text


def gate_result(answer: Mapping[str, Any], *, list_name: str) -> GateResult:
    """What the server's comparison of one run with a baseline says.

    Raises ClientUsageError where the list has no judgments, ServerUnavailableError for an answer of
    another form.
    """
    try:
        if answer["baseline"] is None or answer["version"] == 0:
            raise ClientUsageError(f"{list_name} has no judgments yet")
        baseline = answer["baseline"]
        # none where both names mean one run, as where a build's content is the baseline's
        own = next(iter(answer["comparisons"]), EQUAL | {"run": baseline, "n": baseline["n"]})
        low, high = own["ci"]
        return GateResult(
            list=list_name,
            run=own["run"]["name"],
            baseline=baseline["name"],
            measure=answer["measure"],
            margin=answer["margin"],
            level=answer["level"],
            version=answer["version"],
            verdict=own["verdict"],
            difference=own["difference"],
            ci=None if low is None or high is None else (low, high),
            n=own["n"],
            mdd=own["mdd"],
            needed=own["needed"],
        )
    except (KeyError, TypeError, ValueError) as error:
        message = f"the server's comparison is of another form than this client knows: {error!r}"
        raise ServerUnavailableError(message) from None


def summary(result: GateResult, form: Format, *, strict: bool = False) -> str:
    """The result as Markdown, as a JUnit report, or as one JSON object."""
    if form == "json":
        return json.dumps(asdict(result), ensure_ascii=False)
    return _markdown(result) if form == "md" else _junit(result, strict=strict)


def _markdown(result: GateResult) -> str:
    low, high = result.ci or (None, None)
    cells = {
        "run": f"`{_cell(result.run)}`",
        "baseline": f"`{_cell(result.baseline)}`",
        "difference": _number(result.difference),
        f"{result.level:.0%} interval": f"[{_number(low)}, {_number(high)}]",
        "margin": f"{result.margin:g}",
        "queries": f"{result.n:,}",
        "min. detectable": _number(result.mdd).lstrip("+"),
    }
    lines = [
        f"### {SIGNS.get(result.verdict, '')} {_cell(result.measure)}: {result.verdict}",
        "",
        f"| {' | '.join(cells)} |",
        f"|{'---|' * len(cells)}",
        f"| {' | '.join(cells.values())} |",
        "",
        f"Judgments: {_cell(result.list)}, version {result.version}.",
    ]
    if result.needed:
        lines.append(f"About {result.needed:,} queries would decide.")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A name inside a table of Markdown, where it starts neither a cell nor markup."""
    return escape(text, quote=False).replace("|", "\\|").replace("`", "'").replace("\n", " ")


def _junit(result: GateResult, *, strict: bool) -> str:
    status = result.exit_status(strict=strict)
    sentence = quoteattr(result.sentence)
    inner = ""
    if status != PASS:
        inner = f"<failure type={quoteattr(result.verdict)} message={sentence}/>"
    elif result.verdict == "inconclusive":
        inner = f"<skipped message={sentence}/>"
    name = quoteattr(f"{result.measure}: {result.run} against {result.baseline}")
    skipped = int(inner.startswith("<skipped"))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="touchstone gate" tests="1" failures="{int(status != PASS)}" errors="0" '
        f'skipped="{skipped}">\n'
        f"  <testcase classname={quoteattr(result.list)} name={name}>{inner}</testcase>\n"
        "</testsuite>\n"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}"
