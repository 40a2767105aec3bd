"""`./run` in a project of its own: real environments, real installs, no network."""

import ast
import base64
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MANAGE = """
import sys
import goldleaf
print("goldleaf", goldleaf.VERSION, "ran", *sys.argv[1:])
"""

PYCACHE = shutil.ignore_patterns("__pycache__")


@pytest.fixture(scope="module")
def first_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[int, str, str]]]:
    """A project that needs one package, which is beside it, and its first two runs, at once.

    They find what an interrupt leaves at its worst: a Python that can't even start, and no stamp.
    """
    project = tmp_path_factory.mktemp("project") / "a 'quoted' folder"
    shutil.copytree(ROOT / "touchstone", project / "touchstone", ignore=PYCACHE)
    shutil.copy(ROOT / "run", project / "run")
    (project / "manage.py").write_text(MANAGE)
    lock(project, goldleaf(project, version="1.0"), version="1.0")
    program = project / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    return project, [ended(one) for one in [start(project, "manage", word) for word in "ab"]]


@pytest.fixture
def project(first_runs: tuple[Path, list[tuple[int, str, str]]]) -> Path:
    """The project, which needs the first version again."""
    path = first_runs[0]
    (path / "manage.py").write_text(MANAGE)
    lock(path, goldleaf(path, version="1.0"), version="1.0")
    return path


def goldleaf(project: Path, *, version: str) -> str:
    """Put a wheel of the package into the project; its SHA-256."""
    wheels = project / "wheels"
    wheels.mkdir(exist_ok=True)
    wheel = wheels / f"goldleaf-{version}-py3-none-any.whl"
    about = f"goldleaf-{version}.dist-info"
    files = {
        "goldleaf.py": f'VERSION = "{version}"\n',
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: goldleaf\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{about}/RECORD", record(files, f"{about}/RECORD"))
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def record(files: dict[str, str], own_name: str) -> str:
    lines = []
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        lines.append(f"{name},sha256={digest.decode()},{len(text)}")
    return "\n".join([*lines, f"{own_name},,", ""])


def lock(project: Path, digest: str, *, version: str) -> None:
    text = f"--no-index\n--find-links wheels\ngoldleaf=={version} --hash=sha256:{digest}\n"
    (project / "requirements.lock").write_text(text)
    (project / "requirements-dev.lock").write_text("# for development\n" + text)


def start(project: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, project / "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit status, the output and the errors of one ./run."""
    out, errors = process.communicate(timeout=120)
    return process.returncode, out, errors


def run(project: Path, *arguments: str) -> tuple[int, str, str]:
    return ended(start(project, *arguments))


def test_two_started_at_once_take_up_an_interrupted_set_up_and_make_one_environment(
    first_runs: tuple[Path, list[tuple[int, str, str]]],
) -> None:
    statuses, outputs, errors = zip(*first_runs[1], strict=True)
    assert statuses == (0, 0), errors
    assert "".join(outputs).count("making .venv") == 1
    assert "".join(outputs).count("installing requirements.lock") == 1
    assert "waiting for another ./run" in "".join(outputs)
    for word, output in zip("ab", outputs, strict=True):
        assert output.endswith(f"goldleaf 1.0 ran {word}\n")


def test_the_command_s_exit_status_is_its_own(project: Path) -> None:
    (project / "manage.py").write_text("import sys; sys.exit(7)")
    assert run(project, "manage")[0] == 7


def test_it_installs_only_when_the_lock_changes(project: Path) -> None:
    assert run(project, "manage", "check", "--all")[1].endswith("goldleaf 1.0 ran check --all\n")
    assert run(project, "manage", "check") == (0, "goldleaf 1.0 ran check\n", "")

    lock(project, goldleaf(project, version="2.0"), version="2.0")
    status, out, _ = run(project, "manage", "check")
    assert status == 0
    assert "installing requirements.lock" in out
    assert "making .venv" not in out
    assert out.endswith("goldleaf 2.0 ran check\n")


def test_a_package_that_is_not_what_the_lock_says_is_refused(project: Path) -> None:
    goldleaf(project, version="3.0")
    lock(project, "0" * 64, version="3.0")
    status, out, errors = run(project, "manage", "check")
    assert status == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in out
    assert "installing requirements.lock failed" in errors
    assert "ran check" not in out
    assert not (project / ".venv" / "installed-from.sha256").exists()


def test_the_library_s_command_is_there_from_any_folder(project: Path, tmp_path: Path) -> None:
    said = subprocess.run(
        [project / ".venv" / "bin" / "touchstone", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "usage: touchstone" in said.stdout


def test_without_an_environment_one_is_made(tmp_path: Path) -> None:
    """What is asked before one is made; in the tests above it is asked of a broken one."""
    shutil.copy(ROOT / "run", tmp_path / "run.py")
    asked = "import run; assert not run.works() and not run.is_installed(run.RUNTIME_LOCK)"
    lock(tmp_path, "0" * 64, version="1.0")
    subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, check=True)


@pytest.mark.parametrize(("words", "status"), [((), 0), (("help",), 0), (("polish",), 2)])
def test_without_a_command_it_knows_it_says_what_it_can(words: tuple[str], status: int) -> None:
    said, out, _ = run(ROOT, *words)
    assert said == status
    assert "./run demo [--port P]" in out


def test_a_python_that_is_too_old_can_still_read_it() -> None:
    ast.parse((ROOT / "run").read_text(), feature_version=(3, 7))
