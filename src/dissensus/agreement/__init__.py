"""How much do annotators agree? `Annotations -> float`, or one value per item, annotator or pair.

A measure is a function here and an entry of `MEASURES`. What has a value per item, per annotator or
per pair of annotators is an entry of `PER_ITEM`, `PER_ANNOTATOR` or `PER_PAIR`. `summarise` and
`break_down` compute them for a corpus. `__init__.pyi` lists what is public.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
