"""Training: batches, losses, the loop. Begin with `loop.Trainer.train_step`.

`__init__.pyi` lists what is public, which is imported when it is first used, so that settings need
no torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
