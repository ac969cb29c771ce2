"""How good is a prediction, compared with the answers? `(Prediction, Annotations) -> float`.

Items and annotators are matched by name; what was not predicted or not answered does not count.
A metric is a function and an entry of `METRICS`, in the order in which tables show them.
`__init__.pyi` lists what is public.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
