"""What is said about a table: one line for what is refused, and notes about what is read."""

from __future__ import annotations

from typing import Any

import pytest

from dissensus import read
from tests.error_texts import error_text
from tests.readers.conftest import Write

LONG = "task,worker,label\n"
PLAIN = "id,domain,anna,ben,mean\n1,news,1,2,1.5\n2,blog,2,1,1.5\n3,blog,3,1,2\n"
OTHER_SCALE = "correct it or declare another scale"
MERGE = "merge_variants=True (--merge-variants) makes them one"
REPEATS = (
    "keep one row each, or say what to do with repeats (--repeats): keep, first, last; or set, if "
    "they are several values of one answer"
)
ENDED = (
    '; name it (answer=, --answer), or use format="wide" (--format wide) if every annotator has a '
    "column"
)

# text, options, the message; it begins with the path, which is left out
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "HITId,AssignmentId,WorkerId,mood\nh1,a1,w1,good\nh1,a2,w2,bad\n", {},
        ": no column of answers recognised in 'HITId', 'AssignmentId', 'WorkerId', 'mood'" + ENDED,
    ),
    (
        "item::worker::label\nt1::a::no\nt1::b::yes\n", {},
        ": a single column, 'item::worker::label'; if '::' stands between fields, replace it by a "
        "tab: a delimiter is one sign",
    ),
    (LONG + "t1,a,\nt1,b,NaN\n", {}, ": no answers to 'label': 'label' is blank in every row"),
    (
        LONG + "t1,a,yes\nt1,b,perhaps\nt2,b,never\nt3,b,never\n", {"scale": "nominal:no,yes"},
        ", line 3: answer 'perhaps' to 'label' is not on the scale (nominal: no, yes); 3 such "
        f"answers: 'perhaps', 'never'; {OTHER_SCALE}",
    ),
    *(
        (LONG + f"t1,a,3\nt1,b,{off}\n", {"scale": "interval:0:10"},
         f", line 3: answer '{off}' to 'label' is not on the scale (interval: 0 to 10); "
         f"{OTHER_SCALE}")
        for off in ("11", "high")
    ),
    (
        LONG + "t1,a,yes\nt1,b,YES\n", {"scale": "nominal:no,yes"},
        ", line 3: answer 'YES' to 'label' is not on the scale (nominal: no, yes); 'yes' is; "
        + MERGE,
    ),
    *(
        (LONG + f"t1,a,{word}\nt1,b,yes\nt2,a,no\nt2,b,{word}\n", {"scale": "nominal:yes,no"},
         f", line 2: answer {word!r} to 'label' is not on the scale (nominal: yes, no); 2 such "
         f"answers: {word!r}; correct it or declare another scale, or use missing= (--missing) if "
         "it means no answer")
        for word in ("none", "NA", "n/a")
    ),
    (
        LONG + "t1,a,yes\n", {"scale": "circular"},
        ": label: no scale 'circular'; write nominal, ordinal, interval or multi-label, or with "
        "its values: nominal:no,yes  ordinal:1,2,3  interval:0:10",
    ),
    (
        LONG + "t1,a,yes\n", {"scale": {"mood": "nominal"}},
        ": a scale for 'mood'; the questions are 'label'",
    ),
    (LONG + "t1,ann,yes\n  ,bob,no\n", {}, ", line 3: no item: 'task' is blank"),
    (LONG + "t1,ann,yes\nt1,,no\n", {}, ", line 3: no annotator: 'worker' is blank"),
    (
        "item,q,worker,label\nt1,x,ann,yes\nt1,,bob,no\n", {"question": "q"},
        ", line 3: no question: 'q' is blank",
    ),
    (
        LONG + "t1,ann,yes\nt1,ann,no\nt2,ann,no\n", {},
        ": item = task, annotator = worker: label: annotator 'ann' answered item 't1' 2 times (1 "
        f"such pairs); {REPEATS}",
    ),
    (
        "item,text,annotator,answer\nt1,good,x,1\nt1,bad,y,2\n", {"text": "text"},
        ", line 3: item 't1' has two contents in 'text': 'good' and 'bad'",
    ),
    (
        "item,annotator,answer,truth\nt1,x,1,1\nt1,y,2,2\n", {"gold": "truth"},
        ", line 3: item 't1' has two labels in 'truth'",
    ),
    (
        "item,annotator,a,b,gold\nt1,x,1,2,1\n", {"answer": ["a", "b"], "gold": "gold"},
        ": 'gold' is gold for one question, but there are 2; name gold columns gold_QUESTION "
        "instead",
    ),
    (
        LONG + "t1,a,yes\n", {"corpus": "HS-Brexit"},
        ": contains one corpus; leave out corpus='HS-Brexit'",
    ),
    (
        "item,q,a,b\nt1,x,1,2\n", {"question": "q", "answer": ["a", "b"]},
        ": a table with a question column has one column of answers, found 'a', 'b'",
    ),
    # ---- wide tables ----
    (
        "item,ann1,ann2\nt1,x,y\nt1,y,y\nt2,x,x\n", {},
        ": item = item, annotator = annotator: answer: annotator 'ann1' answered item 't1' 2 "
        f"times (2 such pairs); {REPEATS}",
    ),
    (
        "id,ann1,ann2\n1,3,maybe\n2,2,no\n", {},
        ": 'ann1' answers in numbers ('3'), 'ann2' answers in words ('maybe'); name the columns "
        "that are annotators (annotators=, --annotator-columns), or declare a scale that contains "
        "both (scale=, --scale)",
    ),
    (
        "id,text,category,ann1,ann2\n1,a,news,x,y\n2,b,blog,y,x\n", {},
        ": 'ann1', 'ann2' look like annotators and 'category' like answers; use format=\"wide\" if "
        'they answered (--format wide), format="long" if not (--format long)',
    ),
    (
        "id,text,anna,mean\n1,a,x,1\n2,b,y,2\n", {"format": "wide"},
        ": no columns of annotators recognised in 'id', 'text', 'anna', 'mean'; name them "
        "(annotators=, --annotator-columns)",
    ),
    (
        PLAIN, {"annotators": ["anna", "carl"]},
        ": no column 'carl'; it has 'id', 'domain', 'anna', 'ben', 'mean'",
    ),
    (
        PLAIN, {"annotators": ["anna", "ben"], "item": "anna"},
        ": 'anna' is named as an annotator and as something else",
    ),
    (PLAIN, {"annotators": ()}, ": no annotator is named; leave annotators= out or name columns"),
    (
        PLAIN, {"format": "wide", "annotator": "anna", "answer": "ben"},
        ": in a wide table the columns are the annotators, their cells the answers; leave out "
        "annotator=, answer=",
    ),
    (
        "item,ann1,ann2\nt1,1,2\nt2,2,7\n", {"scale": "ordinal:1,2,3"},
        ", line 3, column 'ann2': answer '7' to 'answer' is not on the scale (ordinal: 1, 2, 3); "
        + OTHER_SCALE,
    ),
    (
        "item,ann1,ann2\nt1,,NaN\nt2,,\n", {},
        ": no answers to 'answer': 'answer' is blank in every row",
    ),
    (
        "thing,ann1,ann2\na,x,y\n,y,x\n", {"item": "thing"},
        ", line 3: no item: 'thing' is blank",
    ),
    (
        "item,ann1,ann1\nt1,x,y\n", {},
        ": columns share the name 'ann1'; rename all but one, or use --header 2 if names are in "
        "two lines",
    ),
    # ---- votes ----
    (
        "id,a,b\nt1,2,3\nt2,1,0\n", {"format": "votes", "annotator": "id"},
        ": a vote table has no annotators; leave out annotator=, annotators= and question=",
    ),
    (
        "id,a,text\nt1,2,x\nt2,1,y\n", {"format": "votes", "answer": ["text", "a"]},
        ": 'text' does not contain counts: 0, 1, 2, ...",
    ),
    (
        "id,a\nt1,x\n", {"format": "votes"},
        ": no columns of counts recognised in 'id', 'a'; name them (answer=, --answer)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "message"), REFUSED)
def test_what_is_refused(write: Write, text: str, options: dict[str, Any], message: str) -> None:
    path = write(text)
    assert error_text(read, path, **options) == f"{path}{message}"


VARIANTS = LONG + "t1,a,yes\nt2,b,no\nt2,a,Yes\nt3,a,yes \nt4,a,yes\n"
APART = "declare the scale to keep them apart"
SPELLED = "label: spelled in several ways and"
SAME = "are spelled alike; are they the same?"
UNUSED = "every row is one answer"

# text, options, the notes after the first one, each of which begins with the name of the file
NOTED: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        LONG + "t1,a,yes\nt1,b,\nt2,a,NaN\nt2,b,  \nt3,a,null\nt3,b,no\n", {},
        ["label: 4 rows without an answer left out, the first in line 3",
         "label: 'NaN' (1), 'null' (1) read as no answer"],
    ),
    (VARIANTS, {}, [f"{SPELLED} merged: 'yes' (2), 'Yes' (1), 'yes ' (1); {APART}"]),
    (
        VARIANTS, {"scale": "nominal"},
        [f"{SPELLED} kept apart: 'yes' (2), 'Yes' (1), 'yes ' (1); {MERGE}"],
    ),
    (VARIANTS, {"merge_variants": True}, [f"{SPELLED} merged: 'yes' (2), 'Yes' (1), 'yes ' (1)"]),
    (
        LONG + "t1,a,\u00e9t\u00e9\nt2,b,e\u0301te\u0301\nt3,b,no\n", {},
        [f"{SPELLED} merged: '\u00e9t\u00e9' (1), 'e\u0301te\u0301' (1); {APART}"],
    ),
    (
        LONG + "t1,a,1\nt2,a,1.0\nt3,b,0\n", {},
        [f"{SPELLED} merged: '1' (1), '1.0' (1); {APART}"],
    ),
    (
        LONG + "t1,a,1\nt2,a,1.0\nt3,b,2\nt4,b,3\n", {},
        [f"{SPELLED} merged: '1' (1), '1.0' (1); {APART}"],
    ),
    (LONG + "t1,a,1\nt2,a,1.0\nt3,b,2\nt4,b,3\n", {"scale": "interval:0:5"}, []),
    (
        LONG + "t1,a,1.5\nt2,a,2.5\nt3,b,inf\nt4,b,4\n", {},
        ["label: 'inf': not read as numbers, so all answers are names; if they are ratings, "
         "correct these rows or leave them out"],
    ),
    (LONG + "t1,a,1.5\nt2,a,2.5\nt3,b,inf\nt4,b,4\n", {"scale": "nominal"}, []),
    (LONG + "t1,a,1\nt2,a,2\nt3,b,unsure\n", {}, []),
    (
        LONG + "t1,ann,yes\nt2,Ann,no\n", {},
        [f"annotators 'ann', 'Ann' {SAME}"],
    ),
    (LONG + "t1,1,yes\nt2,2,no\nt3,2.0,no\n", {}, [f"annotators '2', '2.0' {SAME}"]),
    *(
        (f"item,answer,count\nt1,cat,7\nt1,dog,{cell}\n", {},
         [f"'count' is not used as a count, because line 3 contains {cell!r}: {UNUSED}"])
        for cell in ("2.5", "-1", "")
    ),
    (
        LONG + "t1,ann,yes\nt1,nan,no\n", {},
        ["'nan' is read as the name of an annotator; is it a missing value?"],
    ),
    (
        LONG + "t1,ann,yes\nt1,bob,-\nt2,ann,no\nt2,bob,N/A\n", {},
        ["label: 2 rows without an answer left out, the first in line 3",
         "label: '-' (1), 'N/A' (1) read as no answer"],
    ),
    (
        LONG + "t1,ann,yes\nt1,bob,?\nt2,ann,no\nt2,bob,skipped\n", {},
        ["label: '?' (1), 'skipped' (1) read as answers; if they mean no answer, use missing=['?', "
         "'skipped'] (--missing '?' --missing skipped)"],
    ),
    (
        LONG + "t1,ann,yes\n,,\nt1,bob,no\n , ,\n", {},
        ["2 blank rows skipped, the first in line 3"],
    ),
    (
        LONG + "t1,ann,yes\nt1,ann,no\nt2,ann,no\nt2,bob,yes\n", {"repeats": "last"},
        ["label: 1 repeated answer left out"],
    ),
    (
        "item,annotator,answer,gold\nt1,a,yes,NA\nt2,b,no,no\nt3,b,no,none\n", {},
        ["gold: 'NA' (1), 'none' (1) read as no answer"],
    ),
    *(
        (LONG + f"t1,a,{word}\nt1,b,yes\nt2,b,no\n", {"scale": "nominal:yes,no"},
         ["label: 1 row without an answer left out, the first in line 2",
          f"label: {word!r} (1) read as no answer"])
        for word in ("null", "NaN", "<NA>")
    ),
    *(
        (LONG + "t1,a,NA\nt1,b,1\nt2,a,2\nt2,b,none\nt3,a,NA\n", {"scale": scale},
         ["label: 3 rows without an answer left out, the first in line 2",
          "label: 'NA' (2), 'none' (1) read as no answer"])
        for scale in ("interval:0:10", "ordinal:1,2,3", "ordinal", None)
    ),
    (
        "item,worker,user,label\nt1,a,x,1\nt1,b,x,2\nt2,a,y,1\nt2,b,y,2\n", {},
        ["'user' is called like annotators, but is an attribute of the item; if it names those who "
         "answered, use annotator= (--annotator)"],
    ),
    (
        "rater_1,rater_2,n\n1,1,1880\n1,2,789\n", {},
        ["'n' is called like a count, but is an attribute of the item; if a row stands for several "
         "items, repeat it that often"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "notes"), NOTED)
def test_what_is_noted(write: Write, text: str, options: dict[str, Any], notes: list[str]) -> None:
    assert list(read(write(text), **options).notes[1:]) == [f"labels.csv: {n}" for n in notes]
