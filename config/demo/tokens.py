"""How the demo's rankers cut text into words, identifiers included."""

import re

PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

STOP_WORDS = frozenset(
    """a about all also an and any are as at be been but by can cannot do does for from had has have
    how i if in into is it its itself just like me my of on or one onto other our own s should so
    such t than that the their them then there these they this those to up us use used uses using
    was way we were what when where which while who whose why will with without would you your
    """.split()  # noqa: SIM905 - a list of ninety words reads better as text
)


def word_tokens(text: str) -> list[str]:
    """The words of a text in their order, lower-case, without stop words and plural endings.

    snake_case, CamelCase and dotted names are taken apart: `os.path.isFile` gives os, path, file.
    """
    pieces = (piece.lower() for piece in PIECES.findall(text))
    stems = (stem(piece) for piece in pieces if piece not in STOP_WORDS)
    return [word for word in stems if word not in STOP_WORDS]


def stem(word: str) -> str:
    """The word without a plural ending, and nothing more.

    Source: Harman 1991, "How effective is suffixing?", the S stemmer.
    """
    if len(word) < 4:
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word
