"""Keys that are neither the secret key nor in the database, and in no backup.

Each kind comes from a variable, or else from a file that only its owner can read; the first key is
used, all are accepted, so that a key can be replaced.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings

from judgments.secrets.private_files import add_secret_line, make_secret_file
from touchstone.errors import DomainError

SHORTEST: Final = 32  # characters
OTHERS: Final = 0o077


@dataclass(frozen=True)
class KeyFile:
    """One kind of keys.

    name: of the file in the home; the setting and the variable have the same in capitals. purpose:
    as in "no key to …". refused: what is raised, with codes that begin with `code`.
    """

    name: str
    purpose: str
    code: str
    refused: type[DomainError]

    @property
    def path(self) -> Path:
        """The file with the keys, one a line."""
        return Path(settings.HOME) / self.name

    @property
    def variable(self) -> str:
        """The environment variable that has the keys instead."""
        return f"TOUCHSTONE_{self.name.upper()}"

    def make(self) -> None:
        """Make the first key, in the embedded mode, unless there is one."""
        if not self._given and not settings.PRODUCTION:
            make_secret_file(self.path)

    def add(self) -> None:
        """Put a new key before the others of the file; refused where the variable has them."""
        if self._given:
            raise self.refused(
                f"{self.code}s_given",
                f"The keys are in {self.variable}. Put a new one first there.",
            )
        add_secret_line(self.path)

    def require(self) -> list[str]:
        """The keys; refused where there is none."""
        keys = self.read()
        if not keys:
            raise self.refused(
                f"{self.code}_missing",
                f"This server has no key to {self.purpose}. An administrator sets "
                f"{self.variable}, or puts a key of {SHORTEST} characters or more into the file "
                f"{self.name}, readable by its owner alone.",
            )
        return keys

    def read(self) -> list[str]:
        """The keys; none where there are none. The file is read each time, for it may change."""
        if self._given:
            return self._given
        if not self.path.exists():
            return []
        if self.path.stat().st_mode & OTHERS:
            raise self.refused(
                f"{self.code}_exposed",
                f"Others can read {self.path}. Run chmod 600 {self.path} first.",
            )
        keys = [line.strip() for line in self.path.read_text().splitlines() if line.strip()]
        if any(len(key) < SHORTEST for key in keys):
            raise self.refused(
                f"{self.code}_short",
                f"A key in {self.path} has fewer than {SHORTEST} characters.",
            )
        return keys

    @property
    def _given(self) -> list[str]:
        return [*getattr(settings, self.name.upper())]
