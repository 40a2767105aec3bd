"""What is compared (rankers, runs, rankings) and what was computed of it (evaluations)."""

import uuid

from django.conf import settings
from django.db import models

from judgments.models import Collection, JudgmentList, JudgmentVersion, Query, SamplePlan
from judgments.models.collections import SLUG
from judgments.models.kept import KeptFigures, claim_complete
from touchstone.statistics.named_tests import TESTS, USUAL_TEST


def no_tags() -> list[str]:
    """Of a ranker or a run that no one has tagged."""
    return []


def no_parameters() -> dict[str, object]:
    """Of a run of which no one said how it was made."""
    return {}


class Ranker(models.Model):
    """A system that ranks documents; its outputs are runs.

    tags: words to find and group rankers by, the first of them the group.
    """

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="rankers")
    slug = models.CharField(max_length=64, validators=[SLUG])
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    tags = models.JSONField(default=no_tags)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("collection", "slug"), name="ranker_slug_once"),
        )

    def __str__(self) -> str:
        return self.slug


class Run(models.Model):
    """One output of a ranker, as it was in one file.

    sha256: of the parsed content (query, document, score in file order), so that the same file
    packed differently is the same run. A run is withdrawn, never deleted.
    parameters, commit, tags: what its uploader says of how it was made, as
    evaluation/runs/details.py reads it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    ranker = models.ForeignKey(Ranker, on_delete=models.PROTECT, related_name="runs")
    name = models.CharField(max_length=200)
    tag = models.CharField(max_length=200, blank=True, default="")
    sha256 = models.CharField(max_length=64)
    query_count = models.PositiveIntegerField()
    row_count = models.PositiveIntegerField()
    parameters = models.JSONField(default=no_parameters)
    commit = models.CharField(max_length=100, blank=True, default="")
    tags = models.JSONField(default=no_tags)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("ranker", "name"), name="run_name_once"),
            models.UniqueConstraint(
                fields=("ranker", "sha256"),
                condition=models.Q(withdrawn_at__isnull=True),
                name="run_content_once",
            ),
        )

    def __str__(self) -> str:
        return self.name


class RunAlias(models.Model):
    """Another name of a run: its content was uploaded again under this name.

    No run and no other alias of the ranker has the name; the services see to the former.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="aliases")
    ranker = models.ForeignKey(Ranker, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("ranker", "name"), name="run_alias_once"),)

    def __str__(self) -> str:
        return self.name


class Ranking(models.Model):
    """One query's part of a run, packed.

    documents: int32 document ids (little-endian) in file order.
    scores: float64 in the same order.
    order: uint16 or uint32 (by length), the permutation of the tie rule, best first; computed
    once, at import.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="rankings")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    documents = models.BinaryField()
    scores = models.BinaryField()
    order = models.BinaryField()

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("query", "run"), name="ranking_once"),)

    def __str__(self) -> str:
        return f"{self.run_id} {self.query_id}"


class MeasureSet(models.Model):
    """An immutable, ordered set of measure definitions; a new measure makes a new set.

    measures: canonical names with the definitions' revisions, [["nDCG@10", 1], …].
    digest: SHA-256 of that, so the same set is never stored twice.
    """

    digest = models.CharField(max_length=64, unique=True)
    measures = models.JSONField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.digest[:12]


class Leaderboard(models.Model):
    """Which measures a list keeps current for every run of its collection.

    test: the one that its comparisons use unless an address asks for another.
    """

    list = models.OneToOneField(JudgmentList, on_delete=models.PROTECT, related_name="leaderboard")
    measure_set = models.ForeignKey(MeasureSet, on_delete=models.PROTECT, related_name="+")
    test = models.CharField(max_length=16, default=USUAL_TEST)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(test__in=tuple(TESTS)), name="leaderboard_test_known"
            ),
        )

    def __str__(self) -> str:
        return str(self.list_id)


class Evaluation(models.Model):
    """The exact sums of every measure of a set, for one run at one version. Written once.

    sums: packed by touchstone/measures/exact.py: per measure the number of queries in the mean, the
    fixed-point sum of their values and of their squares.
    """

    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="evaluations", db_index=False
    )
    version = models.ForeignKey(JudgmentVersion, on_delete=models.PROTECT, related_name="+")
    measure_set = models.ForeignKey(
        MeasureSet, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    sums = models.BinaryField()
    computed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "version", "measure_set"), name="evaluation_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} at {self.version_id}"


class ToolValues(models.Model):
    """A run's mean nDCG at a version as every public tool would print it. Written once.

    definitions: a digest of what every preset meant and of what the list's grades were worth; what
    other code would compute lies under another one. means: [preset, mean or null, queries,
    problem] of each preset, in their order.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+", db_index=False)
    version = models.ForeignKey(JudgmentVersion, on_delete=models.PROTECT, related_name="+")
    cutoff = models.PositiveIntegerField()
    definitions = models.CharField(max_length=32)
    means = models.JSONField()
    computed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "version", "cutoff", "definitions"), name="tool_values_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} at {self.version_id}, k={self.cutoff}"


class SampleEvaluation(models.Model):
    """What a sample says of a run: each measure's mean per query and per search. Written once.

    version: the newest at which a grade of a drawn query changed; later ones say the same.
    judged: drawn queries that are judged then. basis: what else it follows from, as `basis_of` of
    evaluation/samples/drawn.py has it: the queries without results, and the newest traffic.
    readings: [per query, per search, and both post-stratified] of each measure of the set, in its
    order, as evaluation/samples/figures.py has them.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+", db_index=False)
    plan = models.ForeignKey(SamplePlan, on_delete=models.PROTECT, related_name="+")
    version = models.PositiveIntegerField()
    measure_set = models.ForeignKey(
        MeasureSet, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    judged = models.PositiveIntegerField()
    basis = models.CharField(max_length=64, default="")
    readings = models.JSONField()
    computed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "plan", "version", "measure_set", "basis"),
                name="sample_evaluation_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} by sample {self.plan_id} at {self.version}"


class CorrectedEvaluation(models.Model):
    """A run's means by a sample's people, by a machine judge, and corrected. Written once.

    version: as of `SampleEvaluation`. source: names the machine judge's revision, as
    judgments/versions/machine_sources.py has it. basis: what else it follows from, as `basis_of` of
    evaluation/corrected/due.py has it: the machine's labels, and the list's samples. means: of each
    measure of the set, in its order, as evaluation/corrected/figures.py has them.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+", db_index=False)
    plan = models.ForeignKey(SamplePlan, on_delete=models.PROTECT, related_name="+")
    version = models.PositiveIntegerField()
    source = models.CharField(max_length=40)
    measure_set = models.ForeignKey(
        MeasureSet, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    basis = models.CharField(max_length=100)
    means = models.JSONField()
    computed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "plan", "version", "source", "measure_set", "basis"),
                name="corrected_evaluation_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} corrected by sample {self.plan_id} at {self.version}"


class RefreshAttempt(models.Model):
    """That a run is being evaluated from scratch on a list, or could not be.

    Written before the work, so that an evaluation that kills its worker is counted too; gone when
    it is done. After `MOST` attempts the run is shown as failed, and holds up nothing else.
    problem: what went wrong, in words; empty while no one knows.
    """

    MOST = 5

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempts", db_index=False)
    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="+")
    attempts = models.PositiveSmallIntegerField()
    not_before = models.DateTimeField()
    problem = models.TextField(blank=True, default="")

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("run", "list"), name="attempt_once"),)

    def __str__(self) -> str:
        return f"{self.run_id} on {self.list_id}: {self.attempts}"


class StabilityReport(KeptFigures):
    """How stable the order of some runs is at a version of a list.

    key: names the runs, the measure, the version and the queries; nothing of these ever changes.
    """

    list = models.ForeignKey(JudgmentList, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=32)

    class Meta:
        ordering = ("id",)
        constraints = (
            claim_complete("stability_claim_complete"),
            models.UniqueConstraint(fields=("key",), name="stability_once"),
        )

    def __str__(self) -> str:
        return f"{self.list_id}: {self.key}"
