"""`python -m dissensus`: the command `dissensus`, as torchrun starts it."""

from dissensus.cli import main

if __name__ == "__main__":
    main()
