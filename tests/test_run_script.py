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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that needs one package, which lies beside it."""
    shutil.copy(ROOT / "run", tmp_path / "run")
    (tmp_path / "manage.py").write_text(MANAGE)
    lock(tmp_path, goldleaf(tmp_path, version="1.0"), version="1.0")
    return tmp_path


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


def run(project: Path, *arguments: str) -> tuple[int, str, str]:
    """The exit status, the output and the errors of one ./run."""
    process = start(project, *arguments)
    out, errors = process.communicate(timeout=120)
    return process.returncode, out, errors


def test_it_installs_once_and_again_only_when_the_lock_changes(project: Path) -> None:
    first = run(project, "manage", "check", "--all")
    assert first[0] == 0, first
    assert "installing requirements.lock" in first[1]
    assert first[1].endswith("goldleaf 1.0 ran check --all\n")

    assert run(project, "manage", "check") == (0, "goldleaf 1.0 ran check\n", "")

    lock(project, goldleaf(project, version="2.0"), version="2.0")
    status, out, _ = run(project, "manage", "check")
    assert status == 0
    assert "installing requirements.lock" in out
    assert "making .venv" not in out
    assert out.endswith("goldleaf 2.0 ran check\n")


def test_two_started_at_once_make_one_environment(project: Path) -> None:
    both = [start(project, "manage", word) for word in ("one", "two")]
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert "".join(outputs).count("making .venv") == 1
    assert "".join(outputs).count("installing requirements.lock") == 1
    assert "waiting for another ./run" in "".join(outputs)
    assert all("goldleaf 1.0 ran" in output for output in outputs)


def test_an_interrupted_set_up_is_taken_up_again(project: Path) -> None:
    # What an interrupt leaves at its worst: a Python that cannot even start, and no stamp.
    program = project / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    status, out, errors = run(project, "manage", "check")
    assert status == 0, errors
    assert "making .venv" in out
    assert out.endswith("goldleaf 1.0 ran check\n")


def test_a_package_that_is_not_what_the_lock_says_is_refused(project: Path) -> None:
    lock(project, "0" * 64, version="1.0")
    status, out, errors = run(project, "manage", "check")
    assert status == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in out
    assert "installing requirements.lock failed" in errors
    assert "ran check" not in out
    assert not (project / ".venv" / "installed-from.sha256").exists()


def test_the_command_s_exit_status_is_its_own(project: Path) -> None:
    (project / "manage.py").write_text("import sys; sys.exit(7)")
    assert run(project, "manage")[0] == 7


def test_the_library_s_command_is_there_from_any_folder(tmp_path: Path) -> None:
    project = tmp_path / "a 'quoted' folder"
    shutil.copytree(ROOT / "touchstone", project / "touchstone", ignore=PYCACHE)
    shutil.copy(ROOT / "run", project / "run")
    (project / "manage.py").write_text(MANAGE)
    lock(project, goldleaf(project, version="1.0"), version="1.0")
    assert run(project, "manage", "check")[0] == 0
    said = subprocess.run(
        [project / ".venv" / "bin" / "touchstone", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "usage: touchstone" in said.stdout


@pytest.mark.parametrize(("words", "status"), [((), 0), (("help",), 0), (("polish",), 2)])
def test_without_a_command_it_knows_it_says_what_it_can(words: tuple[str], status: int) -> None:
    said, out, _ = run(ROOT, *words)
    assert said == status
    assert "./run demo [--port P]" in out


def test_a_python_that_is_too_old_can_still_read_it() -> None:
    ast.parse((ROOT / "run").read_text(), feature_version=(3, 7))
