"""Table III of OMAR, by true attributes: ``python benchmarks/shelf_reasoning.py [--seed S] [--json]``.

The built-in reasoner (OURS) beside equal weights (Score) on scenes that one attribute dominates: SF with the experts'
weights, mean ± standard error over sets, and the two-sided Wilcoxon test over the paired means of the sets and over the
single scenes. *Best* is the best free place by these weights. Weights come from three built-in estimators, not from
language models.
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version

from armwright.shelf.dominance import SCENES_PER_SET, TEST_SETS, dominance_row
from armwright.shelf.embedded import EmbeddedReasoner
from armwright.shelf.metrics import compare
from armwright.shelf.records import ATTRIBUTES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sets", type=int, default=TEST_SETS, help="unseen sets per attribute")
    parser.add_argument("--scenes", type=int, default=SCENES_PER_SET, help="scenes per set")
    parser.add_argument("--reorient", action="store_true", help="boxes may be stood up or laid down")
    parser.add_argument("--json", action="store_true", help="print one JSON record and nothing else")
    options = parser.parse_args()
    rows = []
    if not options.json:
        print(f"seed {options.seed}, {options.sets} sets of {options.scenes} scenes per attribute, SF in %")
        print("attribute    OURS         Score        best   gain  p (sets)  p (scenes)  weights c p e o")
    for attribute in ATTRIBUTES:
        row = dominance_row(
            attribute,
            options.seed,
            lambda allowed: EmbeddedReasoner(orientations=allowed),
            sets=options.sets,
            scenes=options.scenes,
            reorient=options.reorient,
        )
        by_set = compare(row.ours.mean(1), row.score.mean(1))
        by_scene = compare(row.ours, row.score)
        rows.append(
            {
                "attribute": attribute,
                "n_sets": by_set.n,
                "n_scenes": by_scene.n,
                "ours": by_set.mean_a,
                "ours_error": by_set.error_a if by_set.n > 1 else None,
                "score": by_set.mean_b,
                "score_error": by_set.error_b if by_set.n > 1 else None,
                "best": float(row.best.mean()),
                "p_sets": by_set.p,
                "p_scenes": by_scene.p,
                "unplaced": row.unplaced,
                "weights": dict(row.weights),
                "experts": "built-in",
            }
        )
        if not options.json:
            weights = " ".join(f"{row.weights[name]:.2f}" for name in ATTRIBUTES)
            print(
                f"{attribute:12} {100 * by_set.mean_a:4.1f} ± {100 * by_set.error_a:3.1f}   "
                f"{100 * by_set.mean_b:4.1f} ± {100 * by_set.error_b:3.1f}   {100 * row.best.mean():4.1f}  "
                f"{100 * (by_set.mean_a - by_set.mean_b):+5.1f}  {by_set.p:8.2g}  {by_scene.p:10.2g}  {weights}",
                flush=True,
            )
    if options.json:
        versions = {"python": platform.python_version(), "armwright": version("armwright"), "numpy": version("numpy")}
        record = {"schema": "armwright.result/1", "command": "benchmarks/shelf_reasoning.py", "seed": options.seed}
        print(json.dumps({**record, "rows": rows, "versions": versions}, allow_nan=False))


if __name__ == "__main__":
    main()
