"""The sentences that are only reported on stay as they were written, before anything was tuned on them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

FROZEN = {
    "sentences_report.yaml": "103face36b7b87532cdb7456477c17ef227e3c50cdea2980592f07197909b26b",
    "sentences_report_2.yaml": "48e0f22439c8b8a47645393d26acae194d4dc9075895597a8e82cc9f982c3c07",
}


@pytest.mark.parametrize("name", FROZEN)
def test_the_reported_sentences_are_frozen(name: str) -> None:
    data = (Path(__file__).parent / "data" / name).read_bytes()
    assert hashlib.sha256(data).hexdigest() == FROZEN[name]
