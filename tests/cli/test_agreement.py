"""dissensus agreement, as a user types it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from dissensus import agreement, read
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.scales import MultiLabel, Nominal
from tests.cli.conftest import Run
from tests.test_description import small
from tests.test_docs import ROOT, table_under


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    small().save(tmp_path / "small")
    return tmp_path / "small"


EXPECTED = """\
small, rude (nominal)
measure              value  meaning
percent              0.444  share of pairs of answers about an item that are
                            equal, mean over items
krippendorff-alpha   0.067  agreement beyond chance; 1 is perfect, 0 is chance
fleiss-kappa        -0.169  beyond chance, if all annotators draw from the same
                            shares of values
conger-kappa         0.000  beyond chance, if each annotator draws from their
                            own shares of values
randolph-kappa      -0.111  beyond chance, if chance picks every value of the
                            scale alike
gwet-ac1            -0.059  beyond chance, stable where one value is rare
cohen-kappa          0.333  of two annotators beyond chance, mean over pairs
scott-pi             0.056  of two annotators beyond chance, their answers
                            pooled, mean over pairs

small, funny (interval)
measure              value  meaning
krippendorff-alpha   0.000  agreement beyond chance; 1 is perfect, 0 is chance
mean-difference      6.000  how far apart two ratings of an item are, mean over
                            items, in own units
correlation              -  undefined: no two annotators share two items that
                            they rate differently
spearman                 -  undefined: no two annotators share two items that
                            they rate differently
kendall                  -  undefined: no two annotators share two items that
                            they rate differently
concordance              -  undefined: no two annotators share two items that
                            they rate differently
icc1                -3.000  share of the variance between items; each rated by
                            others
icc2                     -  undefined: not every annotator rated every item once
icc3                     -  undefined: not every annotator rated every item once
icc1k                    -  undefined: items have different numbers of ratings
icc2k                    -  undefined: not every annotator rated every item once
icc3k                    -  undefined: not every annotator rated every item once
cronbach-alpha           -  undefined: not every annotator rated every item once

rude: Krippendorff's alpha = 0.07, 95 % CI [-1.00, 0.95] over items, for these 3 annotators \
(3 items, 8 answers)
funny: Krippendorff's alpha = 0.00 (2 items, 3 answers by 2 annotators; too few for an interval)
"""


def test_tables_when_piped(run: Run, corpus: Path) -> None:
    ended = run("agreement", corpus)
    assert ended.out == EXPECTED
    assert ended.code == 0


def test_json_holds_the_values_and_the_reasons(run: Run, corpus: Path) -> None:
    fields = json.loads(run("agreement", corpus, "--json").out)
    assert fields["corpus"] == "small"
    for question, answers in small().questions.items():
        listed = next(q for q in fields["questions"] if q["question"] == question)
        assert listed["answers"] == answers.n_answers
        values = {entry["measure"]: entry["value"] for entry in listed["measures"]}
        expected = agreement.measured(answers)
        assert {n: np.nan if v is None else v for n, v in values.items()} == pytest.approx(
            expected, nan_ok=True
        )
        for entry in listed["measures"]:
            why = agreement.why_undefined(entry["measure"], answers)
            assert entry["undefined"] == why


def test_chosen_measures_and_question(run: Run, corpus: Path) -> None:
    chosen = ("--measure", "icc2", "--measure", "percent", "--question", "rude")
    out = run("agreement", corpus, *chosen).out
    assert out == (
        "small, rude (nominal)\n"
        "measure  value  meaning\n"
        "icc2         -  undefined: it is for ordinal and interval answers, not nominal\n"
        "percent  0.444  share of pairs of answers about an item that are equal, mean\n"
        "                over items\n\n"
        "rude: observed agreement = 0.44, 95 % CI [0.00, 0.96] over items, for these 3 annotators "
        "(3 items, 8 answers)\n"
    )


def test_intervals_over_raters(run: Run, corpus: Path, tmp_path: Path) -> None:
    chosen = ("--question", "rude", "--measure", "percent")
    bare, items = (
        run("agreement", *options, corpus, *chosen).out
        for options in (("--interval",), ("--interval", "items"))
    )
    assert bare == items == run("agreement", corpus, *chosen, "--interval").out
    raters = run("agreement", corpus, "--interval", "raters", *chosen).out
    assert raters.splitlines()[-1] == (
        "rude: observed agreement = 0.44, 95 % CI [0.00, 1.00] over items and annotators "
        "(3 items, 8 answers by 3 annotators)"
    )
    table = tmp_path / "labels.csv"
    lines = [f"t{i},{name},{i % 3 + (name == 'c')}" for i in range(9) for name in "abcd"]
    table.write_text("item,annotator,answer\n" + "\n".join(lines), encoding="utf-8")
    fields = json.loads(run("agreement", table, "--interval", "raters", "--json").out)
    annotations = read(table)["answer"]
    for entry in fields["questions"][0]["measures"]:
        if entry["undefined"] is None:
            ends = agreement.interval(entry["measure"], annotations, over="raters")
            given = [np.nan if entry[end] is None else entry[end] for end in ("low", "high")]
            assert given == pytest.approx(list(ends), nan_ok=True), entry["measure"]
    refused = run("agreement", corpus, "--interval=people")
    assert refused.err == "Error: --interval is over items or raters, found people\n"
    refused = run("agreement", corpus, "--groups", "gender", "--interval", "raters")
    assert refused.err == "Error: --groups has intervals over items; leave out --interval raters\n"


def test_intervals(run: Run, corpus: Path) -> None:
    ended = run("agreement", corpus, "--interval", "--json")
    for question in json.loads(ended.out)["questions"]:
        annotations = small()[question["question"]]
        for entry in question["measures"]:
            if entry["value"] is None:
                assert (entry["low"], entry["high"]) == (None, None)
            else:
                ends = agreement.interval(entry["measure"], annotations)
                expected = [None if math.isnan(end) else end for end in ends]
                assert [entry["low"], entry["high"]] == expected
    head = run("agreement", corpus, "--interval", "--question", "rude").out.splitlines()[1]
    assert head.split() == ["measure", "value", "low", "high", "meaning"]


def test_by_item_the_most_disputed_first(run: Run, corpus: Path) -> None:
    out = run("agreement", corpus, "--by", "item", "--question", "rude", "--most", "2").out
    assert out.splitlines() == [
        "small, rude (nominal)",
        "item        answers  entropy  majority-share",
        "t3                2    0.693           0.500",
        "t2                3    0.637           0.667",
        "... 1 more",
    ]


def test_formulas_words_and_values(run: Run, corpus: Path) -> None:
    options = ("--formulas", "--benchmark", "altman", "--measure", "fleiss-kappa")
    ended = run("agreement", corpus, *options, "--question", "rude")
    assert ended.out.splitlines()[1:3] == [
        "measure        value  error    from     to            test      p  altman",
        "fleiss-kappa  -0.169  0.451  -2.109  1.000  t(2) = -0.3744  0.744  poor",
    ]
    assert ended.err.splitlines()[-1] == (
        "altman: the words of Altman (1991), Practical Statistics for Medical Research; "
        "a convention, not a test"
    )
    out = run("agreement", corpus, "--by", "value", "--question", "rude").out
    assert out.splitlines()[1].split() == [
        "value", "answers", "positive-agreement", "negative-agreement", "krippendorff-alpha",
    ]  # fmt: skip
    assert len(out.splitlines()) == 4


def test_by_annotator_with_confusions_for_programs(run: Run, corpus: Path) -> None:
    ended = run("agreement", corpus, "--by", "annotator", "--json")
    rude, funny = json.loads(ended.out)["questions"]
    assert [line["annotator"] for line in rude["annotators"]] == ["ann", "bob", "cleo"]
    assert rude["annotators"][0] == {
        "annotator": "ann",
        "answers": 3,
        "agreement-with-rest": pytest.approx(1 / 3),
        "agreement-with-consensus": 0.5,
        "confusion": [[1, 0], [1, 0]],
    }
    assert funny["annotators"][0]["leniency"] == -6
    shown = run("agreement", corpus, "--by", "annotator").out
    assert "confusion" not in shown
    one = run("agreement", corpus, "--by", "annotator", "--measure", "leniency", "--json")
    assert "confusion" not in one.out


def test_by_pair_only_those_who_share_items(run: Run, tmp_path: Path) -> None:
    rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"), ("t2", "bob", "b")]
    rows += [("t3", "cleo", "a"), ("t3", "bob", "a")]
    built = Corpus.build("made", ["t1", "t2", "t3"], {"q": Annotations.from_rows(rows)})
    built.save(tmp_path / "made")
    fields = json.loads(run("agreement", tmp_path / "made", "--by", "pair", "--json").out)
    assert fields["questions"][0]["pairs"] == [
        {"first": "ann", "second": "bob", "items": 2, "cohen-kappa": 1, "scott-pi": 1},
        {"first": "bob", "second": "cleo", "items": 1, "cohen-kappa": None, "scott-pi": None},
    ]
    assert (
        "bob    cleo        1            -         -"
        in run("agreement", tmp_path / "made", "--by", "pair").out
    )


@pytest.mark.parametrize("by", [None, "item", "annotator"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_output_writes_a_table(
    run: Run, corpus: Path, tmp_path: Path, by: str | None, ending: str
) -> None:
    options = [] if by is None else ["--by", by]
    written = tmp_path / f"out.{ending}"
    ended = run("agreement", corpus, *options, "--json", "-o", written)
    assert ended.code == 0
    table = csv.read_csv(written) if ending == "csv" else pq.read_table(written)
    lines = [
        {"question": fields["question"], **{k: v for k, v in line.items() if k != "confusion"}}
        for fields in json.loads(ended.out)["questions"]
        for line in fields["measures" if by is None else f"{by}s"]
    ]
    assert len(lines) == table.num_rows > 0
    for line, row in zip(lines, table.to_pylist(), strict=True):
        for name, value in line.items():
            missing = row[name] in (None, "")
            assert missing if value is None else row[name] == pytest.approx(value)


def test_output_of_another_kind_is_refused(run: Run, corpus: Path) -> None:
    ended = run("agreement", corpus, "-o", "a.xlsx")
    assert ended.err == "Error: a.xlsx: write a .csv, .tsv, .parquet, .json or .jsonl file\n"


def test_output_writes_the_same_as_json(run: Run, corpus: Path, tmp_path: Path) -> None:
    ended = run("agreement", corpus, "--by", "item", "--json", "-o", tmp_path / "new" / "out.json")
    assert json.loads((tmp_path / "new" / "out.json").read_text()) == json.loads(ended.out)
    blocked = run("agreement", corpus, "-o", tmp_path)
    assert blocked.code == 1
    assert blocked.err.splitlines()[-1].startswith(f"Error: {tmp_path}: cannot be written (")


def test_votes_without_annotators(run: Run, tmp_path: Path) -> None:
    votes = Annotations.from_arrays(
        np.array([0, 0, 1]), None, np.array([0, 1, 1]), Nominal(("a", "b")), count=[3, 1, 2]
    )
    Corpus.build("votes", ["0", "1"], {"q": votes}).save(tmp_path / "votes")
    *lines, _, sentence = run("agreement", tmp_path / "votes").out.splitlines()
    assert sentence.startswith("q: Krippendorff's alpha = ") and "by" not in sentence
    shown = [line.split()[0] for line in lines[2:] if not line.startswith(" ")]
    assert shown == [
        "percent",
        "krippendorff-alpha",
        "fleiss-kappa",
        "randolph-kappa",
        "gwet-ac1",
    ]
    ended = run("agreement", tmp_path / "votes", "--by", "pair")
    assert ended.err.splitlines()[-2:] == [
        "q: left out, no measure by pair: it needs known annotators; these answers are anonymous",
        "Error: votes: no question has a measure by pair",
    ]


def test_tables_to_be_copied(run: Run, corpus: Path) -> None:
    options = ("agreement", corpus, "--question", "rude", "--measure", "percent", "--as")
    assert run(*options, "markdown").out == (
        "small, rude (nominal)\n\n"
        "| measure | value | meaning |\n| --- | --: | --- |\n"
        "| percent | 0.444 | share of pairs of answers about an item that are equal, mean over "
        "items |\n\n"
    )
    assert r"percent & 0.444 & share of pairs" in run(*options, "latex").out
    ended = run(*options, "csv", "--interval")
    header, row = ended.out.splitlines()
    assert header == "question,measure,value,low,high,undefined"
    assert row.startswith("rude,percent,0.4444444444,")
    assert "rude: observed agreement = 0.44, 95 % CI [" in ended.err
    assert run(*options, "word").err == (
        "Error: --as must be text, csv, markdown or latex, found word\n"
    )


def test_several_answers_at_once(run: Run, tmp_path: Path) -> None:
    rows = [("t1", "ann", "joy,fear"), ("t1", "bob", "joy"), ("t2", "ann", ""), ("t2", "bob", "")]
    answers = Annotations.from_rows(rows, MultiLabel(("joy", "fear")))
    Corpus.build("sets", ["t1", "t2"], {"q": answers}).save(tmp_path / "sets")
    fields = json.loads(run("agreement", tmp_path / "sets", "--json").out)["questions"][0]
    values = {entry["measure"]: entry["value"] for entry in fields["measures"]}
    assert list(values) == ["percent", "krippendorff-alpha", "kappa-per-value", "kappa-any-value"]
    assert values["kappa-any-value"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "day"), "--by must be item, annotator, pair or value, found day"),
        (
            ("--by", "item", "--measure", "kappa"),
            "no measure 'kappa' by item; there are 'entropy', 'variance', 'majority-share'",
        ),
        (
            ("--by", "pair", "--interval"),
            "--interval applies to whole measures; leave out --by pair",
        ),
        (
            ("--by", "value", "--weights", "linear"),
            "--weights applies to whole measures; leave out --by value",
        ),
        (
            ("--benchmark", "landis"),
            "no benchmark 'landis' (did you mean 'landis-koch'?); there are 'landis-koch', "
            "'fleiss', 'altman'",
        ),
        (
            ("--weights", "linear", "--measure", "percent"),
            "percent takes no weights; these do: 'krippendorff-alpha', 'fleiss-kappa', "
            "'conger-kappa', 'randolph-kappa', 'gwet-ac1', 'cohen-kappa', 'scott-pi'",
        ),
        (("--question", "polite"), "small: no question 'polite'; it has 'rude', 'funny'"),
    ],
)
def test_refuses_what_does_not_fit(
    run: Run, corpus: Path, options: tuple[str, ...], message: str
) -> None:
    ended = run("agreement", corpus, *options)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == f"Error: {message}"


def test_an_unknown_measure_lists_those_there_are(run: Run, corpus: Path) -> None:
    ended = run("agreement", corpus, "--measure", "kapa")
    assert ended.code == 1
    assert ended.err.startswith("Error: no measure 'kapa'; there are 'percent', 'krippendorff-")


def test_the_docs_list_every_measure() -> None:
    page = ROOT / "docs" / "commands.md"
    assert table_under(page, "measure") == [f"`{name}`" for name in agreement.MEASURES]


def test_groups(run: Run, tmp_path: Path) -> None:
    """Women and men who disagree about every third item, one way or the other."""
    path = tmp_path / "labels.csv"
    rows = [
        f"t{item},{gender}{code},{gender},{'yes' if (item + differs) % 2 else 'no'}"
        for item in range(12)
        for gender in "fm"
        for code in range(5)
        for differs in (gender == "f" and item % 3 == 0,)
    ]
    path.write_text("item,annotator,gender,answer\n" + "\n".join(rows), encoding="utf-8")
    written = tmp_path / "groups.csv"
    ended = run("agreement", path, "--groups", "gender", "--top", "1", "-o", written)
    assert ended.out.splitlines() == [
        "labels, answer (nominal) by gender",
        "agreement        annotators  answers  alpha  95 % interval",
        "within f                  5       60   1.00   [0.66, 1.00]",
        "within m                  5       60   1.00   [0.66, 1.00]",
        "between f and m                        0.33  [-0.38, 0.80]",
        "within minus between groups: 0.66 [0.02, 1.30]; p of differences about some",
        "items 0.0079, in level 1.000, in reliability 1.000 (252 permutations of",
        "annotators)",
        "f and m answer some items differently (p = 0.0079), most of all t0: read them",
        "before you average over groups",
        "",
        "items that divide them most",
        "item  division  answers            shown",
        "t0        1.00  f: yes 5; m: no 5",
    ]
    assert csv.read_csv(written)["p_value"].to_pylist()[-3] == pytest.approx(2 / 252)


def test_groups_of_which_one_does_not_look(run: Run, tmp_path: Path) -> None:
    """Women always say yes."""
    path = tmp_path / "labels.csv"
    rows = [
        f"t{item},{gender}{code},{gender},{'yes' if gender == 'f' or item % 2 else 'no'}"
        for item in range(8)
        for gender in "fm"
        for code in range(5)
    ]
    path.write_text("item,annotator,gender,answer\n" + "\n".join(rows), encoding="utf-8")
    ended = run("agreement", path, "--groups", "gender", "--top", "1")
    assert ended.out.splitlines()[5:-2] == [
        "within minus between groups: 1.32 [0.92, 1.71]; p of differences about some",
        "items 1.000, in level 1.000, in reliability 0.0079 (252 permutations of",
        "annotators)",
        "f follows the consensus less closely than m (correlation 0.00 against 1.00, p =",
        "0.0079), as less careful annotators do, and that may be why f answers yes more",
        "often than m (by 50 points on the same items): check their answers, and weight",
        "annotators when you aggregate",
        "",
        "items that divide them most, which may be chance or carelessness",
    ]
    refused = run("agreement", path, "--groups", "age")
    assert refused.err.splitlines()[-1] == (
        "Error: labels: no annotator attribute 'age'; there are 'gender'"
    )
    refused = run("agreement", path, "--groups", "gender", "--by", "item")
    assert refused.err == "Error: --groups compares alpha; leave out --by and --measure\n"
