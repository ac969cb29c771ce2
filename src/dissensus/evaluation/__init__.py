"""Which method is better, and how certain is that? `Corpus -> folds`, `scores -> Difference`,
`fits -> Results -> table`.

Protocols divide a corpus into training and test items. Significance tests estimate whether a
difference would remain with other items and other seeds. Results are saved with the command that
gives them again.
"""

from __future__ import annotations

from dissensus.agreement import holm
from dissensus.evaluation.aggregator_scores import AggregatorScores, aggregator_scores
from dissensus.evaluation.attention.scores import (
    AttentionEvaluation,
    AttentionScore,
    evaluate_attention,
)
from dissensus.evaluation.comparison import compare, default_methods
from dissensus.evaluation.comparison_table import (
    FORMATS,
    ComparisonTable,
    Row,
    format_tables,
    higher_is_better,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)
from dissensus.evaluation.execution.folder import FitFolder, locked_folder
from dissensus.evaluation.execution.processes import (
    fits_in_processes,
    fits_in_this_process,
    processors,
)
from dissensus.evaluation.fit import (
    Fit,
    Key,
    fits_in,
    folder_name,
    item_table,
    keys_in,
    number,
    plain,
)
from dissensus.evaluation.group_scores import (
    GroupEvaluation,
    GroupScores,
    evaluate_groups,
    worst_group,
)
from dissensus.evaluation.interval_plot import check_picture, intervals, save_intervals
from dissensus.evaluation.lewidi_submission import read_submission, write_submission
from dissensus.evaluation.outside_predictions import read_predictions
from dissensus.evaluation.prediction_scores import Evaluation, PartScores, ScoreTable, evaluate
from dissensus.evaluation.protocols import (
    EvaluationProtocol,
    Fold,
    choose_protocol,
    k_fold,
    nested,
    official,
    repeated,
)
from dissensus.evaluation.result_tables import default_reference, table, tables
from dissensus.evaluation.results import About, Results, code_commit, here
from dissensus.evaluation.significance import resampling
from dissensus.evaluation.significance.difference import Difference, corrected, p_text
from dissensus.evaluation.significance.hierarchical import hierarchical
from dissensus.evaluation.significance.means import over_both, over_items, over_seeds
from dissensus.evaluation.significance.method_difference import compared
from dissensus.evaluation.significance.published import published
from dissensus.evaluation.significance.statistics import statistic_over_both, statistic_over_items
from dissensus.metrics import item_scores

__all__ = [
    "FORMATS",
    "About",
    "AggregatorScores",
    "AttentionEvaluation",
    "AttentionScore",
    "ComparisonTable",
    "Difference",
    "Evaluation",
    "EvaluationProtocol",
    "Fit",
    "FitFolder",
    "Fold",
    "GroupEvaluation",
    "GroupScores",
    "Key",
    "PartScores",
    "Results",
    "Row",
    "ScoreTable",
    "aggregator_scores",
    "check_picture",
    "choose_protocol",
    "code_commit",
    "compare",
    "compared",
    "corrected",
    "default_methods",
    "default_reference",
    "evaluate",
    "evaluate_attention",
    "evaluate_groups",
    "fits_in",
    "fits_in_processes",
    "fits_in_this_process",
    "folder_name",
    "format_tables",
    "here",
    "hierarchical",
    "higher_is_better",
    "holm",
    "intervals",
    "item_scores",
    "item_table",
    "k_fold",
    "keys_in",
    "locked_folder",
    "nested",
    "number",
    "official",
    "over_both",
    "over_items",
    "over_seeds",
    "p_text",
    "plain",
    "processors",
    "published",
    "read_predictions",
    "read_submission",
    "repeated",
    "resampling",
    "save_intervals",
    "statistic_over_both",
    "statistic_over_items",
    "table",
    "tables",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_text",
    "worst_group",
    "write_submission",
]
