"""Language (section 4.2): four words of six letters as a grid, and the language that they are of."""

from __future__ import annotations

from collections.abc import Mapping

from nasbed.core.errors import BadFile
from nasbed.datasets.unseen.draws import Draws
from nasbed.datasets.unseen.families.letters import Strings
from nasbed.datasets.unseen.families.words import Words

TRAINING_WORDS, TEST_WORDS = 1_500, 700
_CHOSEN = 3


class Language(Words):
    """Labels follow the paper's list of ten languages, which begins with English as its figure 2 demands."""

    name = "language"
    title = "Language"
    benchmark = 87.0

    def as_released(self) -> LanguageAsReleased:
        return LanguageAsReleased()


class LanguageAsReleased(Language):
    """By the competition's script."""

    title = "Language as released"
    is_as_released = True
    difference = (
        f"As released: of each language {TRAINING_WORDS} words are for training and validation, {TEST_WORDS} others "
        "for the test, and a word of two languages may be in both."
    )
    hygiene = ()

    def _pools(self, words: Mapping[str, Strings], draws: Draws) -> list[dict[str, Strings]]:
        training, test = {}, {}
        for label, (code, word_list) in enumerate(words.items()):
            if len(word_list) < TRAINING_WORDS + TEST_WORDS:
                raise BadFile(
                    f"each language has {TRAINING_WORDS + TEST_WORDS} words, {self.classes[label]} has "
                    f"{len(word_list)}; get a longer list"
                )
            chosen = word_list[draws.order(len(word_list), _CHOSEN, label)]
            training[code] = chosen[:TRAINING_WORDS]
            test[code] = chosen[TRAINING_WORDS : TRAINING_WORDS + TEST_WORDS]
        return [training, training, test]
