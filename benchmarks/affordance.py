"""How well the affordance networks find regions, on shapes, phrasings, categories and views they were not trained on.

    python benchmarks/affordance.py                     both networks, about ten minutes
    python benchmarks/affordance.py --draws 2 --models learned

Every row is the mean over regions of the mean IoU over queries, on the points that a scene source would give; an answer
"absent" scores 0 where the region is there. Test draws share no parameter draw with training or validation.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import numpy as np

from armwright.affordance.concepts import vocabulary
from armwright.affordance.labelled.deform import turned
from armwright.affordance.labelled.samples import LEAST_SEEN
from armwright.affordance.labelled.soup import library_soup
from armwright.affordance.labelled.views import RegionCloud, seen_cloud, whole_cloud
from armwright.affordance.networks import NETWORKS, NetworkAffordance
from armwright.affordance.prepare import prepare
from armwright.affordance.protocol import ObjectCloud
from armwright.assets.catalog import CATALOG
from armwright.assets.cloud import sample_cloud
from armwright.assets.index import instance
from armwright.assets.reference import overlap, reference_instances, reference_mask, reference_regions
from armwright.core.seeds import rng_for
from armwright.core.task import REGIONS

FIRST_INSTANCE = 900_000
CLOUD_POINTS = 8192
PHRASES_PER_QUERY = 2


@dataclass
class Row:
    """IoU per region, and how often an absent region was said to be there."""

    iou: dict[str, list[float]] = field(default_factory=lambda: {region: [] for region in REGIONS})
    absent: int = 0
    fired: int = 0

    def summary(self) -> dict[str, object]:
        per = {region: float(np.mean(values)) for region, values in self.iou.items() if values}
        worst = min(per, key=lambda region: per[region]) if per else ""
        return {
            "miou": round(float(np.mean(list(per.values()))), 3) if per else None,
            "n": sum(len(values) for values in self.iou.values()),
            "lowest": [worst, round(per.get(worst, 0.0), 3)],
            "false_fire": round(self.fired / self.absent, 3) if self.absent else None,
            "n_absent": self.absent,
            "per_region": {region: round(value, 3) for region, value in per.items()},
        }


def shapes(categories: tuple[str, ...], draws: int, view: str) -> Iterator[tuple[str, RegionCloud, int, int]]:
    """Yield category, cloud, bits of present and of judged regions of every test draw."""
    for category in categories:
        for k in range(draws):
            rng = rng_for(k, "affordance", "test", view, category)
            soup = library_soup(category, FIRST_INSTANCE + k)
            if view == "whole":
                cloud = whole_cloud(soup, CLOUD_POINTS, rng=rng)
            else:
                soup = turned(soup, rng=rng, tilt_rad=0.0)
                cloud = seen_cloud(soup, rng=rng, pixels=130)
            yield category, cloud, soup.present, soup.judged


def evaluate(models: list[NetworkAffordance], categories: tuple[str, ...], draws: int, view: str) -> dict[str, Row]:
    """Ask each model for every region in its own name, in trained and in held-out phrasings."""
    rows = {f"{model.name}|{kind}": Row() for model in models for kind in ("name", "trained", "held out")}
    for category, cloud, present, judged in shapes(categories, draws, view):
        thing = ObjectCloud(f"{category}_1", category, cloud.points_m, cloud.normals)
        rng = rng_for(len(cloud.points_m), "affordance", "test", "phrases", category)
        asked: list[tuple[str, int, str]] = []
        for k, one in enumerate(vocabulary().concepts):
            if not judged >> k & 1:
                continue
            asked.append(("name", k, one.region))
            for kind, phrases in (("trained", one.phrases), ("held out", one.held_out_phrases)):
                for phrase in rng.choice(phrases, PHRASES_PER_QUERY, replace=False):
                    noun = str(rng.choice(CATALOG[category].words))
                    asked.append((kind, k, str(phrase).replace("{thing}", noun)))
        ready = prepare(thing.points_m, thing.normals)
        for model in models:
            model.encode(thing, ready=ready)
            answers = model.predict_phrases(thing, [phrase for _, _, phrase in asked])
            for (kind, k, _), answer in zip(asked, answers, strict=True):
                row = rows[f"{model.name}|{kind}"]
                truth = (cloud.regions >> k & 1) > 0
                if not present >> k & 1:
                    row.absent += 1
                    row.fired += answer.status == "present"
                elif truth.sum() >= LEAST_SEEN:
                    row.iou[REGIONS[k]].append(float((answer.mask & truth).sum() / (answer.mask | truth).sum()))
    return rows


def drawn_by_eye(models: list[NetworkAffordance]) -> dict[str, Row]:
    """Ask for the regions that were drawn by eye on named objects, by their names; no part label is involved."""
    rows = {f"{model.name}|name": Row() for model in models}
    for name in reference_instances():
        built = instance(name).build()
        cloud = sample_cloud(built, CLOUD_POINTS, rng=np.random.default_rng(0))
        thing = ObjectCloud(name, built.category, cloud.points_m, cloud.normals)
        regions = reference_regions(name)
        for model in models:
            for region, answer in zip(regions, model.predict_phrases(thing, regions), strict=True):
                truth = reference_mask(name, region, cloud.points_m, cloud.normals)
                rows[f"{model.name}|name"].iou[region].append(overlap(answer.mask, truth))
    return rows


def show(title: str, rows: dict[str, Row]) -> dict[str, object]:
    """Print the table of one set, and return it."""
    print(f"\n{title}")
    print(f"  {'model':13}{'phrasing':10}{'mIoU':>7}{'n':>7}{'lowest region':>26}{'false fire':>12}{'n':>7}")
    found = {}
    for name, row in rows.items():
        s = row.summary()
        found[f"{title}|{name}"] = s
        model, kind = name.split("|")
        low, value = s["lowest"]
        fire = "" if s["false_fire"] is None else s["false_fire"]
        print(f"  {model:13}{kind:10}{s['miou']:>7}{s['n']:>7}{low:>20}{value:>6}{fire:>12}{s['n_absent'] or '':>7}")
    for name, row in rows.items():
        per = row.summary()["per_region"]
        print(f"  {name}: " + "  ".join(f"{region} {value:.2f}" for region, value in per.items()))
    return found


def timings(model: NetworkAffordance) -> dict[str, float]:
    """Return CPU milliseconds on one thread, medians: choosing and describing points, encoding, one further query."""
    cloud = whole_cloud(library_soup("kettle", FIRST_INSTANCE), CLOUD_POINTS, rng=np.random.default_rng(0))
    spent: dict[str, list[float]] = {"prepare": [], "encode": [], "query": []}
    for _ in range(30):
        thing = ObjectCloud("kettle_1", "kettle", cloud.points_m.copy(), cloud.normals)
        begun = time.process_time()
        prepare(thing.points_m, thing.normals)
        spent["prepare"].append(time.process_time() - begun)
        begun = time.process_time()
        model.encode(thing)
        spent["encode"].append(time.process_time() - begun)
        model.predict_phrases(thing, ["the spout"])
        begun = time.process_time()
        model.predict_phrases(thing, ["the spout"])
        spent["query"].append(time.process_time() - begun)
    return {name: round(float(np.median(values)) * 1000, 2) for name, values in spent.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4, help="Objects per trained category; four times as many else.")
    parser.add_argument("--models", default="learned,openad-style")
    parser.add_argument("--folder", type=Path, help="Read the networks from here instead of the package.")
    parser.add_argument("--json", type=Path, help="Also write the figures here.")
    chosen = parser.parse_args()
    specs = [NETWORKS[name] for name in chosen.models.split(",")]
    if chosen.folder:
        from dataclasses import replace

        specs = [replace(spec, folder=chosen.folder) for spec in specs]
    models = [NetworkAffordance(spec) for spec in specs]
    held, trained = vocabulary().held_out_categories, vocabulary().training_categories()
    sets = (
        ("trained categories, whole", trained, chosen.draws, "whole"),
        ("trained categories, one view", trained, max(1, chosen.draws // 2), "seen"),
        ("held-out categories, whole", held, 4 * chosen.draws, "whole"),
        ("held-out categories, one view", held, 2 * chosen.draws, "seen"),
    )
    found: dict[str, object] = {}
    for title, categories, draws, view in sets:
        rows = evaluate(models, categories, draws, view)
        found |= show(f"{title}: {len(categories)} categories x {draws} draws", rows)
    found |= show("regions drawn by eye on named objects, whole", drawn_by_eye(models))
    print()
    for model in models:
        ms = timings(model)
        data = model.spec.folder or files("armwright.affordance") / "data"
        size = sum(len((data / f"{model.spec.stem}_{part}.onnx").read_bytes()) for part in ("encoder", "head")) / 1e6
        found[f"{model.name}|cost"] = {"ms": ms, "megabytes": round(size, 2)}
        print(
            f"{model.name}: {ms['encode']} ms an object ({ms['prepare']} of it choosing and describing points), "
            f"{ms['query']} ms a further query, {size:.2f} MB"
        )
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
