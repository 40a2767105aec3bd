"""An upgrade can be taken back, and made again, without losing anything that people made."""

from pathlib import Path

import pytest

from tests.config.commands.test_backup import call, home

PROGRAM = ("-m", "tests.config.commands.back_and_forth")


def test_each_app_goes_back_by_a_migration_and_forward_again_on_sqlite(tmp_path: Path) -> None:
    done = call(home(tmp_path), *PROGRAM)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.postgres
def test_each_app_goes_back_by_a_migration_and_forward_again_on_postgresql(
    tmp_path: Path, own_database_url: str
) -> None:
    done = call(home(tmp_path) | {"DATABASE_URL": own_database_url}, *PROGRAM)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
