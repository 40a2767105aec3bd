"""`./run texts`: bring the catalogues up to date with the sources; fails for what lacks."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from tests.texts.catalogues import LANGUAGES, missing, source_of, update  # noqa: E402
from tests.texts.sources import ROOT  # noqa: E402


def main() -> int:
    lacks = 0
    for language in LANGUAGES:
        texts = missing(update(language))
        lacks += len(texts)
        for text in texts:
            sys.stdout.write(f"{source_of(language).relative_to(ROOT)}: no translation: {text}\n")
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
