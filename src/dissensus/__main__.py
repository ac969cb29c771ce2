"""The command `dissensus`, also run by `python -m dissensus` and by torchrun."""

import os
import signal
from typing import NoReturn


def main() -> None:
    """Load the command line and run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not ignored, as in a background job
        signal.signal(signal.SIGINT, _stopped)
    from dissensus.cli import main as run

    signal.signal(signal.SIGINT, handler)
    run()


def _stopped(*_: object) -> NoReturn:
    """End on Ctrl-C while modules are loaded; some of them would raise another error."""
    os.write(2, b"Stopped.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
