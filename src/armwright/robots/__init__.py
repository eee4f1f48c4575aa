"""Arms: one YAML spec each, baked from pinned data wheels into the cache, and the stations they stand in."""
