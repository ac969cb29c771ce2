"""ROVER: one transcription from several, word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Slot = Counter[str]  # how many transcriptions have which word here; "" is no word


def rover(texts: Sequence[str]) -> tuple[str, float]:
    """Align the words of all texts, and take the most frequent word at each place.

    Returns the text, and the mean share of texts that agree with it, over places. Of words that
    tie, the longest is taken, and of these the last in the alphabet. Blanks separate words.

    Example:
        >>> rover(["the cat", "a cat", "the cat", "the dog"])
        ('the cat', 0.75)

    Reference: Fiscus (1997), doi 10.1109/ASRU.1997.659110.
    """
    hypotheses = [text.split() for text in texts]
    slots: list[Slot] = [Counter([word]) for word in hypotheses[0]] if hypotheses else []
    for n_aligned, words in enumerate(hypotheses[1:], start=1):
        slots = _aligned(slots, words, n_aligned)
    chosen = [max((times, len(word), word) for word, times in slot.items()) for slot in slots]
    words = [word for _, _, word in chosen if word]
    share = sum(times for times, _, _ in chosen) / max(len(chosen), 1) / max(len(texts), 1)
    return " ".join(words), share if chosen else 1.0


def _aligned(slots: list[Slot], words: list[str], n_aligned: int) -> list[Slot]:
    """Add a text to the places of the texts before it, at the least number of edits."""
    cost = _costs(slots, words)
    row, column = len(words), len(slots)
    joined = []
    while row or column:
        here = cost[row][column]
        slot = slots[column - 1] if column else Counter()
        if row and column and here == cost[row - 1][column - 1] + (words[row - 1] not in slot):
            row, column = row - 1, column - 1
            joined.append(slot + Counter([words[row]]))
        elif column and (not row or here == cost[row][column - 1] + ("" not in slot)):
            column -= 1
            joined.append(slot + Counter([""]))
        else:
            row -= 1
            joined.append(Counter({"": n_aligned, words[row]: 1}))
    return joined[::-1]


def _costs(slots: list[Slot], words: list[str]) -> list[list[int]]:
    """The least number of edits between the first words and the first places.

    To leave a place out costs nothing where a text before has no word there, except at the
    beginning (as in crowd-kit).
    """
    cost = [[0] * (len(slots) + 1) for _ in range(len(words) + 1)]
    for column in range(1, len(slots) + 1):
        cost[0][column] = column
    for row, word in enumerate(words, start=1):
        cost[row][0] = row
        for column, slot in enumerate(slots, start=1):
            cost[row][column] = min(
                cost[row - 1][column - 1] + (word not in slot),
                cost[row][column - 1] + ("" not in slot),
                cost[row - 1][column] + 1,
            )
    return cost
