"""From lines to labels: reading order, repair by English, quantities and small print left out, doubt where due."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armwright.perception.reading import TextLine
from armwright.perception.words import completed, label_of, reading_order, repaired
from label_scenes import line


def test_lines_are_read_row_by_row():
    rows = [line("SOAP", 60, 41), line("LEMON", 10, 10), line("DISH", 10, 40)]
    assert [one.text for one in reading_order(rows)] == ["LEMON", "DISH", "SOAP"]


@pytest.mark.parametrize("turn_deg", [0, 20, -35, 90, 180])
def test_order_turns_with_the_print(turn_deg):
    turn = np.deg2rad(turn_deg)
    about = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    level = [line("SOAP", 60, 41), line("DISH", 10, 40), line("LEMON", 10, 10)]
    turned = [TextLine(one.text, one.score, one.corners_px @ about.T) for one in level]
    assert label_of(turned).text == "lemon dish soap"


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("t0mat0", "tomato"),
        ("rnustard", "mustard"),
        ("mi1k", "milk"),
        ("shampo0", "shampoo"),
        ("ketchnp", "ketchup"),
        ("detergen", "detergent"),
        ("parnesan", "parmesan"),
        ("dishsoap", "dish soap"),
        ("tomatoketchup", "tomato ketchup"),
    ],
)
def test_misreadings_are_repaired(read, meant):
    assert " ".join(repaired(read, 0.85)) == meant


@pytest.mark.parametrize("word", ["tomato", "zesta", "corn", "heinz", "qwxyk", "clarnato"])
def test_words_and_brands_stay(word):
    assert repaired(word, 0.99) == (word,)


@pytest.mark.parametrize(
    ("read", "cut", "meant"),
    [
        ("ampoo", (True, False), "shampoo"),
        ("omato", (True, False), "tomato"),
        ("cleane", (False, True), "cleaner"),
        ("mustar", (False, True), "mustard"),
        ("milk", (True, True), "milk"),
        ("ampoo", (False, True), ""),
        ("ch", (False, True), ""),
        ("zest", (True, True), ""),
        ("zesta", (True, True), ""),
    ],
)
def test_a_word_cut_off_is_completed_or_dropped(read, cut, meant):
    assert " ".join(completed(read, cut)) == meant


def test_cut_words_do_not_become_brands():
    cut = replace(line("CONDENS", 10, 10, height=14), cut=(False, True))
    assert label_of([cut, line("MILK", 10, 30, height=14)]).words == ("condensed", "milk")
    cut = replace(line("XQWAR", 10, 10, height=14), cut=(False, True))
    assert label_of([cut, line("MILK", 10, 30, height=14)]).words == ("milk",)


def test_what_is_seen_twice_counts_once():
    faces = [
        line("OAT MILK", 10, 10, height=14),
        line("OAT MILK", 90, 10, height=14),
        line("AT MILK", 10, 40, height=10),
    ]
    assert label_of(faces).words == ("oat", "milk")


def test_quantities_and_small_print_are_no_label():
    label = label_of(
        [line("OAT MILK", 10, 10, height=20), line("NET WT 500 g", 10, 40, height=8), line("SHAKE", 0, 60, height=4)]
    )
    assert label.words == ("oat", "milk")


def test_doubt_shows():
    sure = label_of([line("OAT MILK", 10, 10, height=14)])
    assert sure.confidence > 0.9
    assert label_of([line("OAT MILK", 10, 10, height=4)]).confidence < 0.7
    assert label_of([line("OAT MILK", 10, 10, height=14, score=0.7)]).confidence < 0.75
    assert label_of([line("OAT MI1K", 10, 10, height=14)]).confidence < sure.confidence


@pytest.mark.parametrize("text", ["", "|||", "500 g", "xq", "12345", "%"])
def test_nothing_legible_is_no_label(text):
    assert label_of([line(text or " ", 0, 0)]).words == ()
    assert label_of([line("TOMATO", 0, 0, score=0.4)]).words == ()
