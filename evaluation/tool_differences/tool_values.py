"""What every preset's tool would say of a stored run, computed from what is stored, and kept.

The run and the version are put back into the files that they would be exported as, and go the way
of `evaluate --preset`, so that the numbers agree with that command's to the last bit. Grades count
what the list says that they are worth, as on its leaderboard: where their codes are not their
values, that command, which is given codes, says something else.
"""

import hashlib
import io
from collections.abc import Sequence

import numpy as np

from evaluation.models import Ranking, Run, ToolValues
from judgments.collections.queries import list_document_ids, list_query_ids
from judgments.lists.queries import get_qrels
from judgments.models import JudgmentList
from touchstone.files.id_columns import IdColumn
from touchstone.files.trec import RunFile, read_qrels
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.packing import unpack_documents, unpack_scores
from touchstone.measures.presets import NDCG_PRESETS, PRESETS
from touchstone.measures.tool_differences import PresetMean, preset_measure
from touchstone.scales import Scale


def list_tool_values(
    *, runs: Sequence[Run], judgment_list: JudgmentList, version: int, cutoff: int
) -> dict[int, tuple[PresetMean, ...]]:
    """What each preset says of each run, by the run's pk; runs not yet computed are missing."""
    result = ToolValues.objects.filter(
        run__in=[run.pk for run in runs],
        version__list=judgment_list,
        version__number=version,
        cutoff=cutoff,
        definitions=definitions_digest(judgment_list, cutoff),
    ).order_by()
    return {run_id: from_json(means) for run_id, means in result.values_list("run", "means")}


def from_json(means: Sequence[tuple[str, float | None, int, str]]) -> tuple[PresetMean, ...]:
    """What is stored of a run."""
    return tuple(
        PresetMean(preset, None if mean is None else float(mean), queries, problem)
        for preset, mean, queries, problem in means
    )


def judged_at(judgment_list: JudgmentList, version: int) -> JudgedQueries | None:
    """A version's judgments as its file would be read; None where nothing is judged."""
    qrels = get_qrels(judgment_list=judgment_list, number=version)
    if not qrels:
        return None
    file = read_qrels(io.BytesIO(qrels), name=str(judgment_list))
    return JudgedQueries(file, values=_grade_values(judgment_list))


def run_file(run: Run) -> RunFile:
    """A stored run as its file would be read, its queries in the order in which it had them."""
    rows = Ranking.objects.filter(run=run).order_by("pk")
    query_pks, documents, scores = [], [], []
    for query_pk, packed, own in rows.values_list("query_id", "documents", "scores").iterator():
        query_pks.append(query_pk)
        documents.append(unpack_documents(bytes(packed)))
        scores.append(unpack_scores(bytes(own)))
    collection = run.ranker.collection
    qids = list_query_ids(collection=collection, pks=query_pks)
    lengths = [len(ranking) for ranking in documents]
    all_documents = np.concatenate([np.zeros(0, np.int32), *documents])
    distinct, codes = np.unique(all_documents, return_inverse=True)
    docids = list_document_ids(collection=collection, pks=distinct.tolist())
    ids = IdColumn.of([docids[pk] for pk in distinct.tolist()])
    return RunFile(
        name=run.name,
        query_ids=tuple(qids[pk] for pk in query_pks),
        starts=np.cumsum([0, *lengths], dtype=np.int64),
        ids=ids.at(codes),
        lines=np.arange(1, len(codes) + 1, dtype=np.int32),
        tag=run.tag,
        scores=np.concatenate([np.zeros(0), *scores]),
    )


def definitions_digest(judgment_list: JudgmentList, cutoff: int) -> str:
    """Another one as soon as a preset means something else, or is computed in another way."""
    measures = {name: preset_measure(chosen, cutoff) for name, chosen in NDCG_PRESETS.items()}
    parts = (
        *(f"{code}={value!r}" for code, value in _grade_values(judgment_list).items()),
        *(
            f"{name} {measure.name} {measure.revision} {PRESETS[name].mean} "
            f"{PRESETS[name].decimals}"
            for name, measure in measures.items()
        ),
    )
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _grade_values(judgment_list: JudgmentList) -> dict[int, float]:
    return {grade.code: grade.value for grade in Scale.from_json(judgment_list.scale).grades}
