"""The words of simulated texts (`words.toml`), and invented ones for further values."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
FEELINGS: dict[str, list[str]] = _WORDS["feelings"]  # five adjectives, then three nouns each
EVENTS: dict[str, dict[str, list[str]]] = _WORDS["events"]  # aspect -> emotion -> three events
SYNONYMS: dict[str, list[str]] = _WORDS["synonyms"]
N_ADJECTIVES = 5
N_EVENTS = 3  # of an aspect and an emotion
FIRST_CHOSEN = ("joy", "sadness", "anger", "fear", "calm", "surprise", "boredom", "disgust")
WITH_ADJECTIVE = (  # {0} is the event, {1} the feeling
    "{0}, which made me {1}",
    "{0}, which left me {1}",
    "{0} and I was {1}",
    "I was {1} because {0}",
    "I felt {1} when {0}",
    "I was so {1} when {0}",
)
WITH_NOUN = (
    "{0}, which filled me with {1}",
    "{0} and I felt {1}",
    "I was full of {1} when {0}",
    "I felt {1} because {0}",
)
JOINTS = ("; ", ", but ", ", and ", ", while ")
INVENTED_FEELINGS = ("{}", "{}ish", "{}ed", "{}ous", "{}y", "{}ness", "{}hood", "{}ment")
INVENTED_EVENTS = ("the {} was {}", "we had some {} {}", "my {} went {}")
INVENTED_ENDINGS = dict(zip(EVENTS, ("or", "ent", "ique", "ard", "esk", "ule"), strict=True))


def invented(number: int) -> str:
    """A word of two or more syllables that no other number has.

    Example:
        >>> invented(0), invented(1), invented(5000)
        ('tabal', 'mobal', 'datoril')
    """
    syllables = [consonant + vowel for vowel in "aeiou" for consonant in "bdfgklmnprstvz"]
    word, left = "", number * 37 + 11  # so that neighbours do not look alike
    while left or len(word) < 4:
        word += syllables[left % len(syllables)]
        left //= len(syllables)
    return word + "l"


def events(emotion: str) -> list[list[str]]:
    """Three events for each aspect in turn, each in all its wordings."""
    if emotion in FEELINGS:
        every = [event for by_emotion in EVENTS.values() for event in by_emotion[emotion]]
        return [_wordings(event) for event in every]
    return [
        [form.format(aspect, emotion + ending)]
        for aspect, ending in INVENTED_ENDINGS.items()
        for form in INVENTED_EVENTS
    ]


def feelings(emotion: str) -> list[str]:
    """The adjectives, then the nouns, for an emotion."""
    return FEELINGS.get(emotion) or [form.format(emotion) for form in INVENTED_FEELINGS]


def _wordings(event: str) -> list[str]:
    choices = [(word, *SYNONYMS.get(word, ())) for word in event.split(" ")]
    return [" ".join(words) for words in product(*choices)]
