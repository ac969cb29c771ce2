"""Column names: which names stand for an item, an annotator, an answer and so on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dissensus.contents import Kind
from dissensus.readers.tables.rows import Column, Rows

_NAMES = {  # the likelier first, written plain: no case, no spaces, no signs
    "item": "item itemid itemname itemnumber task taskid taskname example exampleid unit unitid "
    "instance instanceid sample sampleid document-id docid textid tweetid commentid postid "
    "sentenceid messageid imageid clipid videoid audioid utteranceid questionid hit hitid revid "
    "objectid recordid id uid uuid index",
    "annotator": "annotator annotatorid annotatorname worker workerid rater raterid coder coderid "
    "performer performerid judge judgeid labeler labelerid labeller labellerid annotatedby "
    "completedby participant participantid respondent respondentid reviewer reviewerid assessor "
    "assessorid evaluator evaluatorid expert expertid user userid username person personid turk "
    "turkid turker turkerid prolificpid prolificid subjectid observer listener kodierer "
    "bewerter annotateur évaluateur codeur anotador evaluador annotatore valutatore proband "
    "versuchsperson",
    "answer": "answer answers label labels rating annotation annotations judgment judgement vote "
    "value output score choice class category grade decision opinion "
    "bewertung urteil kategorie antwort étiquette jugement catégorie réponse etiqueta juicio "
    "categoría respuesta etichetta giudizio",
    "response": "response responseid assignment assignmentid submission submissionid",
    "text": "text sentence tweet comment content document utterance post message passage "
    "paragraph phrase review tweettext commenttext posttext body snippet satz kommentar "
    "texte texto frase testo commentaire comentario",
    "image": "image imagepath imagefile img imgpath picture photo",
    "audio": "audio audiopath audiofile wav wavpath speech recording",
    "video": "video videopath videofile",
    "gold": "gold goldlabel goldstandard goldanswer truth groundtruth gt truelabel golden",
    "seconds": "seconds leadtime worktimeinseconds timeseconds durationseconds",
    "count": "count counts votes nvotes n",
    "question": "question questionname dimension aspect",
    "split": "split",
}
NAMES = {
    part: tuple("".join(filter(str.isalnum, name)) for name in names.split())
    for part, names in _NAMES.items()
}
ABOUT_ANSWERS = frozenset(  # words in the names of columns that are about an answer, but are none
    "confidence confident certainty sureness remark remarks comment comments note notes feedback "
    "time timestamp date datetime duration seconds elapsed rt latency started submitted created "
    "updated order trial session sicherheit kommentar bemerkung zeit confiance".split()
)
PAIR = ("premise", "hypothesis")  # two texts shown together, in this order
WEAK = ("id", "uid", "uuid", "index")  # may number the rows instead of the items


def plain(name: str) -> str:
    """A column's name without case, spaces, dashes and underscores.

    Example:
        >>> plain("Worker_ID"), plain("task-id"), plain("taskId")
        ('workerid', 'taskid', 'taskid')
    """
    return "".join(filter(str.isalnum, name.casefold()))


def is_about_answers(name: str) -> bool:
    """Whether a column is no question by its name, but about answers: how sure, when, remarks.

    Example:
        >>> [is_about_answers(name) for name in ("CONFIDENCE", "time_ms", "rating")]
        [True, True, False]
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return any(word.casefold() in ABOUT_ANSWERS for word in words)


def n_recognised(names: Iterable[str]) -> int:
    """How many of these names are known, to recognise the delimiter."""
    known = {name for part in NAMES.values() for name in part} | set(PAIR)
    return sum(plain(name) in known for name in names)


def kind_of(column: str) -> Kind:
    """The kind of content that a column of this name shows."""
    kinds: tuple[Kind, ...] = ("image", "audio", "video")
    return next((kind for kind in kinds if plain(column) in NAMES[kind]), "text")


def candidates(part: str, rows: Rows, taken: Iterable[str | None] = ()) -> list[str]:
    """The columns whose names fit, likeliest first."""
    by_name: dict[str, str] = {}
    for name in rows.columns:
        if name not in taken:
            by_name.setdefault(plain(name), name)
    named = [by_name[name] for name in NAMES[part] if name in by_name]
    if part == "annotator":
        named += [
            name for name in by_name.values() if name not in named and ends_in_annotator(name)
        ]
    return named


def ends_in_annotator(name: str) -> bool:
    """Whether the last words of a longer name are those of an annotator.

    Example:
        >>> names = ("anonymized annotator id", "annotator gender", "rating by worker", "worker")
        >>> [ends_in_annotator(name) for name in names]
        [True, False, False, False]
    """
    words = [word for word in re.split(r"[\W_]+", name.casefold()) if word]
    if any(word in NAMES["answer"] for word in words):
        return False
    return any("".join(words[at:]) in NAMES["annotator"] for at in range(1, len(words)))


def first_named(
    part: str,
    rows: Rows,
    taken: Iterable[str | None] = (),
    fits: Callable[[Column], bool] = lambda column: True,
) -> str | None:
    """The likeliest column whose name and content fit."""
    fitting = (name for name in candidates(part, rows, taken) if fits(rows.columns[name]))
    return next(fitting, None)


def answer_named(rows: Rows, taken: Iterable[str | None]) -> str | None:
    """The likeliest column of answers; `response` may be one, but what ends in `id` never is."""
    ids = [name for name in rows.columns if plain(name).endswith("id")]
    answer = first_named("answer", rows, taken)
    return answer or first_named("response", rows, {*taken, *ids})
