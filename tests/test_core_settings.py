"""Settings: what the environment may say, what it may not, and where the cache lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from armwright.core.errors import UsageError
from armwright.core.settings import get_settings


def test_empty_variables_are_as_good_as_none(environment, monkeypatch) -> None:
    """An empty cache folder would have been the folder one stands in."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    environment(ARMWRIGHT_CACHE_DIR="", ARMWRIGHT_RENDERER="", ARMWRIGHT_MODEL_RETRIES="", OPENAI_API_KEY="")
    settings = get_settings()
    assert settings.cache_dir == Path("/somewhere/armwright") and settings.renderer == "auto"
    assert settings.openai_api_key is None


@pytest.mark.parametrize("base", ["", "relative/folder"])
def test_a_cache_base_that_is_not_absolute_is_ignored(environment, base: str) -> None:
    environment(XDG_CACHE_HOME=base, HOME="/home/someone")
    assert get_settings().cache_dir == Path("/home/someone/.cache/armwright")


def test_the_cache_is_where_it_was_whatever_folder_a_process_is_in(environment, monkeypatch, tmp_path: Path) -> None:
    environment(ARMWRIGHT_CACHE_DIR="cache", HOME="/home/someone")
    monkeypatch.chdir(tmp_path)
    assert get_settings().cache_dir == tmp_path / "cache"
    environment(ARMWRIGHT_CACHE_DIR="~/cache")
    assert get_settings().cache_dir == Path("/home/someone/cache")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ARMWRIGHT_CACHE_DIR", "~no-such-user/cache"),
        ("ARMWRIGHT_RENDERER", "x" * 5000),
        ("ARMWRIGHT_MODEL_TIMEOUT_S", "0"),
        ("ARMWRIGHT_MODEL_TIMEOUT_S", "nan"),
        ("ARMWRIGHT_MODEL_RETRIES", "-1"),
        ("ARMWRIGHT_OFFLINE", "perhaps"),
    ],
)
def test_a_wrong_variable_is_named_with_its_value_in_brief(environment, name: str, value: str) -> None:
    environment(**{name: value})
    with pytest.raises(UsageError) as error:
        get_settings()
    assert name in str(error.value) and value[:20] in str(error.value) and len(str(error.value)) < 400
    assert ".." not in str(error.value) and str(error.value).endswith("Correct or unset it.")
