"""Small folders with invented ratings, in the form of four licensed corpora of speech."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.datasets.writing import write


def write_all(folder: Path, files: dict[str, str]) -> None:
    """Write texts by their path inside the folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder, name, text)


# F01 is in training, M01 in validation; W7 rated the first clip twice; the third mean is wrong
IMPROV = """UTD-IMPROV-S01A-F01-P-FM01.avi; A; A:2.000000; V:2.333333; D:2.500000 ; N:3.000000;
W10; Angry; Angry,Frustrated; A:1.000000; V:2.000000; D:3.000000; N:3.000000;
W7; Other; Other (tired; bored); A:2.000000; V:1.000000; D:2.000000; N:NaN;
W7; Angry; ; A:3.000000; V:4.000000; D:NaN; N:NaN;

UTD-IMPROV-S01A-M01-P-MF02.avi; N; A:3.500000; V:3.500000; D:NaN ; N:NaN;
W7; Neutral; Neutral; A:4.000000; V:3.000000; D:NaN; N:NaN;
W8; Neutral; Neutral; A:3.000000; V:4.000000; D:NaN; N:NaN;

UTD-IMPROV-S02H-F04-T-FF01.avi; H; A:1.000000; V:5.000000; D:NaN ; N:4.000000;
W7; Happy; Happy; A:1.000000; V:5.000000; D:NaN; N:4.000000;
W8; Happy; Happy; A:1.000000; V:4.000000; D:NaN; N:4.000000;

UTD-IMPROV-S02H-F04-T-FF02.avi; H; A:1.000000; V:5.000000; D:NaN ; N:4.000000;
W9; Happy; Happy; A:1.000000; V:5.000000; D:NaN; N:NaN;
"""


def msp_improv(folder: Path) -> None:
    write_all(
        folder,
        {
            "Evaluation.txt": IMPROV,
            "session1/S01A/P/MSP-IMPROV-S01A-F01-P-FM01.wav": "RIFF 1",
            "session1/S01A/P/._MSP-IMPROV-S01A-F01-P-FM01.wav": "no sound",
            "session1/S01A/P/MSP-IMPROV-S01A-M01-P-MF02.wav": "RIFF 2",
            "session4/S02H/T/MSP-IMPROV-S02H-F04-T-FF01.wav": "RIFF 3",
            "session4/S02H/T/MSP-IMPROV-S02H-F04-T-FF02.wav": "RIFF 4",
            "Text/MSP-IMPROV-S01A-F01-P-FM01.txt": "More\ntea?\n",
            "Text/MSP-IMPROV-S02H-F04-T-FF01.txt": "A mug!",
            "Text/MSP-IMPROV-S02H-F04-T-FF02.txt": "A mug!",
        },
    )


PODCAST = """FileName,EmoClass,EmoAct,EmoVal,EmoDom,SpkrID,Gender,Split_Set
MSP-PODCAST_0001_0002.wav,N,3.5,4.0,4.0,7,Female,Train
MSP-PODCAST_0001_0010.wav,H,6.0,7.0,5.0,Unknown,Unknown,Development
MSP-PODCAST_0002_0001.wav,X,1.0,1.0,1.0,8,Male,Test1
MSP-PODCAST_0002_0002.wav,X,1.0,1.0,1.0,8,Male,Test2
"""
PODCAST_RATINGS = """FileName,EmoDetail
MSP-PODCAST_0001_0002.wav,"WORKER00000010; Neutral; Sad,Bored; A:3.000000; V:3.000000; D:3.000000;"
MSP-PODCAST_0001_0002.wav,WORKER00000009; Other-so so; Neutral; A:4.000000; V:5.000000; D:5.000000;
MSP-PODCAST_0001_0010.wav,WORKER00000009; Happy; Happy; A:6.000000; V:7.000000; D:5.000000;
MSP-PODCAST_0002_0001.wav,WORKER00000009; Sad; ; A:1.000000; V:1.000000; D:1.000000;
MSP-PODCAST_0002_0001.wav,WORKER00000010; Sad; ; A:2.000000; V:1.000000; D:1.000000;
MSP-PODCAST_0002_0002.wav,WORKER00000009; Sad; ; A:1.000000; V:1.000000; D:1.000000;
MSP-PODCAST_0002_0002.wav,WORKER00000010; Sad; ; A:1.000000; V:1.000000; D:1.000000;
"""


def msp_podcast(folder: Path) -> None:
    names = [line.split(".wav")[0] for line in PODCAST.splitlines()[1:]]
    write_all(
        folder,
        {
            "Labels/labels_consensus.csv": PODCAST,
            "Labels/labels_detailed.csv": PODCAST_RATINGS,
            **{f"Audios/{name}.wav": f"RIFF {name}" for name in names},
            **{f"Transcripts/{name}.txt": f"tea {name[-4:]}\n" for name in names},
        },
    )


DIALOG = """% [START_TIME - END_TIME] TURN_NAME EMOTION [V, A, D]

[6.2500 - 8.2500]\tSes01F_impro01_F000\tneu\t[2.5000, 2.5000, 2.5000]
C-E2:\tNeutral;\t()
C-F1:\tNeutral;\t()
A-E3:\tval 3; act 2; dom  2;\t()
A-E4:\tval 2; act 3; dom  3;\t(mixed emotions)
A-F1:\tval 5; act 4; dom  ;\t()

[10.0100 - 11.3925]\tSes01F_impro01_M001\txxx\t[4.0000, 3.0000, 2.0000]
C-E2:\tNeutral; Surprise;\t()
A-E3:\tval 4; act 3; dom  ;\t()
A-E4:\tval 6; act 3; dom  2;\t()

"""
SPOKEN = """Ses01F_impro01_F000 [006.2500-008.2500]: More tea?
Ses01F_impro01_MXX0 [008.2500-010.0100]: Hm.
M: not a turn
Ses01F_impro01_M001 [010.0100-011.3925]: No.
"""


def iemocap(folder: Path) -> None:
    for number in range(1, 6):
        dialog, turns = DIALOG.replace("Ses01", f"Ses0{number}"), ("F000", "M001")
        name = f"Ses0{number}F_impro01"
        write_all(
            folder / f"Session{number}",
            {
                f"dialog/EmoEvaluation/{name}.txt": dialog,
                f"dialog/EmoEvaluation/._{name}.txt": "no ratings",
                f"dialog/transcriptions/{name}.txt": SPOKEN.replace("Ses01", f"Ses0{number}"),
                **{f"sentences/wav/{name}/{name}_{turn}.wav": f"RIFF {turn}" for turn in turns},
            },
        )


SENTENCES = (
    "Sentence_name,Duration,Gender,Type,Ques_Type,Activation_Mean,Activation_SD,Valence_Mean,"
    "Valence_SD,Activation_Annotation,Valence_Annotation,C_Activation_Mean,C_Activation_SD,"
    "C_Valence_Mean,C_Valence_SD,C_Activation_Annotation,C_Valence_Annotation,S_Activation,"
    "S_Valence\n"
    "01_DR-100_0097_1_sentence_1.wav,4.5,M,NS,neutral,3.0,1,6.5,0.5,2;4,6;7,5.0,0,5.0,0,5,5,4,6\n"
    "01_DR-100_0098_1_sentence_1.wav,5.0,M,S,neutral,3.0,1,5.0,0,2;3;4,5;5;5,,,,,,,4,6\n"
    "08_DR-100_0055_3_sentence_2.wav,2.0,F,S,happy,9.0,0,1.5,0.5,9;9,1;1,8.0,0,2.0,0,8,2,,\n"
)


def muse(folder: Path) -> None:
    survey = (
        "Emotion data from crowdsourcing "
        "(C is when annotators had access to all previous sentences).csv"
    )
    calm = "NotStressed/Audio/Non Stressed Question Monologue Audio [Sentence Split]"
    tense = "Stressed/Audio/Stressed Question Monologue Audio"
    write_all(
        folder,
        {
            f"SurveyInformation/{survey}": SENTENCES,
            f"{calm}/01_DR-100_0097_1_sentence_1.wav": "RIFF 1",
            f"{tense}/01_DR-100_0098_1_sentence_1.wav": "RIFF 2",
            f"{tense}/08_DR-100_0055_3_sentence_2.wav": "RIFF 3",
            "Combined/Utterance Transcripts/01_DR-100_0097_1_sentence_1.txt": "More tea",
            "Combined/Utterance Transcripts/08_DR-100_0055_3_sentence_2.txt": "a mug",
            "Whisper-Transcriptions/Stressed_Segments/08_DR-100_0055_3_sentence_2.txt": "A mug.",
        },
    )


SPEECH_FOLDERS: dict[str, Callable[[Path], None]] = {
    "msp_improv": msp_improv,
    "msp_podcast": msp_podcast,
    "iemocap": iemocap,
    "muse": muse,
}
