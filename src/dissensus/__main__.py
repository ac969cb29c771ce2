"""The command `dissensus`, also run by `python -m dissensus` and by torchrun."""

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Load the command line and run it."""
    handler = signal.getsignal(signal.SIGINT)
    usual = handler is signal.default_int_handler  # not ignored, as in a background job
    if usual:
        signal.signal(signal.SIGINT, _stopped)
    gc.disable()  # modules are no garbage: neither while they are loaded nor at the end
    from dissensus.cli import main as run

    gc.freeze()
    gc.enable()
    try:
        signal.signal(signal.SIGINT, handler)
        run()
    except KeyboardInterrupt:  # before or after what `run` itself guards
        _stopped()
    finally:
        gc.freeze()
        if usual:  # the interpreter would end with a traceback
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _stopped(*_: object) -> NoReturn:
    """End at once on Ctrl-C: modules that are being loaded would raise another error."""
    os.write(2, b"Stopped.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
