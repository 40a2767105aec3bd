"""When two user names are one: differences of case and of Unicode form do not count."""

import unicodedata


def fold(username: str) -> str:
    """The form under which a user name is unique and looked up.

    Python's, because the databases fold differently: SQLite only ASCII, PostgreSQL by its locale.
    """
    once = unicodedata.normalize("NFKC", username).casefold()
    return unicodedata.normalize("NFKC", once).casefold()
