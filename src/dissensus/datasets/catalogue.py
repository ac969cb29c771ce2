"""The catalogue of known corpora: licence, size, and what each is good for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """What there is to know before a corpus is read; sizes are of the first corpus in a folder."""

    items: int | None  # None: not known here
    annotators: int | None  # None: not known, or answers without annotators
    answers: int | None
    licence: str
    good_for: str


UNSTATED = "none stated"
ANNOUNCED = "not public yet"
FACTS: dict[str, Facts] = {
    "pos_tweets": Facts(17503, 177, 70177, UNSTATED, "aggregation with gold; words in context"),
    "speechocean762": Facts(
        2500, 5, 37500, "free for any use (README)", "few experts who rated everything; speech"
    ),
    "jester5k": Facts(100, 5000, 363209, UNSTATED, "many annotators, taste; ratings of texts"),
    "cifar10h": Facts(10000, None, 511000, "CC BY-NC-SA 4.0", "soft labels of pictures"),
    "lewidi2023": Facts(
        952, 6, 17136, UNSTATED, "shared task on texts: the same annotators, or a crowd"
    ),
    "stemming": Facts(6679, None, 26692, UNSTATED, "votes with gold; pairs of words"),
    "emobank": Facts(10548, None, 288702, "CC BY-SA 4.0", "ratings of texts, reader and writer"),
    "eye_fixations_12coders": Facts(
        105641, 12, 1262877, "CC BY-NC-SA 4.0", "experts on sequences; long recordings"
    ),
    "lewidi2025": Facts(704, 850, 3186, UNSTATED, "shared task: ordinal answers and sets"),
    "toxic_spans": Facts(16100, 3579, 59215, "CC0 1.0", "rationales: words that annotators marked"),
    "nli_variation": Facts(500, 509, 50763, UNSTATED, "distributions of ratings, 50 for each item"),
    "faces_3dsk": Facts(100, 2000, 100000, "CC BY 4.0", "individual taste; ratings of pictures"),
    "labelme_crowds": Facts(2688, 59, 2547, UNSTATED, "learning from crowds with gold; features"),
    "snow2008": Facts(100, 38, 7000, UNSTATED, "aggregation with gold: ratings, rte, temp"),
    "bluebirds_ducks": Facts(108, 39, 4212, "BSD", "aggregation with gold; a complete table"),
    "dawid_skene_classics": Facts(45, 5, 315, "GPL-2", "the first examples of aggregation"),
    "vgmidi": Facts(204, 3070, 12202, UNSTATED, "ratings over time; music"),
    "msp_improv": Facts(None, None, None, "from its authors", "individual annotators; speech"),
    "msp_podcast": Facts(None, None, None, "from its authors", "individual annotators; speech"),
    "iemocap": Facts(None, None, None, "from its authors", "few annotators; acted dialogs"),
    "muse": Facts(None, None, None, "from its authors", "individual annotators; stressed speech"),
    "tvsum": Facts(329, 400, 6580, "CC BY 3.0 (videos)", "annotators who share no video; frames"),
    "crema_d_votes": Facts(7442, None, 212000, "ODbL 1.0", "votes on voice, face and both"),
    "ferplus_votes": Facts(35887, None, 358869, "MIT", "soft labels of faces, without pictures"),
    "cue_conflict16": Facts(
        1280, 30, 37924, "CC BY 4.0", "a panel with three known tendencies; pictures"
    ),
    "ca_patterns216": Facts(216, 80, 8640, UNSTATED, "two ratings of each picture; densities"),
    "nsc_voices": Facts(300, 114, 153484, UNSTATED, "impressions of voices; other listeners"),
    "trompa_mer": Facts(693, 196, 14229, "AGPL 3", "valence and arousal of music; raters known"),
    "street": Facts(None, 10, None, ANNOUNCED, "five perspectives on photographs"),
    "amer": Facts(None, 13, None, ANNOUNCED, "emotions in clips of films"),
}
