"""What runs in a fork is what runs in a process of its own."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.fork_request import __file__ as fork_request
from tests.forks import begin_forked, run_forked, start_forking

SAY_ALL = """
import os, re, sys
from pprint import pformat
import django
django.setup()
from django.conf import settings
from django.core.cache import caches
from django.core.files.storage import storages
from django.db import connection
print(connection.settings_dict, caches.settings, storages.backends)
for name in sorted(dir(settings)):
    if name.isupper():
        print(name, re.sub(" at 0x[0-9a-f]+", "", pformat(getattr(settings, name))))
print(sys.argv, os.getcwd(), sys.stdin.read(), sorted(os.environ.items()))
print("to the errors", file=sys.stderr)
sys.exit(7)
"""


def test_it_has_its_own_settings_arguments_folder_input_output_and_status(tmp_path: Path) -> None:
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "LC_ALL": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "TOUCHSTONE_HOME": str(tmp_path / "home"),
        "TOUCHSTONE_LIVE": "true",
        "TZ": "UTC",
    }
    words = ("-c", SAY_ALL, "one", "two words")
    expected = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env=environment,
        input="some input",
        capture_output=True,
        text=True,
        check=False,
    )
    found = run_forked(words, cwd=tmp_path, env=environment, input="some input")
    assert found.stdout == expected.stdout
    assert (found.stderr, found.returncode) == (expected.stderr, 7) == ("to the errors\n", 7)


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("", 0, ""),
        ("import sys; sys.exit('it is so')", 1, "it is so\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, ""),
        (
            "import atexit; atexit.register(print, 'the end', file=__import__('sys').stderr)",
            0,
            "the end\n",
        ),
    ],
)
def test_it_ends_as_a_process_does(code: str, status: int, said: str) -> None:
    found = run_forked(("-c", code), env={})
    assert (found.returncode, found.stderr) == (status, said)


def test_what_raises_prints_where_and_ends_with_1() -> None:
    found = run_forked(("-c", "import config.settings"), env={"TOUCHSTONE_MODE": "holiday"})
    assert found.returncode == 1
    assert found.stderr.startswith("Traceback")
    assert "TOUCHSTONE_MODE is 'holiday'" in found.stderr.splitlines()[-1]


def test_a_shell_can_have_one_too(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys; sys.exit(int(sys.stdin.read()))")
    command = f"{sys.executable} -I -S {fork_request} {start_forking()} program.py; echo $?"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        input="7",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_one_is_stopped_and_another_that_takes_too_long_is_killed() -> None:
    code = "import time; time.sleep(600)"
    with closing(begin_forked(("-c", code), env={})) as one:
        one.terminate()
        assert one.wait(60) == -signal.SIGTERM
    with pytest.raises(subprocess.TimeoutExpired):
        run_forked(("-c", code), env={}, timeout=0.01)


def test_one_that_no_one_waits_for_leaves_the_others_alone() -> None:
    reading, writing = os.pipe()
    with open(reading) as said:  # noqa: PTH123
        with open(writing, "w") as output:  # noqa: PTH123
            one = begin_forked(("-c", "print('done')"), env={}, stdout=output)
        assert said.read() == "done\n"
        one.close()  # it has ended, or is about to
    assert run_forked(("-c", "print('next')"), env={}).stdout == "next\n"
