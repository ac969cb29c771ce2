"""Methods: `Corpus -> fitted method -> Predictions`. A method is a file; `framework` is shared.

`METHODS` (`registry.py`) names the module and class of each. `__init__.pyi` lists what is public,
which is imported when it is first used, so that a list of methods needs no torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
