"""The command `dissensus`, also as `python -m dissensus` and as torchrun starts it."""

import os
import signal
from typing import NoReturn


def main() -> None:
    """Load the command line and run it."""
    heard = signal.getsignal(signal.SIGINT)
    if heard is signal.default_int_handler:  # nobody has asked not to hear it
        signal.signal(signal.SIGINT, _stopped)
    from dissensus.cli import main as run

    signal.signal(signal.SIGINT, heard)
    run()


def _stopped(*_: object) -> NoReturn:
    """Ctrl-C while modules are loaded, some of which would make another error of it."""
    os.write(2, b"Stopped.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
