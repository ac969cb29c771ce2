"""Learning from annotators who disagree, and keeping what they disagree about.

`__init__.pyi` lists the public parts. They are loaded when they are first used, so that
`import dissensus` is fast.
"""

from typing import Any

import lazy_loader

from dissensus import conversion
from dissensus.version import __version__ as __version__


def _read(source: Any) -> Any:
    from dissensus.readers import read

    return read(source)


conversion.reader = _read
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
