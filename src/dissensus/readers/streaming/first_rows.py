"""First rows: the roles of the columns of a large table, recognised in its first rows."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.errors import NoAnswersError
from dissensus.readers.options import Options
from dissensus.readers.streaming.batches import NotStreamedError
from dissensus.readers.tables.annotator_columns import find_annotators
from dissensus.readers.tables.assembly import other_columns
from dissensus.readers.tables.assignments import MTURK, TOLOKA
from dissensus.readers.tables.column_names import candidates
from dissensus.readers.tables.column_roles import ColumnRoles, items_of
from dissensus.readers.tables.dependence import cached_comparisons
from dissensus.readers.tables.extra_rows import without_blank_rows
from dissensus.readers.tables.feature_columns import without_features
from dissensus.readers.tables.list_columns import with_rows_of_lists
from dissensus.readers.tables.object_columns import with_rows_of_objects
from dissensus.readers.tables.question_columns import find_grid
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.structure import UnclearRolesError, find_roles
from dissensus.readers.tables.vote_columns import find_votes


@dataclass(frozen=True)
class StreamedColumns:
    """What the columns of a long table are."""

    roles: ColumnRoles
    others: dict[str, list[str]]  # "item", "annotator" or "answer" -> its further columns

    @property
    def item(self) -> str:
        return str(self.roles.item)

    @property
    def of_items(self) -> list[str]:
        """Columns with one cell for each item that need not be the same in all rows."""
        split = [] if self.roles.split is None else [self.roles.split]
        return [*self.others["item"], *split]

    @property
    def texts(self) -> list[str]:
        """Columns whose texts are kept as they are, because nearly every row has another one."""
        single = [self.roles.seconds, self.roles.response]
        return [*self.others["answer"], *(name for name in single if name is not None)]


def streamed_columns(rows: Rows, options: Options) -> StreamedColumns:
    """The roles of the columns; a table that is not streamed is refused with the reason."""
    rows, _ = without_blank_rows(rows)
    _check_shape(rows, options)
    try:
        with cached_comparisons():
            joined, roles = find_roles(rows, options)
    except UnclearRolesError:
        raise
    except NoAnswersError:
        raise NotStreamedError("no column of answers is recognised in its first rows") from None
    if joined is not rows:
        raise NotStreamedError("several columns name the item")
    _check_roles(rows, roles)
    items = items_of(rows, roles.item, roles.shown)
    annotators = None if roles.annotator is None else rows.columns[roles.annotator]
    return StreamedColumns(roles, other_columns(rows, roles, items, annotators))


def _check_shape(rows: Rows, options: Options) -> None:
    """Refuse what is no plain table with a row for each answer."""
    if with_rows_of_objects(with_rows_of_lists(rows, options), options) is not rows:
        raise NotStreamedError("cells contain lists or objects")
    if without_features(rows, options)[1] is not None:
        raise NotStreamedError("columns are features")
    if options.item_parts:
        raise NotStreamedError("several columns name the item")
    if {MTURK.column, TOLOKA.column} & set(rows.columns):
        raise NotStreamedError("rows have the status of an assignment")
    if any(find(rows, options) is not None for find in (find_grid, find_votes, find_annotators)):
        raise NotStreamedError("it has no row for each answer")


def _check_roles(rows: Rows, roles: ColumnRoles) -> None:
    """Refuse roles that need all rows at once."""
    if roles.item is None:
        raise NotStreamedError("no column names the item")
    if roles.count is not None:
        raise NotStreamedError(f"column {roles.count!r} is a count")
    if roles.question is not None and roles.gold:
        raise NotStreamedError("it has gold labels of several questions")
    if roles.annotator is None and candidates("count", rows, roles.used):
        raise NotStreamedError("a column is named like counts")
    if not roles.answer:
        raise NotStreamedError("it has no answers")
