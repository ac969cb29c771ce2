"""Pictures with several objects; annotators look at different objects."""

from __future__ import annotations

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.scales import Nominal
from dissensus.simulate.assembly import Shown, labelled
from dissensus.simulate.crowd import Crowd, Draws, check_sizes, circle, draw_parts
from dissensus.simulate.pictures import COLOURS, SHAPES, draw_pictures
from dissensus.simulate.words import invented

ASPECTS = tuple(COLOURS)


def image(
    n_items: int = 1000,
    n_annotators: int = 10,
    labels_per_item: int = 5,
    n_values: int = 6,
    seed: int = 0,
) -> Corpus:
    """A corpus of pictures with several objects, and annotators whose tendencies are known.

    Each picture is a PNG of 48 x 48 pixels with three or four objects in the cells of a 3 x 3
    grid. An object's shape carries the answer, its colour draws the eye; two objects of a picture
    share their shape, none its colour. Annotators are asked for *the* shape: each looks mostly at
    objects of the colours they prefer, prefers certain answers and is careless now and then.
    `Crowd` states the distribution of their answers in closed form:

        p(v) = (1 - noise) * sum over objects of focus(object) * reading(v | object)
               + noise * lean(v)

    The truth is saved with the corpus, as in `text`, and `truth` reads it back for any pair:

    - the question's `extra["distribution"]`: p of each row's item and annotator;
    - rationales of kind "focus": the box (row, column) of the object that the annotator looked at;
    - annotators' attributes: `noise`, `lean.VALUE`, `focus.COLOUR` (focus is in proportion to
      16 ** preference) and `best_accuracy`, the mean of max p(v) over the annotator's rows;
    - items' attributes: `parts.aspect` (colour), `parts.value` (shape), `parts.start` and
      `parts.stop` (row, column), one entry per object.

    With the default sizes the best possible accuracy is .83, and .51 without knowing the
    annotator. From four annotators on, attention to where annotators look on average finds an
    annotator's own object with an AUROC of at most .65.

    The preset is frozen: sizes and seed determine every pixel and answer in every version. Shapes
    beyond the eighth are patterns of blocks with invented names.

    Args:
        labels_per_item: how many annotators label each item; all get the same number of items, or
            one more.
        n_values: how many shapes there are, two or more.

    Example:
        >>> corpus = image(n_items=100)
        >>> corpus["shape"].n_rows, corpus["shape"].scale.values[:3]
        (500, ('disc', 'ring', 'frame'))
        >>> corpus.contents["image"][0][1:4]
        b'PNG'
    """
    check_sizes(n_items, n_annotators, labels_per_item, n_values, seed)
    draws = Draws(seed)
    crowd = Crowd.balanced(n_annotators, len(ASPECTS), circle(n_values), draws)
    parts = draw_parts(crowd, n_items, n_values, draws)
    pictures, start, stop = draw_pictures(parts, draws)
    shown = Shown("image", *Contents.distinct("image", pictures), ASPECTS, parts, start, stop)
    scale = shape_scale(n_values)
    return labelled("image", "shape", shown, crowd, scale, labels_per_item, draws, seed)


def shape_scale(n_values: int) -> Nominal:
    """Shapes in a circle of likeness; the distance counts steps on it.

    Example:
        >>> shape_scale(3).values, shape_scale(9).values[-1]
        (('disc', 'ring', 'frame'), 'tabal')
    """
    further = [invented(number) for number in range(n_values - len(SHAPES))]
    return Nominal((*list(SHAPES)[:n_values], *further), circle(n_values))
