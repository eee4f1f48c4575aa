"""The one place that reads environment variables: prefix ``ARMWRIGHT_``, and the usual names of model keys."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from armwright.core.errors import UsageError, quoted

RendererName = Literal["auto", "egl", "osmesa", "rays"]


def _default_cache() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():  # the XDG specification asks to ignore others
        return base / "armwright"
    try:
        return Path.home() / ".cache" / "armwright"
    except RuntimeError as error:
        raise UsageError("this user has no home folder for the cache.", hint="Set ARMWRIGHT_CACHE_DIR.") from error


def _default_library() -> Path:
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    if base.is_absolute():
        return base / "armwright" / "objects"
    try:
        return Path.home() / ".local" / "share" / "armwright" / "objects"
    except RuntimeError as error:
        raise UsageError("this user has no home folder for objects.", hint="Set ARMWRIGHT_LIBRARY_DIR.") from error


def _absolute(path: Path) -> Path:
    """Turn a folder into one that does not depend on where a process stands; ``~`` is the user's home."""
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def _either(name: str) -> AliasChoices:
    return AliasChoices(name.lower(), f"ARMWRIGHT_{name}", name)


class Settings(BaseSettings):
    """What the environment decides; an empty variable is as good as none.

    Attributes:
        cache_dir: Where data wheels and baked robots are kept (``ARMWRIGHT_CACHE_DIR``).
        library_dir: Where imported objects are kept (``ARMWRIGHT_LIBRARY_DIR``).
        renderer: Renderer to use, or ``auto`` to probe (``ARMWRIGHT_RENDERER``).
        offline: Refuse every download (``ARMWRIGHT_OFFLINE``).
        planner: Name of the motion planner (``ARMWRIGHT_PLANNER``); packages add others.
        anygrasp_checkpoint: The network of the AnyGrasp SDK, for the grasp source ``anygrasp``
            (``ARMWRIGHT_ANYGRASP_CHECKPOINT``).
        model_timeout_s: Longest wait for one answer of a language model, all retries together.
        model_retries: How often a model that gave a broken answer is asked again.
        openai_base_url, openai_api_key: Where ``openai:NAME`` models are asked, and the key (``OPENAI_BASE_URL``,
            ``OPENAI_API_KEY``, or the same with the prefix ``ARMWRIGHT_``).
        anthropic_base_url, anthropic_api_key: The same for ``anthropic:NAME`` models.
    """

    model_config = SettingsConfigDict(env_prefix="ARMWRIGHT_", env_ignore_empty=True, extra="ignore")

    cache_dir: Annotated[Path, AfterValidator(_absolute)] = Field(default_factory=_default_cache)
    library_dir: Annotated[Path, AfterValidator(_absolute)] = Field(default_factory=_default_library)
    renderer: RendererName = "auto"
    offline: bool = False
    planner: str = "numba"
    anygrasp_checkpoint: Annotated[Path, AfterValidator(_absolute)] | None = None
    model_timeout_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    model_retries: int = Field(default=2, ge=0)
    openai_base_url: str | None = Field(default=None, validation_alias=_either("OPENAI_BASE_URL"))
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=_either("OPENAI_API_KEY"))
    anthropic_base_url: str | None = Field(default=None, validation_alias=_either("ANTHROPIC_BASE_URL"))
    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias=_either("ANTHROPIC_API_KEY"))


def _shown(problem: ErrorDetails) -> str:
    """Return the wrong value for a message; a key is never shown."""
    return "(hidden)" if "key" in str(problem["loc"][0]).lower() else quoted(problem["input"])


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return the process's settings, read once.

    Raises:
        UsageError: An environment variable has a value that is not allowed.
    """
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper()
        raise UsageError(
            f"the environment variable {name if name in os.environ else 'ARMWRIGHT_' + name} is {_shown(first)}: "
            f"{first['msg'].removeprefix('Value error, ').rstrip('.')}.",
            hint="Correct or unset it.",
        ) from error


def exported_settings() -> dict[str, str]:
    """Return the variables that give another process, perhaps elsewhere, what was set here; never a key.

    What only matters where a sentence is parsed, the language models, is left out.
    """
    settings = get_settings()
    names = ("cache_dir", "library_dir", "renderer", "offline", "planner", "anygrasp_checkpoint")
    return {
        f"ARMWRIGHT_{name.upper()}": str(getattr(settings, name)) for name in names if name in settings.model_fields_set
    }
