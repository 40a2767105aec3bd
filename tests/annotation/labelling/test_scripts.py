"""Several small ES modules as one file."""

from pathlib import Path

import pytest

from annotation.labelling.scripts import joined_modules

STATIC = Path(__file__).resolve().parents[3] / "static" / "annotation"


def test_a_module_stands_after_those_that_it_imports_and_keeps_its_names_to_itself() -> None:
    joined = joined_modules(
        {
            "label": 'import { a as b } from "./clock.js";\nconst hidden = b();\n',
            "clock": "const hidden = 1;\nexport function a() { return hidden; }\n",
        },
        "label",
    )
    assert joined == (
        "const $clock = (() => {\nconst hidden = 1;\nfunction a() { return hidden; }\n\n"
        "return { a };\n})();\n"
        "const $label = (() => {\nconst { a: b } = $clock;\nconst hidden = b();\n\n"
        "return {  };\n})();"
    )


@pytest.mark.parametrize(
    "source",
    [
        'import "./clock.js";\n',
        "export let now = 1;\n",
        "export default 1;\n",
        'import { a } from "./nowhere.js";\n',
        'import { a } from "./label.js";\n',
    ],
)
def test_what_is_not_understood_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"label"):
        joined_modules({"label": source, "clock": ""}, "label")


def test_the_modules_of_the_labelling_page_can_be_joined() -> None:
    sources = {file.stem: file.read_text() for file in STATIC.glob("*.js")}
    joined = joined_modules(sources, "label")
    assert joined.count("})();") >= 8
