"""The tests that runs can be compared by, and the one that they are unless someone chooses."""

from typing import Final, Literal

Test = Literal["randomization", "t", "bootstrap"]

TESTS: Final[dict[Test, str]] = {
    "randomization": "sign-flip randomization test",
    "t": "paired t test",
    "bootstrap": "bootstrap test, shifted",
}
USUAL_TEST: Final[Test] = "randomization"
