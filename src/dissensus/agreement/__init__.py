"""How much do annotators agree? `Annotations -> float`, or one value per item, annotator or pair.

A measure is a file and an entry of `MEASURES`. What has a value per item, per annotator or per
pair of annotators is an entry of `PER_ITEM`, `PER_ANNOTATOR` or `PER_PAIR`. `summarise` and
`break_down` compute them for a corpus.
"""

from __future__ import annotations

from dissensus.agreement.annotator_groups import (
    AnnotatorGroups,
    chosen_attributes,
    group_annotators,
)
from dissensus.agreement.benchmarks import BENCHMARKS, benchmark_word
from dissensus.agreement.breakdown import CorpusBreakdown, QuestionBreakdown, break_down
from dissensus.agreement.confidence import ConfidenceInterval
from dissensus.agreement.conger import conger_kappa
from dissensus.agreement.correction import false_discovery, holm
from dissensus.agreement.correlation import (
    concordance_matrix,
    correlation_matrix,
    mean_concordance,
    mean_correlation,
)
from dissensus.agreement.cronbach import cronbach_alpha
from dissensus.agreement.difference import mean_difference
from dissensus.agreement.fleiss import fleiss_kappa
from dissensus.agreement.group_comparison import GroupComparison, compare_groups
from dissensus.agreement.gwet import gwet_ac
from dissensus.agreement.icc import icc
from dissensus.agreement.kappa import cohen_kappa, kappa_matrix, mean_kappa
from dissensus.agreement.krippendorff import krippendorff_alpha
from dissensus.agreement.masi import masi_distance
from dissensus.agreement.measure import Breakdown, Formula, Measure
from dissensus.agreement.multiple_select import (
    kappa_of_any,
    kappa_per_value,
    masi_kappa_matrix,
    mean_kappa_per_value,
)
from dissensus.agreement.pairs import common_items
from dissensus.agreement.per_annotator import (
    agreement_of_answers,
    agreement_with_consensus,
    agreement_with_rest,
    confusion,
    correlation_with_rest,
    leniency,
)
from dissensus.agreement.per_item import item_entropy, item_variance, majority_share
from dissensus.agreement.per_value import (
    alpha_of_values,
    negative_agreement,
    positive_agreement,
)
from dissensus.agreement.percent import percent_agreement
from dissensus.agreement.randolph import randolph_kappa
from dissensus.agreement.rank_correlation import (
    kendall_matrix,
    mean_kendall,
    mean_spearman,
    spearman_matrix,
)
from dissensus.agreement.registry import (
    BREAKDOWNS,
    MEASURES,
    PER_ANNOTATOR,
    PER_ITEM,
    PER_PAIR,
    PER_VALUE,
    check_measures,
    why_unfit,
)
from dissensus.agreement.rest import (
    AgainstRest,
    against_rest,
    first_answers,
    ratings_against_rest,
)
from dissensus.agreement.results import Agreement, MeasureResult, QuestionAgreement
from dissensus.agreement.row_pairs import value_pairs, with_oneself
from dissensus.agreement.scott import mean_pi, pi_matrix, scott_pi
from dissensus.agreement.sentence import sentence
from dissensus.agreement.spans import SPAN_MEASURES, SpanAgreement, span_agreement
from dissensus.agreement.summary import (
    at_a_glance,
    at_a_glance_in_blocks,
    interval,
    measured,
    summarise,
    why_undefined,
)

__all__ = [
    "Agreement",
    "BENCHMARKS",
    "BREAKDOWNS",
    "MEASURES",
    "PER_ANNOTATOR",
    "PER_ITEM",
    "PER_PAIR",
    "SPAN_MEASURES",
    "PER_VALUE",
    "AgainstRest",
    "AnnotatorGroups",
    "Breakdown",
    "CorpusBreakdown",
    "Formula",
    "GroupComparison",
    "ConfidenceInterval",
    "Measure",
    "MeasureResult",
    "QuestionAgreement",
    "QuestionBreakdown",
    "SpanAgreement",
    "against_rest",
    "agreement_of_answers",
    "agreement_with_consensus",
    "agreement_with_rest",
    "alpha_of_values",
    "at_a_glance",
    "at_a_glance_in_blocks",
    "benchmark_word",
    "break_down",
    "check_measures",
    "chosen_attributes",
    "compare_groups",
    "cohen_kappa",
    "common_items",
    "concordance_matrix",
    "confusion",
    "conger_kappa",
    "correlation_matrix",
    "correlation_with_rest",
    "cronbach_alpha",
    "false_discovery",
    "first_answers",
    "fleiss_kappa",
    "group_annotators",
    "gwet_ac",
    "holm",
    "icc",
    "interval",
    "item_entropy",
    "item_variance",
    "kappa_matrix",
    "kappa_of_any",
    "kappa_per_value",
    "kendall_matrix",
    "krippendorff_alpha",
    "leniency",
    "majority_share",
    "masi_distance",
    "masi_kappa_matrix",
    "mean_concordance",
    "mean_correlation",
    "mean_difference",
    "mean_kappa",
    "mean_kappa_per_value",
    "mean_kendall",
    "mean_pi",
    "mean_spearman",
    "measured",
    "negative_agreement",
    "percent_agreement",
    "pi_matrix",
    "positive_agreement",
    "randolph_kappa",
    "ratings_against_rest",
    "scott_pi",
    "sentence",
    "span_agreement",
    "spearman_matrix",
    "summarise",
    "value_pairs",
    "why_undefined",
    "why_unfit",
    "with_oneself",
]
