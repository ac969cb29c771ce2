"""Small folders with invented texts, in the form of the known corpora."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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


FOLDERS: dict[str, Callable[[Path], None]] = {
    "pos_tweets": pos_tweets,
    "speechocean762": speechocean762,
    "jester5k": jester5k,
    "cifar10h": cifar10h,
    "lewidi2023": lewidi2023,
}


def write(folder: Path, name: str, text: str) -> None:
    """Write a text, gzipped where the name says so."""
    content = text.encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
