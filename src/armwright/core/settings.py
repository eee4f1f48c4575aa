"""The one place that reads environment variables (prefix ``ARMWRIGHT_``)."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

RendererName = Literal["auto", "egl", "osmesa", "rays"]


def _default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "armwright"


class Settings(BaseSettings):
    """What the environment decides.

    Attributes:
        cache_dir: Where data wheels and baked robots are kept (``ARMWRIGHT_CACHE_DIR``).
        renderer: Renderer to use, or ``auto`` to probe (``ARMWRIGHT_RENDERER``).
        offline: Refuse every download (``ARMWRIGHT_OFFLINE``).
        model_timeout_s: Longest wait for one answer of a language model.
    """

    model_config = SettingsConfigDict(env_prefix="ARMWRIGHT_", extra="ignore")

    cache_dir: Path = Field(default_factory=_default_cache)
    renderer: RendererName = "auto"
    offline: bool = False
    model_timeout_s: float = Field(default=60.0, gt=0)
    model_retries: int = Field(default=2, ge=0)


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return the process's settings, read once."""
    return Settings()
