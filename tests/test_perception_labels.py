"""The built-in describer: words go to the masks that hold them, crops only where needed, nothing is guessed."""

from __future__ import annotations

import socket

import numpy as np
import pytest

from armwright.core.errors import MissingDependencyError, UsageError
from armwright.perception import reading
from armwright.perception.labels import LabelDescriber
from armwright.perception.reading import RapidReader
from label_scenes import HEIGHT, WIDTH, Scripted, frame_of, halves, line, packages

needs_reader = pytest.mark.skipif(reading.find_spec("rapidocr") is None, reason="the extra shelf is not installed")
BLANK = frame_of(np.full((HEIGHT, WIDTH, 3), 90, np.uint8))


def _labels(*lines, masks=None):
    reader = Scripted(*lines)
    said = LabelDescriber(reader=reader).describe(BLANK, masks or halves())
    return [one.label for one in said], reader


def test_words_belong_to_the_mask_that_holds_them():
    labels, reader = _labels(line("OAT MILK", 20, 40, height=14), line("SHAMPOO", 180, 40, height=14))
    assert labels == ["oat milk", "shampoo"]
    assert reader.asked == 1


def test_a_line_across_two_things_names_neither():
    labels, reader = _labels(line("OAT MILK SHAMPOO", 60, 40, width=200), line("SHAMPOO", 180, 80, height=14))
    assert labels == ["", "shampoo"]
    assert reader.asked == 2


def test_a_line_beside_all_masks_names_nothing():
    labels, _ = _labels(line("EXIT", 200, 40), masks=halves()[:1])
    assert labels == [""]


def test_masks_without_a_confident_label_are_looked_at_again():
    _, reader = _labels(line("OAT MILK", 20, 40, height=14), line("SHAMPOO", 180, 40, height=4))
    assert reader.asked == 2


def test_what_cannot_be_read_is_not_guessed():
    for one in LabelDescriber(reader=Scripted(line("||l|", 10, 10, score=0.3))).describe(BLANK, halves()):
        assert (one.label, one.content, one.edible, one.extent_m) == ("", "", None, None)
        assert one.confidence <= 0.2


def test_no_masks_and_empty_masks_are_fine():
    describer = LabelDescriber(reader=Scripted())
    assert describer.describe(BLANK, []) == []
    assert describer.describe(BLANK, [np.zeros((HEIGHT, WIDTH), bool)])[0].label == ""


def test_a_mask_of_another_size_is_misuse():
    with pytest.raises(UsageError, match=r"\(10, 10\)"):
        LabelDescriber(reader=Scripted()).describe(BLANK, [np.zeros((10, 10), bool)])


def test_a_missing_reader_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(reading, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r'pip install "armwright\[shelf\]"') as caught:
        LabelDescriber()
    assert caught.value.exit_code == 2


@needs_reader
def test_print_is_read_without_network(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("the reader goes to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    frame, masks = packages("OAT MILK", "LEMON DISH SOAP", "ZESTA KETCHUP")
    said = LabelDescriber(reader=RapidReader()).describe(frame, masks)
    assert [one.label for one in said] == ["oat milk", "lemon dish soap", "zesta ketchup"]
    assert [one.content for one in said] == ["oat milk", "lemon dish soap", "ketchup"]
    assert [one.edible for one in said] == [True, False, True]
    assert min(one.confidence for one in said) > 0.7
