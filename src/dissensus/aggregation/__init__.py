"""What is the answer? `Annotations -> a distribution and a consensus per item`.

An aggregator is an entry of `AGGREGATORS`; `fit` returns self. `aggregate` fits one to the
questions of a corpus.
`__init__.pyi` lists what is public.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
