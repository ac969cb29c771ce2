"""Small folders with invented texts, in the form of seven more known corpora."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.datasets.writing import write

# "Bad, bad Grüße!" has 15 characters
COMMENTS = 'comment_id,comment_text\n7,"Bad, bad Grüße!"\n8,nice tea\n9,nice tea\n10,"a\nmug"\n'
TOXIC_ANSWERS = """annotation,comment_id,worker,country,all toxic,not toxic
0,7,20,USA,False,False
2,7,3,USA,True,True
3,8,20,GBR,False,True
5,9,3,USA,True,False
6,10,3,USA,False,True
7,10,3,USA,False,True
"""
SPANS = """annotation,type,start,end
0,Insult,0,3
0,Insu,9,99
0,Threat,15,20
2,,5,8
4,Insult,0,3
"""
OFFICIAL = {
    "tsd_train.csv": 'spans,text\n"[0, 1, 2, 9, 10]","Bad, bad Grüße!"\n',
    "tsd_trial.csv": 'spans,text\n"[0]","Bad, bad Grüße!"\n"[]","a\nmug"\n',
    "tsd_test.csv": 'spans,text\n"[5, 6, 7]",nice tea\n',
}


def toxic_spans(folder: Path) -> None:
    write(folder, "comments.csv", COMMENTS)
    write(folder, "annotations.csv", TOXIC_ANSWERS)
    write(folder, "spans.csv", SPANS)
    for name, text in OFFICIAL.items():
        write(folder, name, text)


PREMISES = """item_id,task,orig_label,premise,hypothesis
snli:1,snli,neutral,"Tea, again.",She drinks.
joci:2,joci,3,A mug.,It broke.
joci:3,joci,0,"Tea, again.",It is hot.
"""
SLIDERS = """item_id,annotator_id,rating_0_100,na,batch,status
joci:2,10,100,False,1,Approved
joci:2,10,0,False,3,Rejected
snli:1,9,50,True,1,Approved
snli:1,10,7,False,2,Submitted
joci:3,9,0,False,1,Approved
"""


def nli_variation(folder: Path) -> None:
    write(folder, "items.csv", PREMISES)
    write(folder, "annotations_raw.csv.gz", SLIDERS)


FACES = "face_id,face_gender,face_age\nzoe,female,20\nabel,male,33\nada,female,30\n"
FACE_RATINGS = """face_id,face_gender,face_age,rater_id,rater_gender,rater_age,trait,rating
zoe,female,20,R0002,male,36.4,att,1
ada,female,30,R0002,male,36.4,att,7
abel,male,33,R0001,female,18.0,dom,4
zoe,female,20,R0003,female,40.8,health,2
zoe,female,20,R0004,male,21.5,sexdim,3
abel,male,33,R0005,male,22.0,trust,5
"""


def faces_3dsk(folder: Path) -> None:
    write(folder, "faces.csv", FACES)
    write(folder, "ratings.csv.gz", FACE_RATINGS)
    (folder / "images").mkdir()
    for name in ("zoe", "abel", "ada"):
        (folder / "images" / f"{name}.jpg").write_bytes(b"\xff\xd8" + name.encode())


SCENES = "item_id,annotator_id,label\n0,10,0\n0,9,7\n2,10,3\n"


def vectors() -> dict[str, Any]:
    """Three training vectors, the last of which stands in test again, with other gold."""
    train = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    test = np.array([[9, 9], [5, 6]], np.float32)
    labels = {"y_train": [0, 1, 6], "y_valid": [7], "y_test": [2, 5]}
    arrays = {"X_train": train, "X_valid": np.zeros((1, 2), np.float32), "X_test": test}
    return arrays | {name: np.array(values) for name, values in labels.items()}


def labelme_crowds(folder: Path) -> None:
    np.savez(folder / "vgg16_avg_features.npz", **vectors())
    write(folder, "annotations.csv", SCENES)


EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise", "valence")
HEADLINES = 'id\theadline\n500\tTea "prices" rise\n501\tA mug, again\n502\tNobody was asked\n'
PAIRS = """id\tvalue\ttask\ttext\thypothesis
5\tTRUE\tCD\t"Tea" is hot.\tIt is tea.
10\tFALSE\tIE\tA mug broke.\tIt is whole.
7\tFALSE\tIE\t"Tea" is hot.\tIt is cold.
"""
ENTAILED = """annotator_id,item_id,response,gold
W002,10,1,0
W001,10,0,0
W002,5,1,1
W001,7,0,0
"""


def snow2008(folder: Path) -> None:
    header = "annotator_id,item_id,response,gold\n"
    for number, emotion in enumerate(EMOTIONS):
        rows = [f"W003,501,{number},{10 * number}", f"W001,500,{50 + number},0"]
        rows += [f"W001,501,0,{10 * number}"]
        rows = rows[::-1] if emotion == "fear" else rows  # the order of rows tells nothing
        write(folder, f"{emotion}.csv", header + "\n".join(rows) + "\n")
    write(folder, "rte.csv", ENTAILED)
    write(
        folder, "temp.csv", header + "W001,42_0,1,1\nW002,42_0,2,1\nW001,42_1,2,2\nW001,7_0,1,1\n"
    )
    senses = ("5:0@35@wsj/23/a@wsj@en@on", "7:0@2@wsj/23/a@wsj@en@on", "1:0@1@wsj/01/b@wsj@en@on")
    write(folder, "wsd.csv", header + "".join(f"W001,{name},3,1\n" for name in senses))
    write(folder, "wordsim.csv", header + "W001,tea mug,10,3.62\nW002,tea mug,9,3.62\n")
    write(folder, "text_affect.tsv", HEADLINES)
    write(folder, "text_rte1.tsv", PAIRS)


BLUEBIRDS = "item_id,annotator_id,label,gold\n11573,10,1,1\n9,10,0,1\n11573,9,0,1\n9,9,1,1\n"
DUCKS = "item_id,annotator_id,label\n0,1,1\n1,1,1\n10,1,0\n0,0,0\n"
SPECIES = """labels: {0: 1, 1: 0,
  10: 3}
species: {Mallard: 0, Canada Goose: 1, Non Bird: 3}
"""


def bluebirds_ducks(folder: Path) -> None:
    write(folder, "bluebirds.csv", BLUEBIRDS)
    write(folder, "ducks.csv", DUCKS)
    write(folder, "ducks_classes.yaml", SPECIES)


FORMS = "item,rater,rating\n10.0,1.0,1.0\n10.0,1.0,4.0\n9.0,1.0,2.0\n9.0,2.0,2.0\n"
PATTERNS = """rater_1,rater_2,rater_3,rater_4,rater_5,n
1.0,1.0,1.0,1.0,2.0,3.0
2.0,2.0,2.0,2.0,2.0,0.0
2.0,1.0,2.0,1.0,2.0,1.0
"""


def dawid_skene_classics(folder: Path) -> None:
    write(folder, "anesthesia.csv", FORMS)
    write(folder, "caries.csv", PATTERNS)


CROWD_FOLDERS: dict[str, Callable[[Path], None]] = {
    "toxic_spans": toxic_spans,
    "nli_variation": nli_variation,
    "faces_3dsk": faces_3dsk,
    "labelme_crowds": labelme_crowds,
    "snow2008": snow2008,
    "bluebirds_ducks": bluebirds_ducks,
    "dawid_skene_classics": dawid_skene_classics,
}
