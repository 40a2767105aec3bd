"""The short form of the proof; the long one is `python -m tests.touchstone.bulk.proof`."""

from pathlib import Path

import pytest

from tests.touchstone.bulk import proof
from tests.touchstone.bulk.generator import interactions, write_scattered, write_whole


def test_every_way_of_evaluating_gives_the_integers_of_plain_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_whole(interactions(30_000), tmp_path / "whole", files=4)
    write_scattered(interactions(30_000), tmp_path / "scattered", files=4)
    assert proof.prove(tmp_path, n_users=100) == 0
    assert "the same integers\n" in capsys.readouterr().out
    path = next(iter((tmp_path / "whole").iterdir()))
    path.unlink()
    assert proof.prove(tmp_path, n_users=1) == 1
    assert "THEY DIFFER\n" in capsys.readouterr().out
