"""Run every benchmark of this folder, one after another."""

import importlib.util
import time
from pathlib import Path


def main() -> None:
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        print(f"---- {path.name} ----")
        begin = time.perf_counter()
        module.main()
        print(f"({time.perf_counter() - begin:.1f} s)\n", flush=True)


if __name__ == "__main__":
    main()
