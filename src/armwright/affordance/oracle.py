"""The oracle: masks read off the part labels of our own objects (AffordSim's human-annotated upper bound, §4.1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from armwright.affordance.protocol import AffordanceMask, ObjectCloud
from armwright.assets.catalog import CATALOG
from armwright.core.errors import UsageError
from armwright.core.task import AffordanceQuery, RegionName


class OracleAffordance:
    """Marks the points whose part label belongs to the queried region.

    Args:
        regions: Region -> part names to use instead of the category's own; for objects outside the catalogue.
    """

    name = "oracle"

    def __init__(self, regions: Mapping[RegionName, tuple[str, ...]] | None = None) -> None:
        self._regions = regions

    def predict(self, cloud: ObjectCloud, query: AffordanceQuery) -> AffordanceMask:
        """Return the labelled mask; empty where the category has no such region.

        Raises:
            UsageError: The cloud carries no part labels.
        """
        if cloud.part is None:
            raise UsageError(
                f"the oracle reads part labels, and the cloud of {cloud.object_id!r} has none.",
                hint="Sample it from a labelled ObjectModel, or choose another affordance model.",
            )
        parts = self._parts(cloud.category, query.region)
        mask = np.isin(cloud.part, parts) if parts else np.zeros(len(cloud.points_m), bool)
        return AffordanceMask(
            query=query, mask=mask, score=mask.astype(float), model=self.name, presence=float(mask.any())
        )

    def _parts(self, category: str, region: RegionName) -> tuple[str, ...]:
        if self._regions is not None:
            return tuple(self._regions.get(region, ()))
        info = CATALOG.get(category)
        return tuple(info.regions.get(region, ())) if info else ()
