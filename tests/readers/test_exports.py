"""Real exports of annotation tools against what is known of each.

The files are not part of this repository: DISSENSUS_EXPORTS names their folder, or it is the
folder `exports` next to DISSENSUS_DATA.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dissensus import Corpus, Layout, read
from dissensus.errors import DataError

# path, options, {question of the truth: question of the corpus}; {}: the same names
EXPORTS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("doccano/unsc_speeches.jsonl", {}, {}),
    ("folder_csv/telicity_no_header", {}, {"telicity": "column 2"}),
    (
        "google_forms/image_perception_repeated_headers.csv",
        {},
        {
            "effort": "In your opinion, how much effort and skill went into creating this image?",
            "share or like": "How likely would you be to share or like this image if you saw it on "
            "a social media feed?",
        },
    ),
    ("label_studio_csv/group_appeals.tsv", {}, {}),
    ("label_studio_json/narratives_spans_taxonomy.json", {}, {"label": "label"}),
    ("label_studio_json_min/patent_claims_pairs.json", {}, {}),
    ("long_csv/figure_eight_relations.csv", {}, {}),
    (
        "mturk/stance_five_items_rejected.csv",
        {},
        {"stance (five per row, item = Input.articleCountN)": "stance"},
    ),
    ("peerannot/labelme/answers.json", {}, {"answer": "label"}),
    ("potato/summaries_likert", {}, {}),
    ("prodigy/choice_multiple.jsonl", {}, {"accept": "choice"}),
    ("toloka/speech_transcriptions_free_text.tsv", {}, {}),
    ("wide_tsv_soft/climate_stance_worker_slots.tsv", {}, {"stance": "answer"}),
    ("xlsx/relations_workers_no_item_id.xlsx", {}, {}),
    ("xlsx/summaries_sheet_per_annotator.xlsx", {}, {f"{d}_{s}": f"{d}_{s}" for d in (
        "informativeness", "factualness", "fluency", "succinctness")
        for s in ("nograph", "norl", "rl")}),
]  # fmt: skip


FEWEST_RIGHT = 31  # files of the forty that are read rightly, without an option
FEWEST_REFUSED = 6  # and those that are rightly refused


RANKED = (
    "Please rank the Star Wars films in order of preference with 1 being your favorite film in the "
    "franchise and 6 being your least favorite film. | {item}"
)
LAYOUTS: dict[str, dict[str, Any]] = {  # of files that are asked about or refused
    "second/ibex_judgments_long_headers.csv": {"repeats": "first"},
    "second/hate_shares_semicolon.csv": {
        "answer": ["violence", "directed_vs_generalized"],
        "scale": "interval:0:1",
    },
    "second/mqm_errors_per_segment.tsv": {
        "item": ["system", "doc", "seg_id"],
        "annotator": "rater",
        "answer": "category",
        "repeats": "set",
    },
    "second/limesurvey_faces_people_rows.csv": {"annotator": "id", "answer": "vr{item}"},
    "second/ner_conll_per_worker": {
        "files": "{annotator}/{file}.txt",
        "header": 0,
        "delimiter": " ",
        "quotes": False,
        "columns": ["token", "label"],
        "item": ["file", "{row}", "token"],
        "answer": "label",
    },
    "second/stars_vote_counts.csv": {"item": "id", "answer": "votes_{value}"},
    "second/coder_item_label.txt": {"item": "column 2", "annotator": "column 1"},
    "second/lecturers_one_letter_columns.csv": {"item": "d", "annotator": "s", "answer": "y"},
    "second/survey_star_films.csv": {
        "header": 2,
        "annotator": "RespondentID",
        "answer": RANKED,
    },
}


@pytest.fixture(scope="module")
def exports() -> Path:
    named = os.environ.get("DISSENSUS_EXPORTS")
    data = os.environ.get("DISSENSUS_DATA")
    folder = Path(named) if named else Path(data).parent / "exports" if data else None
    if folder is None or not folder.is_dir():
        pytest.skip("needs DISSENSUS_EXPORTS, a folder of real exports")
    return folder


def truth_of(exports: Path, name: str) -> dict[str, Any]:
    return json.loads((exports / f"{name}.truth.json").read_text(encoding="utf-8"))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "options", "names"), EXPORTS, ids=[name for name, _, _ in EXPORTS]
)
def test_an_export(
    exports: Path, name: str, options: dict[str, Any], names: dict[str, str]
) -> None:
    truth = truth_of(exports, name)["questions"]
    corpus = read(exports / name, **options)
    for question, known in truth.items():
        if not names or question in names:
            check(corpus, names.get(question, question), known)


def check(corpus: Corpus, question: str, known: dict[str, Any]) -> None:
    """Items, annotators, answers and their values; answers of the empty set may be left out."""
    answers = corpus[question]
    values = answers.answers()
    empty = sum(value == () for value in values)
    n_empty_may = 0 if isinstance(known["left_out"], str) else sum(known["left_out"].values())
    assert known["rows"] <= answers.n_rows <= known["rows"] + min(n_empty_may, empty), question
    if answers.annotator is not None:
        assert len(set(answers.annotator.tolist())) == known["annotators"], question
    if not empty:
        assert len(set(answers.item.tolist())) == known["items"], question
    if isinstance(known["answers"], list):
        seen = {m for v in values for m in (v if isinstance(v, tuple) else (as_text(v),))}
        assert seen == set(known.get("single_answers") or map(str, known["answers"])), question
    if "spans" in known:
        assert corpus.rationales is not None
        spans = corpus.rationales.question.to_pylist().count(question)
        assert spans == known["spans"], question


def as_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.data
def test_spans_of_four_annotators(exports: Path) -> None:
    corpus = read(exports / "inception_tsv" / "voc_events")
    truth = truth_of(exports, "inception_tsv/voc_events")["questions"]
    assert corpus.rationales is not None
    assert (corpus.n_items, corpus.n_annotators) == (1, 4)
    questions = corpus.rationales.question.to_pylist()
    for question, known in truth.items():
        assert questions.count(question) == known["rows"]
    assert set(corpus["NamedEntity.value"].scale.values) == set(  # type: ignore[attr-defined]
        truth["NamedEntity.value"]["answers"]
    )


@pytest.mark.data
def test_a_taxonomy(exports: Path) -> None:
    name = "label_studio_json/narratives_spans_taxonomy.json"
    known = truth_of(exports, name)["questions"]["Category"]
    paths = [path for answer in read(exports / name)["Category"].answers() for path in answer]
    assert len(paths) == known["paths"]
    assert {path.replace(" > ", " / ") for path in paths} == set(known["answers"])


@pytest.mark.data
def test_classifications_of_zooniverse(exports: Path) -> None:
    name = "second/citizen_science_species.csv"
    known = truth_of(exports, name)["questions"]["T3 species"]
    corpus = read(exports / name, layout=Layout(repeats="keep"))
    answers = corpus["T3"].answers()
    assert (corpus.n_items, corpus.n_annotators) == (known["items"], known["annotators"])
    assert (len(answers), answers.count(())) == (known["rows_T3"], known["empty"])
    assert {value for answer in answers for value in answer} == known["answers"].keys()
    assert read(exports / name, repeats="first")["T3"].n_rows == known["pairs"]


@pytest.mark.data
def test_no_file_is_read_wrongly(exports: Path) -> None:
    known = json.loads((exports / "second" / "accept.json").read_text(encoding="utf-8"))
    outcomes: dict[str, list[str]] = {"right": [], "refused": [], "asked": [], "wrong": []}
    for truth in sorted(exports.rglob("*.truth.json")):
        name = truth.name.removesuffix(".truth.json")
        questions = json.loads(truth.read_text(encoding="utf-8"))["questions"]
        outcome = outcome_of(truth.with_name(name), questions, known.get(name))
        outcomes[outcome].append(name)
    assert outcomes["wrong"] == []
    assert len(outcomes["right"]) >= FEWEST_RIGHT, outcomes
    assert len(outcomes["refused"]) >= FEWEST_REFUSED, outcomes


@pytest.mark.data
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_short_layout_reads_what_is_not_recognised(exports: Path, name: str) -> None:
    known = json.loads((exports / "second" / "accept.json").read_text(encoding="utf-8"))
    layout = Layout.of(LAYOUTS[name])
    assert len(layout.to_toml().splitlines()) <= 10
    corpus = read(exports / name, layout=layout)
    truth = truth_of(exports, name)["questions"]
    assert any(fits(corpus, one) for one in alternatives(truth, known.get(Path(name).name)))


def outcome_of(path: Path, truth: dict[str, Any], accepted: Any) -> str:
    """ "right", "refused" with the word that is asked for, "asked" without it, or "wrong"."""
    try:
        corpus = read(path)
    except DataError as error:
        word = accepted.removeprefix("refuse:") if isinstance(accepted, str) else None
        return "refused" if word and word.casefold() in str(error).casefold() else "asked"
    return "right" if any(fits(corpus, one) for one in alternatives(truth, accepted)) else "wrong"


def alternatives(truth: dict[str, Any], accepted: Any) -> list[list[tuple[int, int]]]:
    """Numbers that a corpus must have, each from and to: of items, annotators and answers."""
    accepted = () if isinstance(accepted, str) else accepted
    more = [[(number, number) for number in numbers] for numbers in accepted or ()]
    for known in truth.values():
        left = known.get("left_out") or {}
        n_left = 0 if isinstance(left, str) else sum(left.values())
        counts = ["items", "annotators"] + ["rows"] * (known.get("type") != "span")
        numbers = [known[part] for part in counts if known.get(part) is not None]
        more.append([(n, n + n_left) for n in numbers])
    return [one for one in more if one]


def fits(corpus: Corpus, numbers: list[tuple[int, int]]) -> bool:
    """Whether each number is that of the items, annotators or answers of one question."""
    for answers in corpus.questions.values():
        people = 0 if answers.annotator is None else len(set(answers.annotator.tolist()))
        seen = {corpus.n_items, len(set(answers.item.tolist())), people, answers.n_answers}
        if answers.annotator is None:
            seen |= {1}  # unknown, as in an export without its user
        if all(any(low <= n <= high for n in seen) for low, high in numbers):
            return True
    return False
