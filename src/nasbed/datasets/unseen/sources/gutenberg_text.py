"""Words of a book of Project Gutenberg: without licence, structure and everything that is not a letter."""

from __future__ import annotations

import re
import string
import unicodedata

STRUCTURE = frozenset(
    ("chapter", "chapters", "chap", "scene", "prologue", "epilogue", "exeunt", "footnote", "footnotes")
)
"""Structure wherever they stand."""
HEADINGS = frozenset(("act", "article", "book", "canto", "part", "question", "section", "treatise", "volume"))
"""Structure in capitals, or with a capital and a number after it; words of the author's otherwise."""
_START = re.compile(r"^\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG.*$", re.MULTILINE | re.IGNORECASE)
_END = re.compile(r"^\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG", re.MULTILINE | re.IGNORECASE)
_LICENCE = re.compile(
    r"^\s*START: FULL LICENSE\s*$(?:.*?^\[\*\] This paragraph, after 1\.C\.[^\n]*$|.*\Z)", re.MULTILINE | re.DOTALL
)
_APOSTROPHES = re.compile("['’‘ʼ]")
_TOKEN = re.compile("[A-Za-z]+|[0-9]+")
_ROMAN = re.compile("(?=[IVXLCDM]{2})M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_SPELT = str.maketrans({"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ß": "ss", "ł": "l", "Ł": "L"})


def book(text: str) -> str:
    """What is between the marks of Project Gutenberg, without its licence, which stands at the end or at the beginning.

    >>> book("A\\n*** START OF THE PROJECT GUTENBERG EBOOK ***\\nCall me\\n*** END OF THE PROJECT GUTENBERG EBOOK ***")
    '\\nCall me\\n'
    """
    if start := _START.search(text):
        text = text[start.end() :]
    if end := _END.search(text):
        text = text[: end.start()]
    return _LICENCE.sub("\n", text)


def words(text: str) -> list[str]:
    """Its words in small letters, as they follow each other.

    Letters with diacritics become their base, apostrophes vanish, anything else that is not a letter separates two
    words. Numbers, in digits or Roman, are structure and vanish too; small Roman ones from three letters on, but not
    "mix".

    >>> words("CHAPTER XIV. Don’t, said Anna Pávlovna (Part 2): a part of star-cross'd act III")
    ['dont', 'said', 'anna', 'pavlovna', 'a', 'part', 'of', 'star', 'crossd', 'act']
    """
    base = unicodedata.normalize("NFKD", text.translate(_SPELT))
    plain = _APOSTROPHES.sub("", "".join(letter for letter in base if not unicodedata.combining(letter)))
    tokens = _TOKEN.findall(plain)
    result = []
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        small = token.lower()
        heading = small in HEADINGS and (token.isupper() or (token[0].isupper() and _is_number(following)))
        if small not in STRUCTURE and not heading and not _is_numeral(token):
            result.append(small)
    return result


_LICENCE_LINES = 95
_RELEASED_STRUCTURE = frozenset(("prologue", "epilogue", "chapter", "scene", "act"))
_RELEASED_NUMERALS = frozenset((
    "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x",
    "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx",
))  # fmt: skip
_SEPARATORS = str.maketrans(dict.fromkeys(string.punctuation, " "))
_NO_LETTER = re.compile("[^a-z ]")


def words_as_released(text: str) -> list[str]:
    """The words that the competition's script takes from a file, whose first 95 lines are the licence.

    Punctuation of ASCII separates words. Any other character but a to z vanishes, as do lines in capitals.

    >>> words_as_released("licence\\n" * 95 + "ACT TWO\\nDon't say “naïve—ly” to star-cross’d Act II men\\n")
    ['don', 't', 'say', 'navely', 'to', 'star', 'crossd', 'men']
    """
    lines = (line.strip().translate(_SEPARATORS) for line in text.split("\n")[_LICENCE_LINES:])
    kept = (line for line in lines if not all(letter.isupper() or letter == " " for letter in line))
    plain = _NO_LETTER.sub("", " ".join(kept).lower())
    return [word for word in plain.split() if not (word in _RELEASED_STRUCTURE or word in _RELEASED_NUMERALS)]


def _is_number(token: str) -> bool:
    return token in ("I", "V", "X") or _is_numeral(token)


def _is_numeral(token: str) -> bool:
    small = token.islower() and len(token) > 2 and token != "mix"
    return token.isdigit() or _ROMAN.fullmatch(token.upper() if small else token) is not None
