"""Functions that apps register at the start of each process, most of which never call them."""

from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string


@dataclass(frozen=True)
class Named:
    """A function by its dotted path, whose module is imported when it is first called."""

    path: str

    @property
    def function(self) -> Any:
        """The function itself. Raises ImportError where there is none of this path."""
        return import_string(self.path)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the function returns."""
        return self.function(*arguments, **named)
