"""Encoders: contents to sequences of vectors, `Contents -> Store`; cached on disk if frozen.

An encoder is a file here. What encoders share is in `framework`. `__init__.pyi` lists what is
public, which is imported when it is first used, so that the cache needs no torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
