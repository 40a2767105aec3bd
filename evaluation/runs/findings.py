"""What is worth knowing of a run file beside its values: how it was read, ties, missing texts."""

from dataclasses import dataclass
from typing import Literal

from judgments.collections.queries import count_stubs
from judgments.models import Collection
from touchstone.files.trec import RunFile, count_ties

OrderedBy = Literal["score", "rank"]


@dataclass(frozen=True, kw_only=True)
class FileFindings:
    """Of a run file that was taken.

    ordered_by: what its rankings are in the order of. tied_rows: lines that share that with another
    of their query. tied_queries: in how many queries. without_text: of its documents, those of
    which the collection knows the id alone.
    """

    ordered_by: OrderedBy
    has_scores: bool
    tied_rows: int
    tied_queries: int
    without_text: int

    @property
    def read_as(self) -> str:
        """The format that was recognised, and by what."""
        if not self.has_scores:
            return "a ranking without scores (three columns: query document rank), ordered by rank"
        return (
            "a TREC run (six columns: query Q0 document rank score tag), ordered by "
            f"{self.ordered_by}"
        )

    @property
    def remarks(self) -> list[str]:
        """What its uploader may not expect, a sentence each."""
        result = []
        if self.ordered_by == "rank":
            result.append(f"Read as {self.read_as}.")
        if self.tied_rows:
            lines = "1 query" if self.tied_queries == 1 else f"{self.tied_queries:,} queries"
            offer = " To use the file's order, upload it with “Trust the rank column” (order=rank)."
            result.append(
                f"{self.tied_rows:,} lines in {lines} have the same {self.ordered_by} as another "
                "of their query; these are ordered by document id, descending, as in trec_eval."
                + (offer if self.ordered_by == "score" else "")
            )
        if self.without_text:
            documents = "document has" if self.without_text == 1 else "documents have"
            result.append(f"{self.without_text:,} {documents} no text in this collection.")
        return result


def get_findings(*, collection: Collection, file: RunFile) -> FileFindings:
    """Of a file whose documents the collection has."""
    rows, queries = count_ties(file)
    return FileFindings(
        ordered_by="rank" if file.by_rank else "score",
        has_scores=file.has_scores,
        tied_rows=rows,
        tied_queries=queries,
        without_text=count_stubs(collection=collection, docids=file.documents),
    )
