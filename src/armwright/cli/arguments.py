"""What is wrong with an argument whatever it is for: bytes that are no text, or a pasted file."""

from __future__ import annotations

from collections.abc import Sequence

from armwright.core.errors import UsageError, quoted

# A sentence with its scene takes some hundred characters, a path at most 4096.
MAX_CHARACTERS = 5000


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse arguments that no command can use.

    Raises:
        UsageError: One is not valid UTF-8, or far too long, or the output folder has no name.
    """
    for option, text in zip(arguments, (*arguments[1:], "-"), strict=True):
        if option == "--out=" or (option == "--out" and not text):  # a path of no characters would mean the present one
            raise UsageError("--out is empty; it must name a folder.", hint="For the present folder write --out .")
    for number, text in enumerate(arguments, 1):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"argument {number} is not valid UTF-8: {quoted(text)}.",
                hint="Write it in UTF-8; a file or folder with such a name must be renamed.",
            ) from None
        if len(text) > MAX_CHARACTERS:
            raise UsageError(
                f"argument {number} has {len(text)} characters, {quoted(text)}; {MAX_CHARACTERS} are allowed.",
                hint="Shorten it.",
            )
