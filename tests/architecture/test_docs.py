"""Docs that can't go stale: what the code offers is on the pages, what they say is in the code."""

import re
from argparse import ArgumentParser
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand
from markdown_it import MarkdownIt
from markdown_it.token import Token

from touchstone.files.ratings import FORMATS
from touchstone.measures.definition import FAMILIES
from touchstone.measures.presets import PRESETS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
APPS = ("annotation", "config", "evaluation", "judgments")
VARIABLE = re.compile(r"\b(?:TOUCHSTONE_[A-Z_]+|DATABASE_URL|REDIS_URL)\b")
READ = re.compile(r"""(?:env\.\w+|environ\.get|getenv)\(\s*"([A-Z_]+)""")


def text(name: str) -> str:
    return (ROOT / name).read_text()


def source() -> str:
    files = [path for app in (*APPS, "touchstone") for path in (ROOT / app).rglob("*.py")]
    return "\n".join(path.read_text() for path in [*files, ROOT / "tests" / "services.py"])


def our_commands() -> dict[str, BaseCommand]:
    """The management commands that are ours, by name."""
    owners = {name: app for name, app in get_commands().items() if app in APPS}
    return {name: load_command_class(app, name) for name, app in sorted(owners.items())}


def section(page: str, title: str) -> str:
    """The part of a page below a heading, up to the next one of its level."""
    found = re.search(
        rf"^(#+) `?{re.escape(title)}`?\n(.*?)(?=^\1 |\Z)", page, re.MULTILINE | re.DOTALL
    )
    return found.group(2) if found else ""


def options(command: BaseCommand) -> set[str]:
    """The long options that a command adds to Django's own."""
    ours, django = command.create_parser("manage.py", "one"), BaseCommand().create_parser("", "")
    return long_options(ours) - long_options(django)


def long_options(parser: ArgumentParser) -> set[str]:
    return {word for word in parser._option_string_actions if word.startswith("--")}


@cache
def run_script() -> ModuleType:
    loader = SourceFileLoader("run_script", str(ROOT / "run"))
    spec = spec_from_loader("run_script", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def links(page: Path) -> list[str]:
    """Where the links and pictures of a page lead, in its order."""
    found: list[str] = []

    def walk(tokens: list[Token]) -> None:
        for token in tokens:
            found.extend(str(token.attrs[key]) for key in ("href", "src") if key in token.attrs)
            walk(token.children or [])

    walk(MarkdownIt("commonmark").enable("table").parse(page.read_text()))
    return found


@cache
def anchors(page: Path) -> set[str]:
    """The names by which a page's headings can be linked to, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    bare = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in bare}


def is_broken(page: Path, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return False  # elsewhere in the world
    path, _, anchor = unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return True
    return bool(anchor) and anchor not in anchors(target)


def test_every_environment_variable_that_is_read_is_documented() -> None:
    code = source()
    read = {*READ.findall(code), *VARIABLE.findall(code), *VARIABLE.findall(compose())}
    assert {"DATABASE_URL", "TOUCHSTONE_HOME"} <= read
    documented = set(re.findall(r"`([A-Z_]+)`", text("docs/configuration.md")))
    assert read - documented - {"DJANGO_SETTINGS_MODULE"} == set()


def test_every_documented_environment_variable_is_read() -> None:
    documented = set(VARIABLE.findall(text("docs/configuration.md")))
    assert documented - set(VARIABLE.findall(source() + compose())) == set()


def compose() -> str:
    return text("docker-compose.yml")


def test_every_management_command_is_documented_with_its_options() -> None:
    page = text("docs/commands.md")
    commands = our_commands()
    assert "serve" in commands
    missing = {
        name: sorted(option for option in options(command) if option not in section(page, name))
        for name, command in commands.items()
    }
    assert {name for name in commands if not section(page, name)} == set()
    assert {name: left_out for name, left_out in missing.items() if left_out} == {}


def test_every_documented_management_command_exists() -> None:
    titles = re.findall(r"^### `(\w+)`$", text("docs/commands.md"), re.MULTILINE)
    assert set(titles) - set(our_commands()) == set()


def test_every_command_of_the_run_script_is_documented_and_explained_by_itself() -> None:
    names = set(run_script().COMMANDS)
    page, own_help = text("docs/commands.md"), str(run_script().__doc__)
    assert {name for name in names if f"`./run {name}" not in page} == set()
    assert {name for name in names if f"./run {name}" not in own_help} == set()


def test_every_measure_and_preset_is_documented() -> None:
    named = set(re.findall(r"`([\w]+)`", "".join(page.read_text() for page in PAGES)))
    assert set(FAMILIES) - named == set()
    assert set(PRESETS) - named == set()


def test_every_format_of_judgments_is_documented() -> None:
    pages = section(text("docs/commands.md"), "import_qrels"), text("docs/files.md")
    for page in pages:
        assert {name for name in FORMATS if f"`{name}`" not in page} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if is_broken(page, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"\btests/[\w/]+(?:\.py)?", page.read_text()))
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    shown = page.read_text()
    run_commands = set(re.findall(r"\./run ([a-z]+)", shown))
    management = set(re.findall(r"(?:manage\.py|\./run manage) ([a-z_]+)", shown))
    assert run_commands - set(run_script().COMMANDS) == set()
    assert management - set(get_commands()) == set()


def test_the_glossary_is_in_alphabetical_order() -> None:
    terms = re.findall(r"^\| ([^|]+) \| ", text("docs/glossary.md"), re.MULTILINE)[1:]
    assert len(terms) > 40
    assert terms == sorted(terms, key=str.casefold)


NAMED = re.compile(r"`([\w/]+\.py)(?::(\w+))?`")


def test_what_architecture_names_is_there() -> None:
    named = NAMED.findall(text("docs/architecture.md"))
    assert len([name for _, name in named if name]) > 10
    for path, name in named:
        if "/" in path:
            assert (ROOT / path).exists(), path
        if name:
            defines = rf"^(?:class |def |async def )?{name}\b"
            assert re.search(defines, text(path), re.MULTILINE), f"{path}:{name}"
