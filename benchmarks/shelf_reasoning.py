"""Table III of OMAR, by true attributes: ``python benchmarks/shelf_reasoning.py [--seed S] [--json]``.

The built-in reasoner (OURS) beside equal weights (Score) on scenes that one attribute dominates: SF with the experts'
weights, mean ± standard error over sets, and the two-sided Wilcoxon test over the paired means of the sets and over the
single scenes. *Best* is the best free place by these weights. Weights come from three built-in estimators, not from
language models. `armwright shelf bench --table 3` makes the same table, resumable; here boxes may also be reoriented.
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version

from armwright.shelf.dominance import SCENES_PER_SET, TEST_SETS
from armwright.shelf.records import ATTRIBUTES
from armwright.shelf.table3 import DominanceTask, format_table3, run_attribute, table_row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sets", type=int, default=TEST_SETS, help="unseen sets per attribute")
    parser.add_argument("--scenes", type=int, default=SCENES_PER_SET, help="scenes per set")
    parser.add_argument("--reorient", action="store_true", help="boxes may be stood up or laid down")
    parser.add_argument("--json", action="store_true", help="print one JSON record and nothing else")
    options = parser.parse_args()
    rows = []
    for attribute in ATTRIBUTES:
        task = DominanceTask(attribute, options.seed, options.sets, options.scenes, options.reorient)
        rows.append(table_row(run_attribute(task)))
    record = {"sets": options.sets, "scenes": options.scenes, "seed": options.seed, "rows": rows}
    if not options.json:
        print(format_table3(record))
    if options.json:
        versions = {"python": platform.python_version(), "armwright": version("armwright"), "numpy": version("numpy")}
        record |= {"schema": "armwright.result/1", "command": "benchmarks/shelf_reasoning.py", "versions": versions}
        print(json.dumps(record, allow_nan=False))


if __name__ == "__main__":
    main()
