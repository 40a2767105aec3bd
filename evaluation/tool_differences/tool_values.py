"""What every preset's tool would say of a stored run: computed on demand, then cached.

The run and the version are put back into the files that they would be exported as, and go the way
of `evaluate --preset`, so that the numbers agree with that command's to the last bit. Grades count
what the list says that they are worth, as on its leaderboard: where their codes are not their
values, that command, which is given codes, says something else.
"""

import hashlib
import io
from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluation.models import Ranking, Run
from judgments.collections.queries import list_document_ids, list_query_ids
from judgments.lists.queries import get_qrels
from judgments.models import JudgmentList
from judgments.storage.caches import read_many_cached, write_cached
from touchstone.files.id_columns import IdColumn
from touchstone.files.trec import RunFile, read_qrels
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.packing import unpack_documents, unpack_scores
from touchstone.measures.presets import NDCG_PRESETS, PRESETS
from touchstone.measures.tool_differences import PresetMean, preset_means, preset_measure
from touchstone.scales import Scale

KEPT: Final = 24 * 3600  # seconds
PATIENCE: Final = 500_000  # ranks that one request reads: two seconds or three
A_QUERY: Final = 6  # ranks that a judged query costs as much as, whatever a run says of it
MOST_RANKS: Final = 4_000_000  # of one run; a longer one is for the command line


def list_tool_values(
    *, runs: Sequence[Run], judgment_list: JudgmentList, version: int, cutoff: int
) -> dict[int, tuple[PresetMean, ...]]:
    """What each preset says of each run, by the run's pk.

    Runs that nobody has looked at yet are computed as far as the patience lasts, the first of
    them always; the others are missing, and so is a run that is too long for a page.
    Where nothing is judged at the version, nothing is known of any run.
    """
    names = {run.pk: _cache_name(run, judgment_list, version, cutoff) for run in runs}
    kept = read_many_cached(names.values(), tuple[PresetMean, ...])
    found = {pk: kept[name] for pk, name in names.items() if name in kept}
    missing = [run for run in runs if run.pk not in found and not is_too_long(run)]
    if not missing:
        return found
    qrels = get_qrels(judgment_list=judgment_list, number=version)
    if not qrels:
        return found
    file = read_qrels(io.BytesIO(qrels), name=str(judgment_list))
    judged = JudgedQueries(file, values=_grade_values(judgment_list))
    spent = 0
    for run in missing:
        cost = run.row_count + A_QUERY * len(file.query_ids)
        if spent and spent + cost > PATIENCE:
            break
        spent += cost
        found[run.pk] = preset_means(judged, run_file(run), cutoff)
        write_cached(names[run.pk], found[run.pk], KEPT)
    return found


def is_too_long(run: Run) -> bool:
    """Whether a page can't wait for this run."""
    return run.row_count > MOST_RANKS


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


def _grade_values(judgment_list: JudgmentList) -> dict[int, float]:
    return {grade.code: grade.value for grade in Scale.from_json(judgment_list.scale).grades}


def _cache_name(run: Run, judgment_list: JudgmentList, version: int, cutoff: int) -> str:
    """Another name as soon as a preset means something else, or is computed in another way."""
    measures = {name: preset_measure(chosen, cutoff) for name, chosen in NDCG_PRESETS.items()}
    parts = (
        str(run.public_id),
        str(judgment_list.pk),
        str(version),
        *(f"{code}={value!r}" for code, value in _grade_values(judgment_list).items()),
        *(
            f"{name} {measure.name} {measure.revision} {PRESETS[name].mean} "
            f"{PRESETS[name].decimals}"
            for name, measure in measures.items()
        ),
    )
    return "dialects:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
