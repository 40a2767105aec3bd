"""What the suite makes of what pytest says."""

from pathlib import Path

from tests import suite

FLAKY = """
from pathlib import Path

def test_fails_the_first_time_and_never_again():
    been_here = Path(__file__).with_suffix(".txt")
    if not been_here.exists():
        been_here.touch()
        raise AssertionError("the first time")
"""


def test_a_test_that_fails_once_and_would_pass_then_fails_the_suite(tmp_path: Path) -> None:
    module = tmp_path / "test_flaky.py"
    module.write_text(FLAKY)
    one = suite.run_pytest("flaky", ["-n", "0", str(module)], {}, tmp_path)
    assert suite.exit_status([one], no_skips=True) == 1
    assert (one.tests, module.with_suffix(".txt").exists()) == (1, True)
