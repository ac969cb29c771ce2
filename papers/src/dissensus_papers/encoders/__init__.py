"""Encoders of single papers; `dissensus` finds them by the names of `ENCODERS`."""

_HERE = "dissensus_papers.encoders"
ENCODERS = {  # like `dissensus.encoders.ENCODERS`
    "text": {
        "characters": (f"{_HERE}.characters", "CharactersEncoder"),
        "tagger:": (f"{_HERE}.tagger", "TaggerEncoder"),
        "character-cnn": (f"{_HERE}.characters", "CharacterCnnEncoder"),
        "spelling": (f"{_HERE}.characters", "SpellingEncoder"),
    }
}
