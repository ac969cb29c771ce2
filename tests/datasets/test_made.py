"""What is read from the small folders of all known corpora, as it is written in made.json.

After a change that is meant, `python -m tests.datasets.test_made` writes the file again: look at
what `git diff` says about it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.datasets import DATASETS, dataset, usable_clips
from dissensus.encoders.features import FeaturesEncoder
from dissensus.errors import DataError
from tests.datasets.folders import item, sample, write

SampleFolder = Callable[[str], Path]
MADE = Path(__file__).parent / "made.json"
EVERY = [(name, corpus) for name, known in DATASETS.items() for corpus in known.corpora]
CONVERSATIONS = "lewidi2023/ConvAbuse_train.json"
CLIPS = ("msp_improv", "msp_podcast", "iemocap", "muse")


def plain(column: Any, folder: Path) -> Any:
    """A column as JSON; paths without that of the folder, bytes as texts."""
    values = column.to_pylist() if isinstance(column, pa.Array | pa.ChunkedArray) else column
    texts = [value.decode("latin-1") if isinstance(value, bytes) else value for value in values]
    return [text.replace(f"{folder.resolve()}/", "") if isinstance(text, str) else text
            for text in texts]  # fmt: skip


def answered(answers: Annotations, folder: Path) -> dict[str, Any]:
    """Answers with the names of items and annotators, and the columns next to them."""
    table = {name: plain(column, folder) for name, column in answers.to_table().to_pydict().items()}
    response = None if answers.response is None else answers.response.tolist()
    return {"scale": answers.scale.to_dict(), **table, "response": response,
            "repeats": answers.repeats}  # fmt: skip


def written(corpus: Corpus, folder: Path) -> dict[str, Any]:
    """All of a corpus as JSON."""
    shown = {
        role: {"kind": contents.kind, "of items": corpus.content[role].tolist(),
               "values": plain(contents.values, folder)}
        for role, contents in corpus.contents.items()
    }  # fmt: skip
    result: dict[str, Any] = {
        "name": corpus.name,
        "items": list(corpus.items),
        "annotators": list(corpus.annotators),
        "questions": {key: answered(of, folder) for key, of in corpus.questions.items()},
        "gold": {key: answered(of, folder) for key, of in corpus.gold.items()},
        "contents": shown,
        "item attributes": {k: plain(v, folder) for k, v in corpus.item_attributes.items()},
        "annotator attributes": {
            k: plain(v, folder) for k, v in corpus.annotator_attributes.items()
        },
        "splits": {k: plain(v, folder) for k, v in corpus.splits.items()},
        "group": corpus.group,
        "units": corpus.units().tolist(),
        "left out": [list(row) for row in corpus.left_out],
        "notes": list(corpus.notes),
    }
    if corpus.focus is not None:
        places = zip(corpus.focus.start.tolist(), corpus.focus.stop.tolist(), strict=True)
        result["focus"] = [corpus.focus.role, list(places)]
    if corpus.rationales is not None:
        spans = corpus.rationales
        result["rationales"] = [
            [corpus.items[item], corpus.annotators[who] if who >= 0 else None, question, role,
             corpus.text_of(int(item))[int(start[0]) : int(stop[0])], kind]
            for item, who, question, role, start, stop, kind in zip(
                spans.item, spans.annotator, spans.question.to_pylist(), spans.role.to_pylist(),
                spans.start, spans.stop, spans.kind.to_pylist(), strict=True)
        ]  # fmt: skip
    return json.loads(json.dumps(result))


@pytest.mark.parametrize(("name", "corpus"), EVERY)
def test_a_small_folder_is_read_as_it_is_kept(
    name: str, corpus: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name)
    kept = json.loads(MADE.read_text(encoding="utf-8"))[f"{name} {corpus}"]
    assert written(dataset(name).load(folder, corpus), folder) == kept


@pytest.mark.parametrize("name", CLIPS)
def test_the_clips_of_the_paper(name: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder(name)
    kept = json.loads(MADE.read_text(encoding="utf-8"))[f"{name} usable"]
    usable = usable_clips(dataset(name).load(folder))
    assert [list(usable.items), *(list(row) for row in usable.left_out)] == kept


def test_annotators_of_muse_are_known_where_their_ids_are(sample_folder: SampleFolder) -> None:
    folder = sample_folder("muse")
    header = "FileName,soft_act_labels,soft_val_labels,annotators\n01_DR-100_0097_1_sentence_1.wav"
    row = "\"[2, 4, 4]\",\"[6, 7, 6]\",\"['A1', 'A2', 'self_report_01']\"\n"
    write(folder, "muse_annotators.csv", f"{header},{row}")
    corpus = dataset("muse").load(folder, "muse")
    assert list(corpus.annotators) == ["A1", "A2"]
    assert corpus["valence"].answer.tolist() == [6, 7]
    assert corpus["activation"].answer.tolist() == [2, 4]
    assert dataset("muse").load(folder, "muse-context").n_annotators == 0
    write(folder, "muse_annotators.csv", f'{header},[5],[6],"[1, 2]"\n')
    with pytest.raises(DataError, match="muse_annotators.csv: row 1: .* must be three lists of"):
        dataset("muse").load(folder, "muse")


def test_one_session_of_iemocap_is_enough(sample_folder: SampleFolder) -> None:
    folder = sample_folder("iemocap")
    for number in range(2, 6):
        shutil.rmtree(folder / f"Session{number}")
    corpus = dataset("iemocap").load(folder)
    assert corpus.n_items == 2 and "Session5 is not there" in corpus.notes


def test_features_have_a_place_for_each_sample(sample_folder: SampleFolder) -> None:
    corpus = dataset("eye_fixations_12coders").load(sample_folder("eye_fixations_12coders"))
    store = FeaturesEncoder().encode(corpus.contents["gaze"])  # which takes no nan
    assert store.vectors.shape == (5, 5)
    assert store.places[:, 0].tolist() == [[0, 1], [1, 2], [0, 1], [1, 2], [2, 3]]


def test_a_part_that_need_not_be_there_is_read_where_it_is(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2025")
    assert dataset("lewidi2025").load(folder, "CSC").parts() == ["dev"]
    write(
        folder, "CSC_train.json", json.dumps({"1": item("lewidi2025/CSC_dev.json", split="train")})
    )
    corpus = dataset("lewidi2025").load(folder, "CSC")
    assert list(corpus.items) == ["train-1", "dev-1", "dev-2"]


def test_a_damaged_id_joins_all_that_bear_it(sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2023")
    info = {**item(CONVERSATIONS)["other_info"], "conversation_id(s)": "2.45945E+15"}
    items = {str(key): item(CONVERSATIONS, other_info=info) for key in range(3)}
    write(folder, "ConvAbuse_train.json", json.dumps(items))
    corpus = dataset("lewidi2023").load(folder, "ConvAbuse")
    assert corpus.units()[:3].tolist() == [0, 0, 0]
    assert any("damaged to the form 2.45945E+15" in note for note in corpus.notes)


@pytest.mark.parametrize("text", ['{"a": ' + "[" * 100_000, '{"a": "\\ud800"}', "{" + "9" * 5000])
def test_turns_that_are_damaged_json_are_a_text(text: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder("lewidi2023")
    items = {"1": item(CONVERSATIONS, text=text)}
    (folder / "ConvAbuse_train.json").write_text(json.dumps(items), encoding="utf-8")
    corpus = dataset("lewidi2023").load(folder, "ConvAbuse")
    assert text in corpus.contents["text"].values.to_pylist()


def test_texts_of_the_official_parts_that_are_no_comments_are_counted(
    sample_folder: SampleFolder,
) -> None:
    folder = sample_folder("toxic_spans")
    with (folder / "tsd_test.csv").open("a") as file:
        file.write("[],more tea\n")
    corpus = dataset("toxic_spans").load(folder)
    note = "1 texts of the official parts are not among the comments and are left out"
    assert corpus.notes[-1] == note
    marked = corpus.without(annotators=["20"]).rationales  # dropped answers take their spans along
    assert marked is not None and np.unique(marked.annotator).tolist() == [-1, 0]


def test_other_copies_of_the_licensed_corpora(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_improv")
    (folder / "Audio").mkdir()
    for session in ("session1", "session4"):
        (folder / session).rename(folder / "Audio" / session)
    (folder / "Evaluation.txt").rename(folder / "Evalution.txt")
    (folder / "Text").rename(folder / "elsewhere")
    assert dataset("msp_improv").recognise(folder)
    corpus = dataset("msp_improv").load(folder)
    assert list(corpus.contents) == ["speech"] and len(corpus.contents["speech"]) == 4
    folder = sample_folder("muse")
    (folder / "SurveyInformation").rename(folder / "Survey Information (Questions, Data etc)")
    assert dataset("muse").recognise(folder)
    assert dataset("muse").load(folder).n_items == 3


def test_clips_without_sound_or_text_are_noted(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_podcast")
    (folder / "Audios" / "MSP-PODCAST_0002_0002.wav").unlink()
    write(folder / "Transcripts", "MSP-PODCAST_0001_0002.txt", " \n")
    corpus = dataset("msp_podcast").load(folder)
    assert corpus.notes == (
        "1 clip without a sound file: 'MSP-PODCAST_0002_0002'",
        "1 clip without a transcript: 'MSP-PODCAST_0001_0002'",
    )
    assert corpus.content["speech"].tolist() == [0, 1, 2, -1]


def main() -> None:
    kept: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as work:
        for name, known in DATASETS.items():
            folder = sample(name, Path(work) / name)
            for corpus in known.corpora:
                kept[f"{name} {corpus}"] = written(known.load(folder, corpus), folder)
            if name in CLIPS:
                usable = usable_clips(known.load(folder))
                kept[f"{name} usable"] = [list(usable.items), *map(list, usable.left_out)]
    MADE.write_text(f"{lines(kept, 2)}\n", encoding="utf-8")


def lines(content: Any, depth: int) -> str:
    """JSON with a line for each entry, down to a depth."""
    if not depth or not isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    entries = (f"{json.dumps(key)}: {lines(value, depth - 1)}" for key, value in content.items())
    return "{\n" + ",\n".join(entries) + "\n}"


if __name__ == "__main__":
    main()
