"""`touchstone.Client`: push runs, wait for their values, read and compare them."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote

from touchstone.client.connection import Connection
from touchstone.client.credentials import find_credentials
from touchstone.client.errors import ClientUsageError, RequestRefusedError, ServerUnavailableError
from touchstone.client.frames import Kind, as_frame
from touchstone.client.gate import GateResult, gate_result
from touchstone.client.run_texts import Scalar, name_in, run_form
from touchstone.slugs import short_name

TIMEOUT: Final = 60.0  # seconds that one answer may take
PATIENCE: Final = 600.0  # seconds for a run's values
AT_ONCE: Final = 60  # the most seconds that the server holds one request
PAUSE: Final = 1.0  # seconds between two such requests
HEAD: Final = "head"

# the columns of frames
QUERIES: Final = ("query_id", "text", "description", "segment", "weight")
BOARD: Final = (
    *("ranker", "run", "id", "measure", "mean", "standard_error", "low", "high", "n", "judged"),
    "version",
)
VALUES: Final = ("run", "query_id", "measure", "value")
COMPARED: Final = (
    *("run", "baseline", "measure", "version", "n", "difference", "low", "high", "verdict"),
    "mdd",
)

Names = Iterable[str] | str  # one text may hold several, with commas between


@dataclass(frozen=True, kw_only=True)
class PushedRun:
    """A run as the server has it. path: collection/ranker/id, as `wait` takes it.

    name: the one that it has, which is an earlier one where the content was there already: then
    is_new is false, the name asked for is an alias, and note says so. queries, rows: how many it
    answers and has. remarks: what else is worth knowing of the file, such as tied scores.
    """

    path: str
    id: str
    name: str
    queries: int
    rows: int
    is_new: bool
    note: str
    remarks: tuple[str, ...]


class Client:
    """A Touchstone server.

    url, token: else `TOUCHSTONE_URL` and `TOUCHSTONE_TOKEN`, else what `touchstone login` saved.
    timeout: seconds that one answer may take. frames: "pandas", "polars", or "rows" for lists of
    dicts; without it, the first of these that is installed.
    Raises ClientUsageError where no server is named. Every method raises RequestRefusedError for
    what the server refuses, ServerUnavailableError where it does not answer, and ClientUsageError
    for a name of another form.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT,
        frames: Kind | None = None,
    ) -> None:
        credentials = find_credentials(url, token)
        self.url = credentials.url
        self._connection = Connection(credentials, timeout=timeout)
        self._frames = frames

    def push(
        self,
        ranker: str,
        run: Any,
        *,
        name: str | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        commit: str = "",
        tags: Names = (),
        order: Literal["score", "rank"] = "score",
        create: bool = False,
        wait: bool = True,
        patience: float = PATIENCE,
    ) -> PushedRun:
        """Upload a run, whole or not at all; the same content again is the same run.

        ranker: as collection/ranker; it is registered if it is not there, under the short name that
        its name makes ("BM25_tuned": bm25-tuned). run: the path of a TREC file, {query: {document:
        score}}, a ranx Run, or a frame of pandas or polars as PyTerrier and ir_measures have them.
        name: of the run; else as its file or its ranker is called.
        order: "rank" lets the rank column of a file decide instead of its scores.
        parameters, commit, tags: how the run was made, which its page and REST show.
        create: unknown queries and documents become stubs instead of being refused.
        wait: until its values are there, `patience` seconds at most.
        Raises ClientUsageError for what is no run.
        """
        collection, ranker_name = two_names(ranker, "COLLECTION/RANKER")
        slug = short_name(ranker_name)
        if not slug:
            raise ClientUsageError(f"{ranker_name!r} has no letters a-z or digits for a short name")
        fields = {"create": str(create).lower(), "commit": commit, "tags": _commas(tags)}
        fields["order"] = order
        if parameters:
            fields["parameters"] = json.dumps(dict(parameters), ensure_ascii=False)
        if own_name := name or name_in(run):
            fields["name"] = own_name
        with run_form(run, tag=slug, fields=fields) as form:
            self._register(collection, slug, ranker_name)
            runs = _path("collections", collection, "rankers", slug, "runs", "")
            answer = self._connection.post(runs, form)
        pushed = _pushed(collection, answer.data, is_new=answer.status == 201)
        if wait:
            self.wait(pushed.path, patience=patience)
        return pushed

    def wait(self, run: str, *, patience: float = PATIENCE) -> None:
        """Wait until a run's values are of the newest judgments of every list.

        run: as collection/ranker/id, which `PushedRun.path` is. patience: seconds.
        Raises ServerUnavailableError when the time is over, RequestRefusedError where no values
        will come: the run is withdrawn, or can't be evaluated.
        """
        collection, ranker, run_id = _parts(run, 3, "COLLECTION/RANKER/ID")
        path = _path("collections", collection, "rankers", ranker, "runs", run_id)
        end = time.monotonic() + patience
        while True:
            seconds = max(0, min(AT_ONCE, int(end - time.monotonic())))
            result = self._connection.get(path, {"wait": seconds}, patience=seconds)
            if result["state"] == "evaluated":
                return
            if result["state"] != "waiting":
                raise RequestRefusedError(422, result["state"], _why_not(run, result))
            if time.monotonic() + PAUSE > end:
                message = f"{run} was not evaluated within {patience:g} s; is a worker running?"
                raise ServerUnavailableError(message)
            # where many wait already, a server answers at once
            time.sleep(PAUSE)

    def count_collections(self) -> int:
        """How many collections the token opens."""
        return sum(1 for _ in self._connection.get_all("collections/"))

    def queries(self, collection: str) -> Any:
        """A frame of a collection's queries: query_id, text, description, segment, weight."""
        rows = self._connection.get_all(_path("collections", collection, "queries", ""))
        return as_frame(list(rows), QUERIES, self._frames)

    def leaderboard(
        self, list_name: str, measures: Names = (), *, version: str | int = HEAD
    ) -> Any:
        """A frame with a line for each run and measure, best runs first.

        list_name: as collection/list. measures: names; without them, those that the list shows.
        low, high: the 95 % interval of the mean over n queries.
        """
        result = self.get_leaderboard(list_name, measures, version=version)
        rows = [
            {**run, **value, "measure": measure}
            for run in result["runs"]
            for measure, value in run["values"].items()
        ]
        return as_frame(rows, BOARD, self._frames)

    def get_leaderboard(
        self, list_name: str, measures: Names = (), *, version: str | int = HEAD
    ) -> dict[str, Any]:
        """The leaderboard as the server answers."""
        asked = {"measures": _commas(measures), "version": version}
        return self._of_list(list_name, "leaderboard", asked)

    def per_query(
        self,
        list_name: str,
        measures: Names = (),
        *,
        runs: Names = (),
        version: str | int = HEAD,
    ) -> Any:
        """A frame with a line for each run, judged query and measure, in one request.

        runs: names as ranker/run, a ranker for its newest run, or ids; without them, the newest of
        every ranker. value: None where the query is not in the measure's mean.
        """
        result = self.get_values(list_name, measures, runs=runs, version=version)
        return as_frame(result["results"], VALUES, self._frames)

    def get_values(
        self,
        list_name: str,
        measures: Names = (),
        *,
        runs: Names = (),
        version: str | int = HEAD,
    ) -> dict[str, Any]:
        """The per-query values as the server answers."""
        asked = {"measures": _commas(measures), "runs": _commas(runs), "version": version}
        return self._of_list(list_name, "values", asked)

    def compare(
        self,
        list_name: str,
        runs: Names,
        *,
        baseline: str,
        measure: str,
        margin: float = 0.0,
        level: float = 0.95,
        version: str | int = HEAD,
    ) -> Any:
        """A frame with a line for each run: its mean difference to the baseline, and the verdict.

        margin: how much worse a run may be, in the measure's units. low, high: Student's paired
        interval at the level. mdd: the minimum detectable difference (80 % power).
        """
        asked: dict[str, object] = {"baseline": baseline, "measure": measure, "version": version}
        asked |= {"runs": f"{baseline},{_commas(runs)}", "margin": margin, "level": level}
        result = self._of_list(list_name, "compare", asked)
        return as_frame(list(_compared_rows(result)), COMPARED, self._frames)

    def gate(
        self,
        list_name: str,
        *,
        run: str,
        baseline: str,
        measure: str,
        max_drop: float,
        level: float = 0.95,
        version: str | int = HEAD,
    ) -> GateResult:
        """Whether a run is worse than a baseline by more than `max_drop`, on the same judgments.

        run, baseline: as ranker/run, a ranker for its newest run, or an id.
        """
        asked: dict[str, object] = {"baseline": baseline, "measure": measure, "version": version}
        asked |= {"margin": max_drop, "level": level}
        found = self._of_list(list_name, "compare", asked | {"runs": f"{baseline},{run}"})
        result = gate_result(found, list_name=list_name)
        if result.is_worse:
            self._report_gate(list_name, asked | {"run": run})
        return result

    def _report_gate(self, list_name: str, asked: Mapping[str, object]) -> None:
        """Have the server tell its webhooks; a token that only reads can't, and the gate stands."""
        collection, slug = two_names(list_name, "COLLECTION/LIST")
        with suppress(RequestRefusedError, ServerUnavailableError):
            self._connection.post_json(
                _path("collections", collection, "lists", slug, "gates"), asked
            )

    def _of_list(self, name: str, resource: str, asked: Mapping[str, object]) -> dict[str, Any]:
        collection, slug = two_names(name, "COLLECTION/LIST")
        path = _path("collections", collection, "lists", slug, resource)
        result: dict[str, Any] = self._connection.get(path, asked)
        return result

    def _register(self, collection: str, slug: str, name: str) -> None:
        """Have a ranker of this short name; a new one is called `name`."""
        rankers = _path("collections", collection, "rankers", "")
        try:
            self._connection.get(f"{rankers}{quote(slug, safe='')}")
        except RequestRefusedError as error:
            if error.status != 404:
                raise
        else:
            return
        try:
            self._connection.post_json(rankers, {"slug": slug, "name": name})
        except RequestRefusedError as error:
            if error.status != 404:
                raise
            message = f"there is no collection {collection!r} that this token may upload runs to"
            raise RequestRefusedError(404, error.code, message) from None


def _why_not(run: str, result: Mapping[str, Any]) -> str:
    problems = [f"{one['list']}: {one['problem']}" for one in result["lists"] if one["problem"]]
    return "\n".join((f"{run} is {result['state']}", *problems))


def two_names(text: str, form: str) -> tuple[str, str]:
    """The parts of a name with a slash. Raises ClientUsageError, with `form`, for any other."""
    first, second = _parts(text, 2, form)
    return first, second


def _parts(text: str, count: int, form: str) -> list[str]:
    parts = text.split("/")
    if len(parts) != count or not all(parts):
        raise ClientUsageError(f"{text!r} is not of the form {form}")
    return parts


def _path(*parts: str) -> str:
    return "/".join(quote(part, safe="") for part in parts)


def _commas(names: Names) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _pushed(collection: str, result: Mapping[str, Any], *, is_new: bool) -> PushedRun:
    return PushedRun(
        path=f"{collection}/{result['ranker']}/{result['id']}",
        id=result["id"],
        name=result["name"],
        queries=result["queries"],
        rows=result["rows"],
        is_new=is_new,
        note=result["note"],
        remarks=tuple(result.get("remarks", ())),  # which an older server does not send,
    )


def _compared_rows(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for own in result["comparisons"]:
        low, high = own["ci"]
        names = {"run": own["run"]["name"], "baseline": result["baseline"]["name"]}
        shared = {"measure": result["measure"], "version": result["version"]}
        yield own | names | shared | {"low": low, "high": high}
