"""Several small ES modules as one file."""

import re
from pathlib import Path

import pytest

from annotation.labelling.scripts import joined_modules, joined_styles
from annotation.pages.keys import NAMED_KEYS, SHORT

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
        "const $clock=(()=>{const hidden=1;function a(){return hidden;}\nreturn{a};})();"
        "const $label=(()=>{const{a:b}=$clock;const hidden=b();return{};})();"
    )


@pytest.mark.parametrize(
    "source",
    [
        'import "./clock.js";\n',
        "export let now = 1;\n",
        "export default 1;\n",
        'import { a } from "./nowhere.js";\n',
        'import { a } from "./label.js";\n',
        "const a = (text) => / x/u.test(text);\n",
    ],
)
def test_what_is_not_understood_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"label"):
        joined_modules({"label": source, "clock": ""}, "label")


def test_a_module_s_name_may_have_hyphens() -> None:
    sources = {
        "label": 'import {\n  a,\n  b,\n} from "./pair-queue.js";\n',
        "pair-queue": "export const a = 1;\nexport class b {}\n",
    }
    joined = joined_modules(sources, "label")
    assert joined.startswith("const $pair_queue=(()=>{")
    assert "const{a,b,}=$pair_queue;" in joined


def test_comments_and_blanks_stay_behind_and_strings_and_patterns_do_not() -> None:
    source = (
        "// what it does\n/** @type {Map<string, string>} */\nconst a = 1; // one\n"
        'const b = "no // comment"; // "b"\nconst c = `one\n  // ${ a + 1 } two`;\n'
        'const d = [/^ +[/*] "$/u];\n'
        "/**\n * @param {string} b\n */\nfunction f(b) {\n  // why\n  return (\n"
        "    /** @type {unknown} */ (b)\n  );\n}\n/** the end */\n"
    )
    assert joined_modules({"label": source}, "label") == (
        'const $label=(()=>{const a=1;const b="no // comment";const c=`one\n  // ${ a + 1 } two`;'
        'const d=[/^ +[/*] "$/u];function f(b){return((b));}\nreturn{};})();'
    )


def test_a_style_sheet_keeps_its_rules_alone() -> None:
    sources = ["/* why */\na { color: red; }\n", "b {\n  margin: 0; /* one\n  more */\n}\n"]
    assert joined_styles(sources) == "a{color: red;}b{margin: 0;}"


def test_the_modules_of_the_labelling_page_can_be_joined() -> None:
    sources = {file.stem: file.read_text() for file in STATIC.glob("*.js")}
    joined = joined_modules(sources, "label")
    assert joined.count("})();") >= 8
    assert joined.index("const $label_store=") < joined.index("const $label=")


def test_the_module_that_asks_for_the_first_pairs_can_be_joined_alone() -> None:
    sources = {file.stem: file.read_text() for file in STATIC.glob("*.js")}
    joined = joined_modules(sources, "api")
    assert re.findall(r"\bconst \$(\w+)=", joined) == ["constants", "dom", "api"]


def test_the_page_names_and_shows_keys_as_the_server_does() -> None:
    constants = (STATIC / "constants.js").read_text()
    named = constants[constants.index("NAMED_KEYS") : constants.index("UNASSIGNABLE_KEYS")]
    assert set(re.findall(r'"(\w+)"', named)) == NAMED_KEYS
    assert dict(re.findall(r'\["(\w+)", "(.)"\]', constants)) == SHORT


class German:
    """As `gettext.GNUTranslations` of a catalogue would."""

    def gettext(self, message: str) -> str:
        return {"Undo": "Rückgängig", "Say “no”": 'Sag "nein"'}[message]

    def pgettext(self, context: str, message: str) -> str:
        return {("noun", "Label"): "Bewertung"}[context, message]

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return "{n} Paar" if n == 1 else "{n} Paare"


def test_marked_texts_are_put_into_the_language() -> None:
    source = (
        'const a = gettext("Undo");\nconst b = gettext(\n  "Say “no”",\n);\n'
        'const c = pgettext("noun", "Label");\n'
        'const d = ngettext("{n} pair", "{n} pairs", n);\n'
    )
    assert joined_modules({"label": source}, "label", German()) == (
        'const $label=(()=>{const a="Rückgängig";const b="Sag \\"nein\\"";const c="Bewertung";'
        'const d=ngettext("{n} Paar","{n} Paare",n);return{};})();'
    )


@pytest.mark.parametrize(
    "source",
    [
        "const a = gettext(words);\n",
        "const a = gettext(`Undo`);\n",
        'const a = gettext("Un" + "do");\n',
        'const a = ngettext("{n} pair", more, n);\n',
        'const a = pgettext(context, "Label");\n',
    ],
)
def test_a_text_that_is_put_together_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="marks a text"):
        joined_modules({"label": source}, "label", German())
