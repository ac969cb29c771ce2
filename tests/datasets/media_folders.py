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


COLUMNS = [f"{word}_{k}" for k in range(1, 11)
           for word in ("Happiness", "Healthy", "Safe", "Lively", "Orderly")]  # fmt: skip
GIVEN = {  # b by two annotators, a by one
    "b (2)": {"Happiness_2": "-3", "Happiness_10": "2"},
    "a.jpg": {"Happiness_2": "1", "Safe_2": "-1"},
}
ROWS = [
    ",".join([name, *(own.get(column, "") for column in COLUMNS)]) for name, own in GIVEN.items()
]
STREET = "\n".join([",".join(["name", *COLUMNS]), *ROWS, ""])


def street(folder: Path) -> None:
    files = {"labels.csv": STREET, "images/a.jpg": "picture a", "images/b_2.jpg": "picture b"}
    write_all(folder, files)


DISCRETE = [f"discrete{k}" for k in range(1, 14)]
CLIPS = [f"x,happy{',' * 10}worried,,", f"y.mp4{',' * 11}unknown,,"]
AMER = "\n".join([",".join(["name", *DISCRETE]), *CLIPS, ""])


def amer(folder: Path) -> None:
    files = {
        "discrete-multi-annotator.csv": AMER, "videos/x.mp4": "clip x", "videos/y.mp4": "clip y",
    }  # fmt: skip
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


CONFLICTS = """\
item,file,kind,shape_class,texture_class,congruent,shape_source,split_item,split_source
cc0001,cc0001.jpg,conflict,bird,clock,0,bird2,train,test
cc0002,cc0002.jpg,conflict,bird,bird,1,bird3,train,train
ed0001,ed0001.png,edge,oven,,0,oven3,test,test
"""
OBJECTS = """item,annotator,panel,answer,rt_s,trial
cc0001,N01,neutral,bird,0.8,1
cc0002,N01,neutral,na,,2
cc0001,S01,shape,bird,0.7,1
cc0002,S01,shape,bird,0.9,2
cc0001,T01,texture,clock,1.1,1
cc0002,T01,texture,bird,0.6,2
ed0001,E01,edge,oven,0.5,1
"""


def cue_conflict16(folder: Path) -> None:
    write(folder, "items.csv", CONFLICTS)
    write(folder, "answers.csv", OBJECTS)
    (folder / "images").mkdir()
    for name in ("cc0001.jpg", "cc0002.jpg", "ed0001.png"):
        (folder / "images" / name).write_bytes(b"\xff\xd8" + name.encode())


CELLS = """item,file,block,rule,split
ca001,ca001.png,1,9outer,train
ca002,ca002.png,2,5outer,test
"""
SLIDERS = """item,annotator,block,complexity,beauty,rt_ms,trial,showing
ca001,P01,1,33,83,1500,1,1
ca001,P01,1,35,80,1000,9,2
ca002,P02,2,0,100,2000,1,1
"""
RATERS = """annotator,block,num_attention_checks,num_failed_attention_checks
P01,1,2,0
P02,2,3,1
"""


def ca_patterns216(folder: Path) -> None:
    write(folder, "items.csv", CELLS)
    write(folder, "answers.csv", SLIDERS)
    write(folder, "annotators.csv", RATERS)
    (folder / "images").mkdir()
    for name in ("ca001.png", "ca002.png"):
        (folder / "images" / name).write_bytes(b"\x89PNG" + name.encode())


VOICES = """listener_pseudonym,listener_age,listener_gender,sample_heard,speaker_ID,warm,nicht_alt
Rater1,23,male,m016_linden_stimulus.wav,016,0,85
Rater2,40,female,m016_linden_stimulus.wav,016,NA,20
Rater1,23,male,w296_avarua_d5.wav,296,50,100
"""
CHANNELS = """spk_ID,filename,nameListener,ageListener,genderListener,warm,nicht.alt
296,w296_avarua_G722.wav,Listener7,27,w,25,87
296,w296_avarua_AMR.wav,Listener7,27,w,5,8
"""


def nsc_voices(folder: Path) -> None:
    write(folder, "SC_ratings.csv", VOICES)
    write(folder, "data_listeningtest3.csv", CHANNELS)
    write(folder, "SC_Questionnaire.csv", "item_number,right_German\n1,warm\n2,nicht_alt\n")
    write(folder, "split.csv", "speaker_ID,speaker_gender,split\n016,male,train\n296,female,test\n")
    header = '"sample_heard","pitch","loudness"\n'
    write(
        folder,
        "eGeMAPSv01a_88_femalespk.csv",
        header + '"w296_avarua_stimulus.wav",2,5\n',
    )
    write(folder, "eGeMAPSv01a_88_malespk.csv", header + '"m016_linden_stimulus.wav",4,5\n')


TRACKS = (
    "item_id,selection,danceability,spotify_energy,spotify_valence,key,loudness,mode,speechiness,"
    "acousticness,instrumentalness,liveness,tempo\n"
    "A-1,choir,0.5,0.5,0.5,7,-9,1,0.1,0.1,0.1,0.1,120\n"
    "B-2,latam,0.9,0.5,0.5,0,-3,0,0.1,0.1,0.1,0.1,100\n"
    "B-2,latam,0.9,0.5,0.5,0,-3,0,0.1,0.1,0.1,0.1,100\n"
)
MOODS = """item_id,rater_id,position,valence,arousal,mood,time_ms
A-1,12,1,1,-1,joy,2000
A-1,12,0,-1,-1,sadness,1000
A-1,9,0,1,1,joy,3000
B-2,9,1,-1,1,anger,500
"""


def trompa_mer(folder: Path) -> None:
    write(folder, "annotations.csv.gz", MOODS)
    write(folder, "tracks.csv", TRACKS)
    write(folder, "raters.csv", "rater_id,motherLanguage,birthPlace,otherLanguage\n9,it,Italy,en\n")
    write(folder, "split.csv", "item_id,selection,split\nA-1,choir,train\nB-2,latam,test\n")


MEDIA_FOLDERS: dict[str, Callable[[Path], None]] = {
    "tvsum": tvsum,
    "crema_d_votes": crema_d_votes,
    "ferplus_votes": ferplus_votes,
    "cue_conflict16": cue_conflict16,
    "ca_patterns216": ca_patterns216,
    "nsc_voices": nsc_voices,
    "trompa_mer": trompa_mer,
    "street": street,
    "amer": amer,
}
