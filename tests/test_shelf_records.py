"""Records and products: what is allowed, what is refused, and what lies how."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from armwright.core.errors import UsageError
from armwright.shelf.products import CATEGORIES, load_products
from armwright.shelf.records import PACKAGINGS, PLANAR, Box, Described, Shelf
from shelf_scenes import SHELF, wanted

FROZEN = Path(__file__).parent / "data" / "shelf_products_frozen.yaml"
FROZEN_HASH = FROZEN.with_suffix(".sha256")


def test_the_list_covers_the_papers_classes():
    products = load_products()
    assert len(products) >= 60
    assert {p.packaging for p in products} == set(PACKAGINGS)
    assert {c for p in products for c in p.categories} == set(CATEGORIES)
    assert {p.edible for p in products} == {True, False}
    assert len({p.words for p in products}) == len(products)
    assert all(count >= 10 for count in Counter(p.packaging for p in products).values())


def test_only_planar_packaging_lies():
    for product in load_products():
        assert ("lying" in product.orientations) <= (product.packaging in PLANAR)
        width, depth, height = product.extent_m
        assert product.size_m("upright") == (depth, width, height)
        if "lying" in product.orientations:
            assert product.size_m("lying") == (height, width, depth)


@pytest.mark.skipif(not FROZEN.exists(), reason="the products of the independent author are not here yet")
def test_the_independent_products_are_as_they_were_frozen():
    data = FROZEN.read_bytes()
    assert hashlib.sha256(data).hexdigest() == FROZEN_HASH.read_text().split()[0]
    theirs, ours = load_products(FROZEN), load_products()
    # Who wrote it had not seen ours; these plain names are in both, as they are in many shops. None may join them, and
    # what is left must still be a third of all products.
    shared = {p.name for p in theirs} & {p.name for p in ours}
    assert shared == {
        *("oven_cleaner", "vanilla_extract", "oat_drink", "peach_iced_tea", "whipping_cream", "thick_bleach"),
        *("stain_remover", "spaghetti", "shaving_foam"),
    }
    assert len(theirs) - len(shared) >= len(ours) / 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1", "no list"),
        ("- {name: x", "not YAML"),
        ("- {name: Bad Name}", "name"),
        (
            "- {name: x, words: [X], content: tea, categories: [dairy], packaging: can, edible: true,"
            " orientations: [lying], extent_m: [0.07, 0.07, 0.1], colours: ['#000000', '#ffffff']}",
            "rolls",
        ),
    ],
)
def test_a_wrong_list_says_what_is_wrong(tmp_path, text, told):
    path = tmp_path / "products.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        load_products(path)


def test_a_list_that_repeats_a_name_or_is_absent_is_refused(tmp_path):
    row = load_products()[0].model_dump(mode="json")
    path = tmp_path / "products.yaml"
    path.write_text(f"- {row}\n- {row}\n".replace("True", "true"))
    with pytest.raises(UsageError, match="more than once: tomato_soup"):
        load_products(path)
    with pytest.raises(UsageError, match="cannot read"):
        load_products(tmp_path / "absent.yaml")


def test_a_path_may_be_text_and_a_file_may_be_no_text(tmp_path):
    assert load_products(str(FROZEN)) == load_products(FROZEN)
    (tmp_path / "p.yaml").write_bytes(b"\xff\xfe\x00")
    for path in (str(tmp_path / "p.yaml"), tmp_path, "a\0b"):
        with pytest.raises(UsageError, match=r"cannot read the products.*UTF-8"):
            load_products(path)


def test_a_target_lies_only_if_its_sides_are_planar():
    assert set(wanted(packaging="box").sizes()) == {"upright", "lying"}
    assert set(wanted(packaging="bottle").sizes()) == {"upright"}
    assert set(wanted(packaging=None).sizes()) == {"upright"}
    lying = wanted(packaging="carton", orientation="lying", size=(0.2, 0.08, 0.05))
    assert lying.sizes() == {"lying": (0.2, 0.08, 0.05), "upright": (0.05, 0.08, 0.2)}


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="positive edges"):
        Box((0, 0, 0), (0.1, -0.1, 0.1))
    with pytest.raises(UsageError, match="jar"):
        Described(packaging="jar")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="between 0 and 1"):
        Described(confidences={"content": 1.5})
    with pytest.raises(UsageError, match="ascend"):
        Shelf(0.9, 0.3, (0.3, 0.02), 0.6)


def test_boards_by_nearest_height_and_clearance():
    assert SHELF.board_of(0.05) == 0
    assert SHELF.board_of(0.33) == 1
    assert SHELF.clearance_m(0) == pytest.approx(0.32 - SHELF.thickness_m)
    assert SHELF.clearance_m(1) == pytest.approx(0.32)
