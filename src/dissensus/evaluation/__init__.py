"""Which method is better, and how certain is that? `Corpus -> folds`, `scores -> Difference`,
`fits -> Results -> table`.

Protocols divide a corpus into training and test items. Significance tests estimate whether a
difference would remain with other items and other seeds. Results are saved with the command that
gives them again. `__init__.pyi` lists what is public.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
