"""What the site has that does not lie in docs/: pages of the repository's root and benchmarks."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/RESULTS.md")
LINK = re.compile(r"(\]\()((?:\.\./)*)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie beside docs/."""
    for path in BESIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Links as they are in the repository become links of the site; those to code become words."""
    own = Path(page.file.src_uri)
    here = (ROOT / own if str(own) in BESIDE else ROOT / "docs" / own).parent

    def moved(found: re.Match[str]) -> str:
        before, up, rest = found.groups()
        target = (here / (up + rest)).resolve()
        if rest.startswith(("http:", "https:", "mailto:")) or not target.is_relative_to(ROOT):
            return found[0]
        inside = target.relative_to(ROOT)
        if str(inside) in BESIDE:
            uri = str(inside)
        elif inside.parts[0] == "docs":
            uri = str(Path(*inside.parts[1:])) if len(inside.parts) > 1 else "index.md"
        elif str(inside) == "README.md":
            uri = "index.md"
        else:
            return found[0]
        return before + "../" * (len(own.parts) - 1) + uri

    return LINK.sub(moved, markdown)
