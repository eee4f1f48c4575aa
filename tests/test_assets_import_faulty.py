"""Importing files that are damaged or say what cannot be: each is refused, naming the file, the place and the value."""

from __future__ import annotations

import os

import pytest

from armwright.assets.importers import import_object
from armwright.core.errors import ArmwrightError
from asset_files import cube, write_obj

BOX = '<geometry><box size=".1 .1 .1"/></geometry>'
ONE = '<robot name="a"><link name="b">{}</link></robot>'
TWO = (
    f'<robot name="a"><link name="b"><visual>{BOX}</visual></link><link name="c"><visual>{BOX}</visual></link>'
    "{}</robot>"
)


def visual(shape: str, origin: str = "") -> str:
    return ONE.format(f"<visual>{origin}<geometry>{shape}</geometry></visual>")


def joint(inside: str = '<parent link="b"/><child link="c"/>', kind: str = "revolute") -> str:
    return TWO.format(f'<joint name="j" type="{kind}">{inside}</joint>')


def refusal(path, tmp_path) -> str:
    """Return why a file is refused; nothing of it is stored."""
    try:
        report = import_object(path, folder=tmp_path / "library")
    except ArmwrightError as error:
        text = str(error)
    else:
        assert not report.ok
        text = " ".join(map(str, report.refused))
    assert len(text.splitlines()) == 1 and not (tmp_path / "library").exists()
    return text


ENDS = '<parent link="b"/><child link="c"/>'
URDFS = {
    "size of words": (visual('<box size="abc 1"/>'), "link 'b': <box> size is 'abc 1'; it must be 3 numbers above 0."),
    "two sizes": (visual('<box size="1 1"/>'), "link 'b': <box> size is '1 1'"),
    "negative size": (visual('<box size="-.1 0 nan"/>'), "link 'b': <box> size is '-.1 0 nan'"),
    "no size": (visual("<box/>"), "link 'b': <box> size is missing; it must be 3 numbers above 0."),
    "radius": (visual('<cylinder radius="x" length="1"/>'), "link 'b': <cylinder> radius is 'x'; it must be a number"),
    "length": (visual('<cylinder radius=".1"/>'), "link 'b': <cylinder> length is missing"),
    "sphere": (visual('<sphere radius="-1"/>'), "link 'b': <sphere> radius is '-1'"),
    "mesh": (visual("<mesh/>"), "link 'b': <mesh> filename is missing"),
    "scale": (visual('<mesh filename="cube.obj" scale="2"/>'), "link 'b': <mesh> scale is '2'; it must be 3 numbers."),
    "outside": (visual('<mesh filename="../../../../../../../../etc/hostname"/>'), "(b): ../../../../"),
    "no mesh file": (visual('<mesh filename="notes.txt"/>'), "link 'b': 'notes.txt' is no mesh file."),
    "damaged mesh": (visual('<mesh filename="bad.obj"/>'), "faulty.urdf: link 'b': "),
    "two of xyz": (visual("<box size='1 1 1'/>", '<origin xyz="0 0"/>'), "link 'b': <origin> xyz is '0 0'"),
    "rpy": (visual("<box size='1 1 1'/>", '<origin rpy="0 0 up"/>'), "link 'b': <origin> rpy is '0 0 up'"),
    "mass": (ONE.format('<inertial><mass value="abc"/></inertial>'), "link 'b': <mass> value is 'abc'"),
    "mass nan": (ONE.format('<inertial><mass value="nan"/></inertial>'), "link 'b': <mass> value is 'nan'"),
    "colour": (
        ONE.format(f'<visual>{BOX}<material name="m"><color rgba="1 0"/></material></visual>'),
        "link 'b': <color> rgba is '1 0'; it must be 4 numbers.",
    ),
    "limit": (joint(ENDS + '<limit lower="abc" upper="1"/>'), "joint 'j': <limit> lower is 'abc'"),
    "axis": (joint(ENDS + '<axis xyz="0 1"/>'), "joint 'j': <axis> xyz is '0 1'"),
    "axis and limit": (joint(ENDS + '<axis xyz="0 0 0"/><limit lower="x"/>'), "joint 'j': <limit> lower is 'x'"),
    "joint's origin": (joint(ENDS + '<origin xyz="here"/>'), "joint 'j': <origin> xyz is 'here'"),
    "no parent": (joint('<child link="c"/>'), "joint 'j' has no parent link."),
    "no child named": (joint('<parent link="b"/><child/>'), "joint 'j' has no child link."),
    "lost child": (
        joint('<parent link="b"/><child link="ghost"/>'),
        "joint 'j' names the child link 'ghost', which is not there. Links: b, c.",
    ),
    "lost parent": (joint('<parent link="q"/><child link="c"/>'), "joint 'j' names the parent link 'q'"),
    "unknown type": (joint(kind="nonsense"), "joint 'j' is of the unknown type 'nonsense'. Known: fixed, revolute,"),
    "no type": (joint(kind=""), "joint 'j' is of the unknown type ''"),
    "two parents": (
        TWO.format(f'<joint name="i" type="fixed">{ENDS}</joint><joint name="j" type="fixed">{ENDS}</joint>'),
        "joint 'j': link 'c' hangs on another joint already.",
    ),
    "cycle": (joint('<parent link="b"/><child link="b"/>'), "the joints do not make a tree at link 'b'"),
    "nameless": (f'<robot name="a"><link><visual>{BOX}</visual></link></robot>', "a link has no name."),
    "twice": (TWO.format('<link name="c"/>'), "two links are called 'c'."),
}


@pytest.mark.parametrize(("text", "message"), URDFS.values(), ids=list(URDFS))
def test_a_urdf_that_says_what_cannot_be_names_link_and_attribute(tmp_path, text, message):
    write_obj(tmp_path / "cube.obj", [("body", *cube((0, 0, 0), (0.1, 0.1, 0.1)))])
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / "bad.obj").write_text("f 7 8 9\n")
    (tmp_path / "faulty.urdf").write_text(text)
    found = refusal(tmp_path / "faulty.urdf", tmp_path)
    assert message in found


@pytest.mark.parametrize(
    ("geom", "message"),
    [
        ('<geom name="ball" size=".05" mass="nan"/>', "<geom> 'ball' mass is 'nan'; it must be of finite numbers."),
        ('<geom size=".05" pos="0 inf 0"/>', "pos is '0 inf 0'"),
    ],
)
def test_an_mjcf_number_that_is_none_is_refused(tmp_path, geom, message):
    pytest.importorskip("mujoco")
    (tmp_path / "a.xml").write_text(f'<mujoco><worldbody><body name="nan">{geom}</body></worldbody></mujoco>')
    assert message in refusal(tmp_path / "a.xml", tmp_path)


def test_a_name_that_reads_like_a_number_is_a_name(tmp_path):
    (tmp_path / "a.xml").write_text(
        '<mujoco><worldbody><body name="nan"><geom type="box" size=".05 .05 .05"/></body></worldbody></mujoco>'
    )
    assert import_object(tmp_path / "a.xml", folder=tmp_path / "library").ok


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "fifo.obj")
    assert "fifo.obj is neither a file nor a folder." in refusal(tmp_path / "fifo.obj", tmp_path)
    os.mkfifo(tmp_path / "model.urdf")
    assert "is a folder with neither" in refusal(tmp_path, tmp_path)


@pytest.mark.parametrize("suffix", ["obj", "glb", "gltf", "stl", "ply", "dae", "urdf", "xml", "usd", "usda", "usdz"])
@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 12], ids=["empty", "junk"])
def test_files_of_nothing_and_of_junk_are_named_in_one_line(tmp_path, suffix, content):
    if suffix.startswith("usd"):
        pytest.importorskip("pxr", reason="usd-core is an extra")
    path = tmp_path / f"thing.{suffix}"
    path.write_bytes(content)
    found = refusal(path, tmp_path)
    assert str(path) in found or found.startswith("content: ")
    assert content or found.endswith("is empty. Export it again.")
    assert "pxr" not in found and "Traceback" not in found


def test_whatever_a_reader_raises_names_the_file(tmp_path):
    (tmp_path / "result.json").write_text('[{"children": [3]}]')
    (tmp_path / "mobility.urdf").write_text(ONE.format(f"<visual>{BOX}</visual>"))
    found = refusal(tmp_path, tmp_path)
    assert found.startswith(f"{tmp_path} cannot be read: AttributeError:") and "Export it again" in found


def test_a_dae_without_its_reader_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (tmp_path / "a.dae").write_text("<COLLADA/>")
    assert "needs pycollada. Run: pip install pycollada, or export it as GLB or OBJ." in refusal(
        tmp_path / "a.dae", tmp_path
    )


def test_meshes_beside_the_models_folder_are_taken(tmp_path):
    for name in ("urdf", "meshes"):
        (tmp_path / name).mkdir()
    write_obj(tmp_path / "meshes/cube.obj", [("body", *cube((0, 0, 0), (0.1, 0.1, 0.1)))])
    (tmp_path / "urdf/a.urdf").write_text(visual('<mesh filename="../meshes/cube.obj"/>'))
    assert import_object(tmp_path / "urdf/a.urdf", folder=tmp_path / "library").ok
