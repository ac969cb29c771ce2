"""How long a simulated crowd of a million responses takes, for every preset."""

import resource
import time

from dissensus.simulate import PRESETS

N_ITEMS = 200_000
LABELS = 5


def main() -> None:
    sizes = f"{N_ITEMS} items, 10 annotators, {LABELS} labels each"
    print(f"{'preset':10}  answers  seconds  peak GB so far   {sizes}")
    for name, preset in PRESETS.items():
        begin = time.perf_counter()
        corpus = preset(n_items=N_ITEMS, labels_per_item=LABELS)
        taken = time.perf_counter() - begin
        answers = sum(asked.n_rows for asked in corpus.questions.values())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{name:10}  {answers:7}  {taken:7.2f}  {peak:14.1f}")
        del corpus


if __name__ == "__main__":
    main()
