"""Results kept for as long as the object that they were computed from lives, and no longer."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

Subject = TypeVar("Subject")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def kept_with(function: Callable[Concatenate[Subject, Rest], Result]) -> Callable[Concatenate[Subject, Rest], Result]:
    """Keep what a pure function returns, by its first argument, held weakly, and the values of the others.

    The result is shared by all callers: return what cannot be written to. It must not refer to the first argument,
    which would then never be let go.
    """
    known: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(function)
    def kept(subject: Subject, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
        results = known.setdefault(subject, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(subject, *args, **kwargs)
        result: Result = results[key]
        return result

    return kept
