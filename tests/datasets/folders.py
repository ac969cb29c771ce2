"""Small folders with invented texts, in the form of the known corpora."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.datasets.crowd_folders import CROWD_FOLDERS
from tests.datasets.media_folders import MEDIA_FOLDERS
from tests.datasets.speech_folders import SPEECH_FOLDERS
from tests.datasets.writing import write as write

TOKENS = """item_id,split,sent_id,pos_in_sent,token,gold,orig_id,auto_labelled
0,train,0,0,Grüße,NOUN,000000,False
1,train,0,1,@USER,NOUN,000001,True
2,train,0,2,",",.,000002,False
3,dev,1,0,Grüße,NOUN,000003,False
4,dev,1,1,@USER,NOUN,000004,True
5,dev,1,2,",",.,000005,False
6,test,0,0,NA,X,low0,False
7,test,0,1,tea,NOUN,low1,False
"""
ANSWERS = "item_id,annotator_id,label\n0,10,NOUN\n0,9,VERB\n2,9,.\n3,10,NOUN\n5,10,X\n"
EXPERTS = 'sent_id,token,ann1,ann2\n0,NA,X,NOUN\n0,tea,NOUN,FLAG\n1,what,PRON,PRON\n1,"""",FLAG,\n'


def pos_tweets(folder: Path) -> None:
    write(folder, "tokens.csv", TOKENS)
    write(folder, "annotations.csv.gz", ANSWERS)
    write(folder, "plank2014_500tweets_2annotators.csv", EXPERTS)


UTTERANCES = """item_id,split,speaker,age,gender,text,wav
007,train,1,6,m,IT'S TEA,a.wav
010,train,2,30,f,MORE,b.wav
"""
SENTENCE_SCORES = """item_id,annotator_id,accuracy,completeness,fluency,prosodic,total
007,1,7.0,1.0,10.0,9.0,7.6
007,2,9.0,0.5,9.0,9.0,9.0
010,1,0.0,0.0,1.0,2.0,3.5
"""
WORD_SCORES = """item_id,word_idx,word,annotator_id,accuracy,stress,total,phones
007,0,itˈs,1,10.0,10.0,10.0,IH T S
007,0,itˈs,2,5.0,5.0,5.0,IH {T} S
007,1,tea,1,0.0,5.0,1.0,T IY
010,0,more,2,8.0,10.0,8.4,M AO R
"""


def speechocean762(folder: Path) -> None:
    write(folder, "utterances.csv", UTTERANCES)
    write(folder, "sentence_scores.csv.gz", SENTENCE_SCORES)
    write(folder, "word_scores.csv.gz", WORD_SCORES)
    audio = {"item_id": ["010", "007"], "seconds": [2.5, 1.5], "ogg_opus": [b"OggS2", b"OggS1"]}
    pq.write_table(pa.table(audio), folder / "audio_opus.parquet")


JOKES = 'item_id,text\n0,"Knock, knock.\nWho?"\n1,A duck walks in.\n'
RATINGS = "item_id,annotator_id,rating\n1,10,-9.95\n0,10,2.04\n0,9,10\n"


def jester5k(folder: Path) -> None:
    write(folder, "jokes.csv", JOKES)
    write(folder, "ratings.csv.gz", RATINGS)


def cifar10h(folder: Path) -> None:
    images = {
        "item_id": pa.array([1, 0], pa.int32()),
        "label": pa.array([9, 0], pa.int8()),
        "jpg": [b"\xff\xd8one", b"\xff\xd8zero"],
    }
    pq.write_table(pa.table(images), folder / "cifar10_test_jpg.parquet")
    votes = np.zeros((2, 10), np.int64)
    votes[0, 0], votes[1, 9], votes[1, 1] = 50, 40, 7
    np.save(folder / "cifar10h-counts.npy", votes)


def lewidi_item(**changes: Any) -> dict[str, Any]:
    """An item of HS-Brexit with an invented text; None takes a key away."""
    item: dict[str, Any] = {
        "text": "tea for all",
        "annotation task": "hate speech detection",
        "number of annotations": 2,
        "annotations": "0,1",
        "annotators": "Ann1,Ann10",
        "lang": "en",
        "hard_label": "1",
        "soft_label": {"0": 0.5, "1": 0.5},
        "split": "train",
        "other_info": {
            "other annotations": {
                "aggressive language detection": "0,0",
                "offensive language detection": "No,1",
            },
            "annotators group": "group1,group2",
            "group1": "target group",
            "group2": "control group",
        },
    }
    item |= changes
    return {key: value for key, value in item.items() if value is not None}


def conversation_item(ids: str, **changes: Any) -> dict[str, Any]:
    """An item of ConvAbuse with invented turns."""
    turns = {"prev_agent": "Hello.", "prev_user": "hi", "agent": "Go on.", "user": "no"}
    info = {
        "bot": "A.B.",
        "other_annotations": {"sexist": "0,1", "target.system": "1,0"},
        "conversation_id(s)": ids,
    }
    task = {"annotation task": "abusivness detection", "annotations": "-2,0", "hard_label": 1}
    return lewidi_item(**{"text": json.dumps(turns), **task, "other_info": info, **changes})


def lewidi2023(folder: Path) -> None:
    profiles = {"Ann1": "Moderate_Female", "Ann10": "Conservative_Male"}
    misogyny = "misogyny and sexism detection in Arabic tweets"
    changes: dict[str, dict[str, Any]] = {
        "HS-Brexit": {},
        "ArMIS": {"annotation task": misogyny, "lang": "ar", "other_info": profiles},
        "MD-Agreement": {
            "annotation task": "offensiveness detection",
            "other_info": {"domain": "tea"},
        },
    }
    for name, change in changes.items():
        for part in ("train", "dev"):
            item = lewidi_item(**change, split=part)
            write(folder, f"{name}_{part}.json", json.dumps({"1": item}))
    write_conversations(folder)


def write_conversations(folder: Path) -> None:
    train = {"1": conversation_item("7.0"), "2": conversation_item("2.4E+15,8.0")}
    dev = {"1": conversation_item("8.0", split="dev"), "2": conversation_item("9.0", split="dev")}
    write(folder, "ConvAbuse_train.json", json.dumps(train))
    write(folder, "ConvAbuse_dev.json", json.dumps(dev))


STEMS = """item_id,word,stem,wost,fold10,fold20,freq,set,gold,mv,vote1,vote0,soft1,soft0,prob1,prob0
0,teas,tea,teas tea,4,14,1,trn,1,1,4,0,0.982,0.018,1.0,0.0
1,NA,NA,NA NA,6,16,2,dev,1,2,2,2,0.5,0.5,0.5,0.5
2,NA, ,NA  ,1,11,2,dev,0,2,2,2,0.5,0.5,0.5,0.5
3,mugs,DELETED,mugs DELETED,2,2,1,hard-tst,0,0,0,3,0.047,0.953,0.0,1.0
"""


def stemming(folder: Path) -> None:
    write(folder, "stemming_votes.csv", STEMS)


SENTENCES = """"id","text"
"tea_1_4","None"
"tea_5_9","Sincerely,"
"mug_1_4","Sincerely,"
"mug_5_9","A ""mug"", please."
"SemEval_1","Tea prices rise"
"SemEval_2","Mugs are back"
"""
SENTENCE_FACTS = """id\tdocument\tcategory\tsubcategory
mug_1_4\tmug\tletters\tnyt
mug_5_9\tmug\tletters\t 
tea_1_4\ttea\tblog\t 
tea_5_9\ttea\tblog\t 
SemEval_1\tSemEval\tSemEval\t
SemEval_2\tSemEval\tSemEval\t
"""
MEANS = """id,split,V,A,D,text
SemEval_1,train,3,3,3,Tea prices rise
tea_1_4,dev,2.5,3,3.5,None
mug_5_9,test,3,3,3,"A ""mug"", please."
"""
READERS = "id,V,A,D\ntea_1_4,3,3,4\ntea_1_4,2,3,3\nmug_5_9,1,1,1\nmug_5_9,1,1,2\n"
WRITERS = "id,V,A,D\nSemEval_1,5,4,3\ntea_1_4,1,1,1\n"


def emobank(folder: Path) -> None:
    write(folder, "raw.csv", SENTENCES)
    write(folder, "meta.tsv", SENTENCE_FACTS)
    write(folder, "emobank.csv", MEANS)
    write(folder, "individual_reader_ratings.csv", READERS)
    write(folder, "individual_writer_ratings.csv", WRITERS)


CODERS = ("DN", "IH", "JB", "JF", "JV", "KH", "MN", "MS", "PZ", "RA", "RH", "TC")
SAMPLES = f"""trial,time,x,y,v,{",".join(f"fix_{coder}" for coder in CODERS)},subject
adult_2,0.0,966.1,543.6,595.0,1,1,1,1,1,0,1,0,1,1,1,1,adult
adult_2,3.333,967.3,546.8,,0,1,1,1,1,1,1,1,1,1,1,1,adult
infant_1,0.0,,,,1,1,1,1,1,1,1,1,1,1,1,0,infant
infant_1,3.333,12.5,-3.0,7.25,0,1,1,1,1,1,1,1,1,1,1,0,infant
infant_1,6.667,12.5,-3.0,7.25,0,0,0,0,0,0,0,0,0,0,0,0,infant
"""
FIXATIONS = "trial,annotator_id,start_ms,end_ms,dur_ms\n" + "".join(
    f"{trial},{coder},0.0,3.333,3\n"
    for trial in ("infant_1", "adult_2")
    for coder in CODERS
    if (trial, coder) != ("infant_1", "TC")
)


def eye_fixations_12coders(folder: Path) -> None:
    write(folder, "samples_with_12_labels.csv.gz", SAMPLES)
    write(folder, "fixation_events.csv", FIXATIONS)


def irony_item(**changes: Any) -> dict[str, Any]:
    """An item of MP, LeWiDi 2025, with invented texts; None takes a key away."""
    item: dict[str, Any] = {
        "annotation task": "irony detection",
        "text": {"post": "More tea?", "reply": "oh, sure"},
        "annotators": "Ann2,Ann10",
        "number of annotations": 2,
        "annotations": {"Ann2": "0", "Ann10": "1"},
        "soft_label": {"0.0": 0.5, "1.0": 0.5},
        "split": "dev",
        "lang": "en",
        "other_info": {"source": "reddit", "level": 1.0, "language_variety": "in"},
    }
    item |= changes
    return {key: value for key, value in item.items() if value is not None}


def inference_item(**changes: Any) -> dict[str, Any]:
    """An item of VariErrNLI, where Ann2 chose two values."""
    item = {
        "annotation task": "natural language inference",
        "text": {"context": "She drinks tea.", "statement": "She is awake."},
        "annotators": "Ann1,Ann2,Ann2",
        "number of annotations": 3,
        "annotations": {"Ann1": "neutral", "Ann2": "entailment,neutral"},
        "other_info": {"explanations": ["not said", "one must be awake", "or not"]},
    }
    return irony_item(**{**item, **changes})


def paraphrase_item(**changes: Any) -> dict[str, Any]:
    """An item of Paraphrase."""
    item = {
        "annotation task": "paraphrase detection",
        "text": {"Question1": "Is it tea?", "Question2": "Is tea it?"},
        "annotators": "Ann1,Ann2",
        "annotations": {"Ann1": "-5", "Ann2": "4"},
        "other_info": {"explanations": ["word order", "the same"]},
    }
    return irony_item(**{**item, **changes})


def sarcasm_item(**changes: Any) -> dict[str, Any]:
    """An item of CSC."""
    item = {
        "annotation task": "sarcasm detection",
        "text": {"context": "You broke a mug.", "response": "well done"},
        "annotators": "Ann0,Ann7",
        "annotations": {"Ann0": "6", "Ann7": "1"},
        "other_info": {"context+speaker": "1_2"},
    }
    return irony_item(**{**item, **changes})


MUG = {"post": "A mug?", "reply": "oh, sure"}
PEOPLE = {  # two of the real files have a comma too many
    "CSC": '{"Ann0": {"Gender": "Female", "Age": "nan"}, "Ann1": {"Gender": "Male", "Age": "3"}}',
    "MP": '{"2": {"Age": 19.0, "Student status": "DATA_EXPIRED"},'
    ' "10": {"Age": 34.0, "Student status": "Yes"}}',
    "Paraphrase": '{\n"Ann1": {"Gender": "Male", "Age": "26",\n},\n"Ann2": {"Age": "30",},\n}',
    "VariErrNLI": '{"Ann1": {"Education": "a,}", "Age": "22",}, "Ann2": {"Education": "b",},}',
}


def lewidi2025(folder: Path) -> None:
    other = {"context": "You broke a mug.", "response": "no matter"}
    parts = {
        "CSC_dev": {"1": sarcasm_item(), "2": sarcasm_item(text=other)},
        "MP_dev": {"1": irony_item(), "2": irony_item(text=MUG)},
        "Paraphrase_train": {"1": paraphrase_item(split="train")},
        "Paraphrase_dev": {"1": paraphrase_item()},
        "VariErrNLI_train": {"1": inference_item(split="train")},
        "VariErrNLI_dev": {"1": inference_item()},
    }
    for name, items in parts.items():
        write(folder, f"{name}.json", json.dumps(items))
    for name, people in PEOPLE.items():
        write(folder, f"{name}_annotators_meta.json", people)


PIECES = """item_id,name,midi,measures,duration_s,midi_present
1_piece9,Tea,Tea_N64_Tea.mid,2,10.0,True
"""
RATED_PIECES = """\
n_measures,item_id,annotator_id,age,country,gender,musicianship,is_known,valence,arousal
3,1_piece10,1_a,21-25,US,Male,1,False,"[-0.5, 0.1, 0.1]","[1, 1, 1]"
2,1_piece9,1_a,21-25,US,Male,1,True,"[-0.5, -0.25]","[0, 1]"
2,1_piece9,1_b,21-25,US,Female,5,False,"[0.5, 0.25]","[-1, 0]"
2,1_piece9,1_b,21-25,US,Female,5,False,"[0.5, 0.25]","[-1, 0]"
"""
NOTES = """item_id,track,onset_beat,dur_beats,pitch,velocity,measure
1_piece9,1,0.0,1.0,60,100,0.0
1_piece9,2,3.0,1.0,72,90,0.75
"""


def vgmidi(folder: Path) -> None:
    write(folder, "pieces.csv", PIECES)
    write(folder, "annotations.csv.gz", RATED_PIECES)
    write(folder, "notes.csv.gz", NOTES)


ABSENT = (*SPEECH_FOLDERS, "street", "amer")  # licensed or not public: tests have no data
FOLDERS: dict[str, Callable[[Path], None]] = {
    "pos_tweets": pos_tweets,
    "speechocean762": speechocean762,
    "jester5k": jester5k,
    "cifar10h": cifar10h,
    "lewidi2023": lewidi2023,
    "stemming": stemming,
    "emobank": emobank,
    "eye_fixations_12coders": eye_fixations_12coders,
    "lewidi2025": lewidi2025,
    **CROWD_FOLDERS,
    "vgmidi": vgmidi,
    **SPEECH_FOLDERS,
    **MEDIA_FOLDERS,
}
