"""What is wrong with a file of a known corpus is said in one line: a change, and the message."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import dataset, speech
from dissensus.errors import DataError
from tests.datasets.crowd_folders import vectors

SampleFolder = Callable[[str], Path]
OUTSIDE = "(1 such answers); declare other ends or leave the row out"
TWICE = "2 times (1 such pairs); keep one row each, or say what to do with repeats (--repeats):"
TAGS = "'ADJ', 'ADP', 'ADV', 'CONJ', 'DET', 'NOUN', 'NUM', 'PRON', 'PRT', '.', 'VERB', 'X'"
SAMPLES, DIALOG = (
    "samples_with_12_labels.csv.gz",
    "Session1/dialog/EmoEvaluation/Ses01F_impro01.txt",
)
SURVEY = f"{speech.SURVEY}/{speech.MUSE_RATINGS}"
SPANS = "must be a list of characters such as [3, 4], found"

# fmt: off
# dataset (and corpus), file, what stands there, what stands there instead, message; all of the file
# is replaced if nothing stands there; FILE is the file, a message that ends with ... goes on
CASES = [
    ("pos_tweets", "annotations.csv.gz", "VERB", "verb",
     f"FILE: row 2: no value 'verb' on the nominal scale of {TAGS}"),
    ("pos_tweets", "annotations.csv.gz", "5,10,X", "77,10,X",
     "FILE: no item '77'; there are 8: '0', ..."),
    ("pos_tweets", "annotations.csv.gz", "0,9,VERB", "0,10,X",
     f"FILE: annotator '10' answered item '0' {TWICE} keep, first, last"),
    ("pos_tweets", "tokens.csv", "2,train,0,2", "2,train,0,3",
     "FILE: the tokens of a tweet must follow one another, pos_in_sent from 0"),
    ("pos_tweets", "plank2014_500tweets_2annotators.csv", "ann2", "second",
     "FILE: no column ['ann2']; the file has ['sent_id', 'token', 'ann1', 'second']"),
    ("speechocean762", "sentence_scores.csv.gz", "9.0,0.5,9.0", "9.0,0.5,11",
     f"FILE: row 2: 11 lies outside 0 to 10 {OUTSIDE}"),
    ("speechocean762", "sentence_scores.csv.gz", "9.0,0.5,9.0", "9.0,0.5,",
     "FILE, row 2: 'fluency' is empty"),
    ("speechocean762", "sentence_scores.csv.gz", "9.0,0.5,9.0", "9.0,0.5,good",
     "FILE: damaged (In CSV column #4: CSV conversion error to double: invalid value 'good')"),
    ("speechocean762", "utterances.csv", "010,train", "011,train,2,30,f,TEA,c.wav\n010,train",
     "audio_opus.parquet: no sound for item '011'"),
    ("speechocean762 words", "word_scores.csv.gz", "010,0,more", "010,1,tea",
     "FILE, row 4: utterance '010' has no word 1"),
    ("speechocean762 words", "word_scores.csv.gz", "007,1,tea,1", "007,0,tea,3",
     "FILE: 1 of 3 words have no scores"),
    ("jester5k", "ratings.csv.gz", "0,9,10", "0,9,99",
     f"FILE: row 3: 99 lies outside -10 to 10 {OUTSIDE}"),
    ("jester5k", "ratings.csv.gz", "", "item_id,annotator_id,rating\n", "FILE: no rows"),
    ("jester5k", "jokes.csv", "1,A duck", "0,A duck", "FILE: names occur twice: '0'"),
    ("jester5k", "jokes.csv", "", "item_id,text,text\n1,a,b\n",
     "FILE: several columns are called 'text'"),
    ("lewidi2023 HS-Brexit", "HS-Brexit_dev.json", '"split": "dev"', '"split": "train"',
     "HS-Brexit_train.json, FILE: names occur twice: 'train-1'"),
    ("stemming", "stemming_votes.csv", "vote1", "votes",
     "FILE: no column ['vote1']; the file has ['item_id', 'word', 'stem', 'wost', 'fold10', ..."),
    ("stemming", "stemming_votes.csv", "2,2,0.5", "-2,2,0.5",
     "FILE: row 2: the number of votes must be 0 or more, found -2"),
    ("stemming", "stemming_votes.csv", "hard-tst", "tst",
     "FILE: row 4: 'set' must be one of trn, dev, hard-tst, found 'tst'"),
    ("stemming", "stemming_votes.csv", "trn,1", "trn,2",
     "FILE: row 1: no value '2' on the nominal scale of '0', '1'"),
    ("stemming", "stemming_votes.csv", "4,0,0.982", "four,0,0.982",
     "FILE: damaged (In CSV column #10: CSV conversion error to int32: invalid value 'four')"),
    ("stemming", "stemming_votes.csv", ",1.0,0.0\n1,NA", "\n1,NA",
     "FILE: damaged (CSV parse error: Expected 16 columns, got 14: 0,teas,tea,..."),
    ("emobank", "individual_reader_ratings.csv", "3,3,4", "3,6,4",
     f"FILE: row 1: 6 lies outside 1 to 5 {OUTSIDE}"),
    ("emobank", "individual_reader_ratings.csv", "mug_5_9,1,1,2", "cup,1,1,2",
     "FILE: no sentence 'cup'; there are 6: 'tea_1_4', 'tea_5_9', ..."),
    ("emobank", "meta.tsv", "tea_5_9", "tea_5_8",
     "FILE: no sentence 'tea_5_9'; there are 6: 'mug_1_4', 'mug_5_9', 'tea_1_4', 'tea_5_8', ..."),
    ("emobank", "emobank.csv", "", "id,split\ncup,dev\n",
     "FILE: no sentence 'cup'; there are 6: ..."),
    ("eye_fixations_12coders", SAMPLES, "595.0,1,1", "595.0,2,1",
     "FILE: row 1: fix_DN must be 0 or 1, found 2"),
    ("eye_fixations_12coders", SAMPLES, "966.1", "left",
     "FILE: 'x' must contain numbers (Failed to parse string: 'left' as a scalar of type double)"),
    ("eye_fixations_12coders", SAMPLES, "infant_1,3.333", "infant_1,0.0",
     "FILE: the samples of a trial must follow one another in time"),
    ("eye_fixations_12coders", SAMPLES, "infant_1,6.667", "adult_2,6.667",
     "FILE: the samples of a trial must follow one another in time"),
    ("eye_fixations_12coders", "fixation_events.csv", "adult_2,TC,0.0,3.333,3\n", "",
     f"{SAMPLES}: row 1: fix_TC is 1, but FILE has no fixation of TC in this trial"),
    ("eye_fixations_12coders", "fixation_events.csv", "infant_1,DN", "infant_9,DN",
     "FILE: no trial 'infant_9'; there are 2: 'adult_2', 'infant_1'"),
    ("eye_fixations_12coders", "fixation_events.csv", "infant_1,DN", "infant_1,XX",
     "FILE: no coder 'XX'; there are 12: 'DN', ..."),
    ("lewidi2025 CSC", "CSC_annotators_meta.json", "", '{"Ann0": {"Age": "5',
     "FILE, line 1: damaged JSON, the file may be truncated (Unterminated string starting at)"),
    ("lewidi2025 CSC", "CSC_annotators_meta.json", "", "[1]",
     "FILE: expected an object of annotators by name, found a list"),
    ("lewidi2025 CSC", "CSC_annotators_meta.json", "", '{"Ann0": "5"}',
     "FILE, annotator 'Ann0': expected an object of facts, found a text"),
    ("lewidi2025 CSC", "CSC_annotators_meta.json", "", '{"Ann0": {}, "Ann0": {}}',
     "FILE: key 'Ann0' occurs twice in one object"),
    ("lewidi2025 CSC", "CSC_dev.json", '"Ann0": "6"', '"Ann0": "7"',
     "FILE, item '1': 'Ann0' answered '7'; sarcasm is one of '1', '2', '3', '4', '5', '6'"),
    ("toxic_spans", "tsd_test.csv", "[5, 6, 7]", "5-7", f"FILE, row 1: spans {SPANS} '5-7'"),
    ("toxic_spans", "tsd_test.csv", "[5, 6, 7]", "[1.5]", f"FILE, row 1: spans {SPANS} '[1.5]'"),
    ("toxic_spans", "annotations.csv", "3,8,", "2,8,", "FILE: names occur twice: '2'"),
    ("toxic_spans", "annotations.csv", "3,8,", "3,80,",
     "FILE: no comment '80'; there are 4: '7', '8', '9', '10'"),
    ("faces_3dsk", "ratings.csv.gz", "dom", "kind",
     "FILE: row 3: no value 'kind' on the nominal scale of 'att', 'dom', 'health', ..."),
    ("faces_3dsk", "ratings.csv.gz", "ada,female,30,R0002", "zoe,female,20,R0002",
     f"FILE: annotator 'R0002' answered item 'zoe' {TWICE} keep, first, last or mean"),
    ("faces_3dsk", "ratings.csv.gz", "30,R0002,male,36.4", "30,R0002,male,36.5",
     "FILE: row 2: rater_age is 36.5, but 36.4 in row 1"),
    ("faces_3dsk", "ratings.csv.gz", "abel,male,33,R0001", "al,m,3,R0001",
     "FILE: no face 'al'; there are 3: 'zoe', 'abel', 'ada'"),
    ("faces_3dsk", "faces.csv", "abel,", "al,",
     "ratings.csv.gz: no face 'abel'; there are 3: 'zoe', 'al', 'ada'"),
    ("labelme_crowds", "annotations.csv", "2,10,3", "2,10,8",
     "FILE: nominal answers are codes 0 to 7, found 0 to 8"),
    ("snow2008 rte", "rte.csv", "W001,10,0,0", "W001,10,0,1",
     "FILE: row 2: gold is '1', but '0' in row 1"),
    ("snow2008 rte", "text_rte1.tsv", "\n10\t", "\n11\t", "FILE: no text for item '10'"),
    ("snow2008 rte", "text_rte1.tsv", "\tIt is cold.", "",
     'FILE: damaged (CSV parse error: Expected 5 columns, got 4: 7\tFALSE\tIE\t"Tea" is hot.)'),
    ("snow2008 affect", "anger.csv", "500,50", "500,-1",
     f"FILE: row 2: -1 lies outside 0 to 100 {OUTSIDE}"),
    ("snow2008 affect", "anger.csv", "500,50", "500,much", "FILE: row 2: 'much' is not a number"),
    ("bluebirds_ducks bluebirds", "bluebirds.csv", "9,10,0,1", "9,10,0,0",
     "FILE: row 4: gold is '1', but '0' in row 2"),
    ("bluebirds_ducks bluebirds", "bluebirds.csv", "", "", "FILE: damaged (Empty CSV file)"),
    ("bluebirds_ducks ducks", "ducks_classes.yaml", "labels", "classes",
     "FILE: damaged (no mapping 'labels' in braces)"),
    ("bluebirds_ducks ducks", "ducks_classes.yaml", "10: 3", "11: 3",
     "FILE: no species for item '10'"),
    ("bluebirds_ducks ducks", "ducks_classes.yaml", ", Non Bird: 3", "",
     "FILE: no species for item '10'"),
    ("dawid_skene_classics anaesthesia", "anesthesia.csv", "4.0", "5.0",
     "FILE: row 2: no value '5' on the ordinal scale of '1', '2', '3', '4'"),
    ("dawid_skene_classics anaesthesia", "anesthesia.csv", "4.0", "",
     "FILE, row 2: 'rating' is empty"),
    ("dawid_skene_classics caries", "caries.csv", "2.0,3.0", "2.0,3.5",
     "FILE, row 1: 'n' counts teeth, found 3.5"),
    ("dawid_skene_classics caries", "caries.csv", "2.0,3.0", "2.0,1e30",
     "FILE, row 1: 'n' counts teeth, found 1e+30"),
    ("vgmidi", "annotations.csv.gz", '"[-1, 0]"\n2,', '"[0, 0]"\n2,',
     f"FILE: annotator '1_b' answered item '1_piece9' {TWICE} keep, first, last or mean"),
    *(("vgmidi", "annotations.csv.gz", "[0, 1]", wrong,
       f"FILE: row 2: 'arousal' must be a list of 2 numbers from -1 to 1, found {wrong!r}")
      for wrong in ("[0, 2]", "[0]", "tea", "[[0, 0]]", "[0, null]")),
    ("vgmidi", "notes.csv.gz", "1_piece9,2", "2_piece1,2", "FILE: no piece '2_piece1'; ..."),
    ("vgmidi", "pieces.csv", "1_piece9", "2_piece1", "FILE: no piece '2_piece1'; ..."),
    ("msp_improv", "Evaluation.txt", "A:4.000000", "A:four",
     "FILE, line 7: expected 'NAME; EMOTION; ...; A:3.0; V:3.0; D:3.0;', found "
     "'W7; Neutral; Neutral; A:four; V:3.000000; D:NaN; N:NaN;'"),
    ("msp_improv", "Evaluation.txt", "V:2.000000", "V:9.000000",
     "FILE, line 2: ratings are from 1 to 5, found "
     "'W10; Angry; Angry,Frustrated; A:1.000000; V:9.000000; D:3.00'"),
    ("msp_improv", "Evaluation.txt", "UTD-IMPROV-S01A-F01", "W7-F01",
     "FILE, line 1: expected a line that begins with UTD-IMPROV-"),
    ("msp_improv", "Evaluation.txt", "T-FF02", "T-FF01",
     "FILE, line 14: clip 'MSP-IMPROV-S02H-F04-T-FF01' is there for the second time"),
    ("msp_improv", "Evaluation.txt", "S02H-F04-T-FF01", "S02H",
     "FILE: 'MSP-IMPROV-S02H' is no name of a clip, such as 'MSP-IMPROV-S01A-F01-P-FM01'"),
    ("msp_improv", "Evaluation.txt", "", "", "FILE: no ratings"),
    ("msp_podcast", "Labels/labels_detailed.csv", "V:7.0", "V:8.0",
     "FILE, row 3: ratings are from 1 to 7, found "
     "'WORKER00000009; Happy; Happy; A:6.000000; V:8.000000; D:5.00'"),
    ("msp_podcast", "Labels/labels_detailed.csv", "0001_0010", "0001_0011",
     "FILE: no clip 'MSP-PODCAST_0001_0011'; there are 4: ..."),
    ("msp_podcast", "Labels/labels_consensus.csv", "Test2", "Test9",
     "FILE: row 4: 'Split_Set' must be one of Train, Development, Validation, Test1, Test2, "
     "Test3, found 'Test9'"),
    ("iemocap", DIALOG, "[2.5000, 2.5000, 2.5000]", "[2.5000, 2.5000]",
     "FILE, line 3: expected '[START - END] Ses01F_impro01_F000 EMOTION [V, A, D]', found "
     "'[6.2500 - 8.2500]\\tSes01F_impro01_F000\\tneu\\t[2.5000, 2.5000]'"),
    ("iemocap", DIALOG, "[6.2500", "6.2500", "FILE, line 4: a rating without a turn before it"),
    ("iemocap", DIALOG, "M001", "F000",
     "FILE, line 10: turn 'Ses01F_impro01_F000' is there for the second time"),
    ("muse", SURVEY, "2;4,6;7", "2;4,6",
     "FILE: row 1: 'Valence_Annotation' and 'Activation_Annotation' must be two lists of as many "
     "numbers, such as 3;4;2, found '6' and '2;4'"),
    ("muse", SURVEY, ",6.5,", ",6.x,",
     "FILE: row 1: 'Valence_Mean' and 'Activation_Mean' must be numbers, found '6.x' and '3.0'"),
    ("muse", SURVEY, ",NS,", ",calm,", "FILE: row 1: 'Type' must be one of S, NS, found 'calm'"),
    ("tvsum", "keyframe_scores.csv", "-aB,90,1,2", "-aB,91,1,2",
     "keyframes/-aB_00091.jpg: missing; the corpus cannot be read without it"),
    ("tvsum", "keyframe_scores.csv", "-aB", "new",
     "FILE: no video 'new'; there are 2: '-aB', 'zz9'"),
    ("crema_d_votes", "tabulatedVotes.csv.gz", "300002", "400002",
     "FILE: row numbers begin with 1, 2 or 3, found 4"),
    ("crema_d_votes", "tabulatedVotes.csv.gz", "1002_IEO_HAP_LO", "1002_IEO_HAPPY",
     "FILE: a file is named actor_sentence_emotion_level, found '1002_IEO_HAPPY'"),
    ("ferplus_votes", "fer2013new.csv.gz", "PublicTest", "Public",
     "FILE: row 2: 'Usage' must be one of Training, PublicTest, PrivateTest, found 'Public'"),
    ("cue_conflict16", "answers.csv", "cc0002,S01,shape", "cc0002,S01,neutral",
     "FILE: row 4: panel is 'neutral', but 'shape' in row 3"),
    ("ca_patterns216", "answers.csv", "ca002,P02", "ca003,P02",
     "FILE: no pattern 'ca003'; there are 2: 'ca001', 'ca002'"),
    ("nsc_voices", "SC_ratings.csv", ",50,100", ",50,loud",
     "FILE: 'nicht_alt' must contain numbers (Failed to parse string: 'loud' as a scalar of type "
     "double)"),
    ("nsc_voices", "eGeMAPSv01a_88_femalespk.csv", "w296", "w016",
     "FOLDER: no features of speaker '296'"),
    ("street", "labels.csv", "Safe_7", "Beauty_7",
     "FILE: no column ['Safe_7']; ..."),
    ("street", "labels.csv", "-3", "0",
     "FILE: row 1: no value '0' on the ordinal scale of '-3', '-2', '-1', '1', '2', '3'"),
    ("street", "labels.csv", "a.jpg", "b" * 300, f"images/{'b' * 300}: missing; ..."),
    ("amer", "discrete-multi-annotator.csv", "y.mp4", "z.mp4",
     "videos/z.mp4: missing; the corpus cannot be read without it"),
]
# fmt: on


def message(name: str, folder: Path) -> str:
    """How a corpus is refused, without the path of the folder."""
    known, _, corpus = name.partition(" ")
    with pytest.raises(DataError) as caught:
        dataset(known).load(folder, corpus or None)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "").replace(str(folder), "FOLDER")


@pytest.mark.parametrize(("name", "file", "old", "new", "expected"), CASES)
def test_a_changed_file_is_refused(
    name: str, file: str, old: str, new: str, expected: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name.partition(" ")[0])
    path = folder / file
    packed = file.endswith(".gz")
    text = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode("utf-8")
    assert old in text
    changed = (text.replace(old, new) if old else new).encode("utf-8")
    path.write_bytes(gzip.compress(changed) if packed else changed)
    start = expected.replace("FILE", file).removesuffix("...")
    refused = message(name, folder)
    assert refused.startswith(start) if expected.endswith("...") else refused == start


TRUNCATED = ("jester5k", "nli_variation", "faces_3dsk", "eye_fixations_12coders")


@pytest.mark.parametrize("name", TRUNCATED)
def test_a_truncated_file_is_refused(name: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder(name)
    (path,) = folder.glob("*.gz")
    path.write_bytes(path.read_bytes()[:-10])
    assert message(name, folder).startswith(f"{path.name}: damaged gzip (Compressed file ended ")


NOT_TEXT: dict[str, tuple[str, str, Callable[[bytes], bytes], str]] = {
    "not UTF-8": ("jester5k", "jokes.csv", lambda old: b"\xff" + old, "names of columns are"),
    "a name that is not UTF-8": (
        "speechocean762",
        "audio_opus.parquet",
        lambda old: old.replace(b"item_id", b"item_\xf4d"),
        "names of columns are not UTF-8 (",
    ),
    "no Parquet": ("cifar10h", "cifar10_test_jpg.parquet", lambda _: b"PAR1", "damaged ("),
    "no array": ("cifar10h", "cifar10h-counts.npy", lambda _: b"nothing", "damaged ("),
    "half a zip": (
        "labelme_crowds",
        "vgg16_avg_features.npz",
        lambda old: old[: len(old) // 2],
        "a damaged zip (File is not a zip file); is the file cut off?",
    ),
    "another byte in a zip": (
        "labelme_crowds",
        "vgg16_avg_features.npz",
        lambda old: old.replace(b"\x93NUMPY", b"\x93NUMPX", 1),
        "a damaged zip (Bad CRC-32 for file ",
    ),
}


@pytest.mark.parametrize("damage", NOT_TEXT)
def test_damaged_bytes_are_refused(damage: str, sample_folder: SampleFolder) -> None:
    name, file, change, expected = NOT_TEXT[damage]
    folder = sample_folder(name)
    (folder / file).write_bytes(change((folder / file).read_bytes()))
    assert message(name, folder).startswith(f"{file}: {expected}")


def test_json_that_is_nested_too_deeply_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("toxic_spans")
    (folder / "tsd_train.csv").write_text(f"spans,text\n{'[' * 100_000},a", encoding="utf-8")
    assert len(message("toxic_spans", folder)) < 300


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"y_test": None}, "damaged (no array 'y_test')"),
        (
            {"y_train": np.array([0, 1])},
            "expected a vector and a label for each item of 'train', found float32 of shape (3, 2) "
            "and (2,)",
        ),
        (
            {"X_test": np.zeros((2, 3), np.float32)},
            "the vectors of the parts have several widths: 2, 3",
        ),
        ({"y_valid": np.array([8])}, "nominal answers are codes 0 to 7, found 0 to 8"),
    ],
)
def test_wrong_arrays_are_refused(
    changes: dict[str, np.ndarray | None], expected: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder("labelme_crowds")
    arrays = {name: values for name, values in (vectors() | changes).items() if values is not None}
    np.savez(folder / "vgg16_avg_features.npz", **arrays)
    assert message("labelme_crowds", folder) == f"vgg16_avg_features.npz: {expected}"


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (np.zeros((3, 10)), "expected whole numbers for 2 images x 10 classes, found float64 of "
         "shape (3, 10)"),
        (np.full((2, 10), -1), "row 1: the number of votes must be 0 or more, found -1"),
    ],
)  # fmt: skip
def test_wrong_votes_are_refused(
    counts: np.ndarray, expected: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder("cifar10h")
    np.save(folder / "cifar10h-counts.npy", counts)
    assert message("cifar10h", folder) == f"cifar10h-counts.npy: {expected}"


@pytest.mark.parametrize(
    ("name", "gone"),
    [("faces_3dsk", "images/abel.jpg"), ("iemocap", "Session5/sentences/wav")],
)
def test_a_file_or_folder_inside_is_named(
    name: str, gone: str, sample_folder: SampleFolder
) -> None:
    folder = sample_folder(name)
    (folder / gone).rename(folder / "elsewhere")
    assert message(name, folder) == f"{gone}: missing; the corpus cannot be read without it"


def test_a_folder_without_sound_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("msp_improv")
    for path in list(folder.rglob("*.wav")):
        path.unlink()
    assert message("msp_improv", folder) == (
        "FOLDER: no sound file of any clip is here, such as MSP-IMPROV-S01A-F01-P-FM01.wav"
    )
