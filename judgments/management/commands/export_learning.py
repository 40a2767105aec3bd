"""`export_learning`: a version's grades with features, for training a ranker."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand, two_slugs


class Command(RefusingCommand):
    help = (
        "Write training data as a zip: a version's grades joined with features from a CSV file, as "
        "LETOR for RankLib, with group sizes for LightGBM or XGBoost, or as ELWC for TF-Ranking."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        from touchstone.files.learning import TOOLS

        super().add_arguments(parser)
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs)
        parser.add_argument(
            "features",
            metavar="FEATURES",
            help="CSV with query_id, doc_id and one column per feature",
        )
        parser.add_argument("output", metavar="ZIP")
        parser.add_argument("--format", choices=tuple(TOOLS), default="ranklib")
        parser.add_argument(
            "--version",
            default="head",
            metavar="N or NAME",
            help="version number or release name (default: the newest version)",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.lists.queries import find_version_number, get_learning_file
        from judgments.management.lookup import get_list
        from touchstone.files.learning import read_features

        result = get_list(*options["list"])
        number = find_version_number(judgment_list=result, name=options["version"])
        features = read_features(options["features"], name=options["features"])
        content = get_learning_file(
            judgment_list=result, number=number, kind=options["format"], features=features
        )
        Path(options["output"]).write_bytes(content)
        return {"version": number, "format": options["format"], "bytes": len(content)}
