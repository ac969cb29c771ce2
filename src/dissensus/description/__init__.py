"""What is in a corpus: counts, agreement, disputed items, suspicious annotators."""

from __future__ import annotations

from dissensus.description.annotator_clusters import (
    AnnotatorClusters,
    Cluster,
    cluster_annotators,
    no_members,
)
from dissensus.description.answers_by_group import GroupDescription
from dissensus.description.copied_answers import Duplicated
from dissensus.description.corpus import describe
from dissensus.description.disputed_items import Disputed
from dissensus.description.facts import Description, QuestionDescription
from dissensus.description.stored import describe_stored
from dissensus.description.suspicious_annotators import AnnotatorDescription, Constant, Fast
from dissensus.description.texts import one_line, scale_text

__all__ = [
    "AnnotatorClusters",
    "AnnotatorDescription",
    "Cluster",
    "Constant",
    "Description",
    "Disputed",
    "Duplicated",
    "Fast",
    "GroupDescription",
    "QuestionDescription",
    "cluster_annotators",
    "describe",
    "describe_stored",
    "no_members",
    "one_line",
    "scale_text",
]
