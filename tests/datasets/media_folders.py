"""Small folders with invented labels, in the form of corpora of pictures and videos."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.datasets.speech_folders import write_all
from tests.datasets.writing import write

VIDEOS = """video,category,title,length_s,nframes,n_annotators
-aB,VT,"How to, in short",4.1,100,2
zz9,GA,A garden,2.0,60,2
"""
SHOTS = """video,shot_2s,annotator_slot,score_1_5
-aB,0,0,4
-aB,0,1,1
-aB,1,0,5
-aB,1,1,2
zz9,0,0,3
zz9,0,1,3
"""
FRAMES = """video,frame,annotator_slot,score_1_5
-aB,15,0,4
-aB,15,1,1
-aB,90,0,5
-aB,90,1,2
"""


def tvsum(folder: Path) -> None:
    write_all(
        folder,
        {
            "videos.csv": VIDEOS,
            "shot_scores.csv.gz": SHOTS,
            "keyframe_scores.csv": FRAMES,
            "keyframes/-aB_00015.jpg": "picture 1",
            "keyframes/-aB_00090.jpg": "picture 2",
        },
    )


STREET = """file,annotator,perspective,label
b.jpg,A2,happiness,-3
b.jpg,A10,happiness,2
a.jpg,A2,happiness,1
a.jpg,A2,safety,-1
"""


def street(folder: Path) -> None:
    files = {"street_labels.csv": STREET, "images/a.jpg": "picture a", "images/b.jpg": "picture b"}
    write_all(folder, files)


AMER = "file,annotator,label\nx.mp4,A1,happy\nx.mp4,A11,worried\ny.mp4,A11,unknown\n"


def amer(folder: Path) -> None:
    files = {"amer_labels.csv": AMER, "videos/x.mp4": "clip x", "videos/y.mp4": "clip y"}
    write_all(folder, files)


CLIP_VOTES = """Unnamed: 0,A,D,F,H,N,S,fileName,numResponses
100001,0,0,0,1,9,0,1001_IEO_NEU_XX,10
200001,0,0,0,4,6,0,1001_IEO_NEU_XX,10
300001,0,0,0,0,9,0,1001_IEO_NEU_XX,9
300002,0,1,0,8,1,0,1002_IEO_HAP_LO,10
"""
ACTORS = """ActorID,Age,Sex,Race,Ethnicity
1001,51,Male,Caucasian,Not Hispanic
1002,21,Female,Asian,Not Hispanic
"""
FACE_VOTES = """\
Usage,Image name,neutral,happiness,surprise,sadness,anger,disgust,fear,contempt,unknown,NF
Training,fer0.png,4,0,0,1,3,2,0,0,0,0
PublicTest,,0,0,0,0,0,0,0,0,0,10
PrivateTest,fer2.png,0,9,0,0,0,0,0,0,0,0
"""


def crema_d_votes(folder: Path) -> None:
    write(folder, "tabulatedVotes.csv.gz", CLIP_VOTES)
    write(folder, "VideoDemographics.csv", ACTORS)


def ferplus_votes(folder: Path) -> None:
    write(folder, "fer2013new.csv.gz", FACE_VOTES)


MEDIA_FOLDERS: dict[str, Callable[[Path], None]] = {
    "tvsum": tvsum,
    "crema_d_votes": crema_d_votes,
    "ferplus_votes": ferplus_votes,
    "street": street,
    "amer": amer,
}
