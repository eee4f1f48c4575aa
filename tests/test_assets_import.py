"""Importing: each format, each bad case of the list, and that what was imported works like any other object."""

from __future__ import annotations

import json

import numpy as np
import pytest

from armwright.assets.cloud import sample_cloud
from armwright.assets.export import link_inertia, link_volume
from armwright.assets.imported import imported_entries, load_object
from armwright.assets.importers import import_object
from armwright.assets.importers.decompose import MAX_HULLS
from armwright.assets.library import Library
from armwright.core.errors import CacheError, UsageError
from asset_files import cube, mug_groups, partnet_folder, write_glb, write_obj
from assets_measures import compile_object, fidelity
from test_assets_categories import check_open


@pytest.fixture
def bring(tmp_path):
    """Import into a library of the test's own; returns report and object."""

    def run(path, **options):
        report = import_object(path, folder=tmp_path / "library", **options)
        return report, load_object(report.name, {}, tmp_path / "library") if report.ok else None

    return run


def kinds(findings):
    return {finding.kind for finding in findings}


def check_closed(model):
    for link in model.links:
        edges = np.sort(np.concatenate([link.faces[:, [0, 1]], link.faces[:, [1, 2]], link.faces[:, [2, 0]]]), axis=1)
        _, counts = np.unique(edges, axis=0, return_counts=True)
        assert (counts == 2).all(), link.name
        assert link_volume(link) > 0
        moments = np.linalg.eigvalsh(link_inertia(link)[1])
        assert (moments > 0).all()
        assert len(link.face_part) == len(link.faces) and set(link.part_rgba) == set(link.part_names)


def test_a_sound_mesh_needs_nothing_but_a_mass(bring, tmp_path):
    report, model = bring(write_obj(tmp_path / "clay_mug.obj", mug_groups()))
    assert report.ok and report.format == "obj" and kinds(report.fixed) == {"mass"}
    check_closed(model)
    assert set(model.part_names) == {"body", "handle", "interior"} and model.regions["Graspable Handle"] == ("handle",)
    assert np.allclose(report.size_m, (0.113, 0.08, 0.09))
    low, high = model.bounds_m
    assert abs(low[2]) < 1e-9 and np.allclose(low[:2] + high[:2], 0)
    out, off = fidelity(model.root)
    assert np.percentile(out, 95) <= 0.003 and np.percentile(off, 95) <= 0.003
    assert len(model.root.hulls) <= MAX_HULLS


@pytest.mark.parametrize(("factor", "unit"), [(1000, "mm"), (100, "cm")])
def test_units_are_told_by_the_size(bring, tmp_path, factor, unit):
    report, _ = bring(write_obj(tmp_path / "thing.obj", mug_groups(factor)), units="auto" if unit == "mm" else unit)
    assert report.ok and np.allclose(report.size_m, (0.113, 0.08, 0.09), rtol=1e-5)
    assert ("units" in kinds(report.fixed)) == (unit == "mm")


def test_a_size_that_no_unit_explains_is_refused_until_it_is_given(bring, tmp_path):
    path = write_obj(tmp_path / "giant.obj", mug_groups(50_000))
    report, _ = bring(path)
    assert not report.ok and kinds(report.refused) == {"scale"} and "5650" in str(report.refused[0])
    assert not (tmp_path / "library" / "giant").exists()
    report, _ = bring(path, size_m=0.113)
    assert report.ok and np.allclose(report.size_m, (0.113, 0.08, 0.09), rtol=1e-5)


def test_small_holes_are_closed_and_sheets_get_a_thickness(bring, tmp_path):
    vertices, faces = cube((-0.05, -0.05, 0), (0.05, 0.05, 0.1))
    # A box whose lid has a square hole: its edge, cut off by a rim of triangles.
    rim = np.array([(-0.01, -0.01, 0.1), (0.01, -0.01, 0.1), (0.01, 0.01, 0.1), (-0.01, 0.01, 0.1)])
    ring = [
        face for k in range(4) for face in ((4 + k, 4 + (k + 1) % 4, 8 + k), (4 + (k + 1) % 4, 8 + (k + 1) % 4, 8 + k))
    ]
    sides = [face for face in faces.tolist() if not set(face) <= {4, 5, 6, 7}]
    holed = np.concatenate([vertices, rim]), np.array(sides + ring)
    report, model = bring(write_obj(tmp_path / "holed.obj", [("body", *holed)]))
    assert report.ok and "open_mesh" in kinds(report.fixed)
    check_closed(model)
    assert link_volume(model.root) == pytest.approx(1e-3, rel=1e-6)
    report, model = bring(
        write_obj(tmp_path / "bin.obj", [("body", vertices, faces[[0, 1, 4, 5, 6, 7, 8, 9, 10, 11]])])
    )
    assert report.ok and "thin_panel" in kinds(report.fixed)
    check_closed(model)
    assert link_volume(model.root) == pytest.approx(0.002 * 5 * 0.01, rel=0.1)
    middle = np.array([0.0, 0.0, 0.05])
    from assets_measures import HullSet

    assert not HullSet(model.root).inside(middle[None]).any(), "the open bin was filled"


def test_faces_that_face_in_are_turned_and_split_vertices_welded(bring, tmp_path):
    vertices, faces = cube((-0.05, -0.05, 0), (0.05, 0.05, 0.1))
    report, model = bring(write_obj(tmp_path / "inward.obj", [("body", vertices, faces[:, ::-1])]))
    assert "inside_out" in kinds(report.fixed) and link_volume(model.root) == pytest.approx(1e-3)
    soup = vertices[faces].reshape(-1, 3)
    report, model = bring(write_obj(tmp_path / "soup.obj", [("body", soup, np.arange(36).reshape(12, 3))]))
    assert report.ok and kinds(report.fixed) == {"mass"}
    check_closed(model)
    mixed = faces.copy()
    mixed[3] = mixed[3][::-1]
    _, model = bring(write_obj(tmp_path / "mixed.obj", [("body", vertices, mixed)]))
    assert link_volume(model.root) == pytest.approx(1e-3)


def test_edges_of_three_faces_are_cut_apart(bring, tmp_path):
    vertices, faces = cube((-0.05, -0.05, 0), (0.05, 0.05, 0.1))
    fin = np.concatenate([vertices, [[0.0, -0.12, 0.05]]])
    report, model = bring(write_obj(tmp_path / "finned.obj", [("body", fin, np.concatenate([faces, [[0, 1, 8]]]))]))
    assert report.ok and "non_manifold" in kinds(report.fixed)
    check_closed(model)


def test_missing_textures_and_materials_leave_the_part_grey(bring, tmp_path):
    vertices, faces = cube((-0.05, -0.05, 0), (0.05, 0.05, 0.1))
    (tmp_path / "m.mtl").write_text("newmtl a\nKd 0.9 0.1 0.1\nmap_Kd C:\\textures\\wood.png\n")
    path = write_obj(tmp_path / "box.obj", [("shell\nusemtl a", vertices, faces)], extra="mtllib m.mtl")
    report, model = bring(path, name="wooden_box")
    assert "missing_texture" in kinds(report.fixed) and model.root.part_rgba["shell"][0] == pytest.approx(0.9)
    path = write_obj(tmp_path / "bare.obj", [("shell", vertices, faces)], extra="mtllib gone.mtl")
    assert "material" in kinds(bring(path)[0].fixed)


def test_textures_give_their_mean_colour(bring, tmp_path):
    from PIL import Image

    Image.new("RGB", (8, 8), (200, 30, 40)).save(tmp_path / "red.png")
    (tmp_path / "m.mtl").write_text("newmtl a\nmap_Kd red.png\n")
    vertices, faces = cube((-0.05, -0.05, 0), (0.05, 0.05, 0.1))
    _, model = bring(write_obj(tmp_path / "b.obj", [("s\nusemtl a", vertices, faces)], extra="mtllib m.mtl"))
    assert np.allclose(model.root.part_rgba["s"][:3], np.array([200, 30, 40]) / 255, atol=0.01)


def test_glb_is_turned_upright(bring, tmp_path):
    pytest.importorskip("trimesh")
    vertices, faces = cube((-0.05, 0, -0.02), (0.05, 0.2, 0.02))
    report, model = bring(write_glb(tmp_path / "tower.glb", vertices, faces))
    assert report.ok and "up_axis" in kinds(report.fixed) and np.allclose(report.size_m, (0.1, 0.04, 0.2), atol=1e-6)
    check_closed(model)
    assert np.allclose(model.root.part_rgba["body"][:3], (0.8, 0.1, 0.1), atol=0.01)


def test_a_partnet_folder_keeps_its_parts_and_joint(bring, tmp_path):
    report, model = bring(partnet_folder(tmp_path / "45001"), name="oak_cabinet", size_m=0.5)
    assert report.ok and report.joints == ("link_0: hinge",) and "thin_panel" in kinds(report.fixed)
    check_closed(model)
    assert set(model.part_names) == {"cabinet_frame", "cabinet_door_surface", "handle"}
    assert model.regions["Openable Handle"] == ("handle",) and model.static
    assert model.regions["Pushable Surface"] == ("cabinet_door_surface",)
    door = model.links[1]
    # The folder's base turns by half a turn: the door is at -x, and its handle with it.
    assert door.vertices_m[:, 0].max() < 0 and np.allclose(door.joint.axis, (0, 0, 1))
    m = compile_object(model)
    assert m.njnt == 1 and m.jnt_range[0, 1] == pytest.approx(1.5)


def test_absolute_paths_and_a_urdf_without_joints_are_reported(bring, tmp_path):
    folder = partnet_folder(tmp_path / "p", mesh_path="/home/nobody/p/textured_objs/{name}.obj", moving=False)
    report, model = bring(folder / "mobility.urdf")
    assert report.ok and {"absolute_path", "one_link"} <= kinds(report.fixed)
    assert len(model.links) == 1
    check_closed(model)


def test_a_missing_mesh_is_refused(bring, tmp_path):
    folder = partnet_folder(tmp_path / "p")
    (folder / "textured_objs" / "original-4.obj").unlink()
    report, _ = bring(folder)
    assert not report.ok and kinds(report.refused) == {"missing_mesh"} and "original-4.obj" in str(report.refused[0])


def test_mjcf_by_its_bodies_and_geoms(bring, tmp_path):
    path = tmp_path / "drawer.xml"
    path.write_text(
        """<mujoco><worldbody><body name="chest"><geom name="shell" type="box" size=".2 .2 .1" pos="0 0 .1" mass="4"/>
        <body name="tray" pos="-.22 0 .1"><joint type="slide" axis="-1 0 0" range="0 .15"/>
        <geom name="front" type="box" size=".02 .19 .08" mass=".5"/>
        <geom name="pull" type="cylinder" size=".01 .05" pos="-.05 0 0"/></body></body></worldbody></mujoco>"""
    )
    report, model = bring(path)
    assert report.ok and report.joints == ("tray: slide",) and model.part_names == ("shell", "front", "pull")
    assert model.regions["Openable Handle"] == ("pull",) and model.links[1].joint.range == (0.0, 0.15)
    assert model.links[0].mass_kg == pytest.approx(4.0)
    check_closed(model)
    path.write_text("<mujoco><worldbody><body><geom type='box'/></body></worldbody></mujoco>")
    with pytest.raises(UsageError, match="cannot be compiled"):
        bring(path)


def test_usd_by_its_unit_and_joint(bring, tmp_path):
    pytest.importorskip("pxr")
    vertices, faces = cube((0, 0, 0), (20, 20, 10))

    def mesh(name):
        points = ", ".join(f"({x}, {y}, {z})" for x, y, z in vertices)
        indices = ", ".join(str(i) for face in faces for i in face)
        return (
            f'def Mesh "{name}" {{\npoint3f[] points = [{points}]\nint[] faceVertexCounts = [{", ".join(["3"] * 12)}]\n'
            f"int[] faceVertexIndices = [{indices}]\n}}\n"
        )

    path = tmp_path / "chest.usda"
    path.write_text(
        f"""#usda 1.0
(metersPerUnit = 0.01
upAxis = "Z")
def Xform "chest" {{
def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{
{mesh("shell")} }}
def Xform "lid" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{
double3 xformOp:translate = (0, 0, 10.5)
uniform token[] xformOpOrder = ["xformOp:translate"]
{mesh("cover")} }}
def PhysicsRevoluteJoint "hinge" {{
rel physics:body0 = </chest/base>
rel physics:body1 = </chest/lid>
uniform token physics:axis = "Y"
float physics:lowerLimit = 0
float physics:upperLimit = 90
}}
}}
"""
    )
    report, model = bring(path)
    assert report.ok and "units" in kinds(report.fixed) and report.joints == ("lid: hinge",)
    assert np.allclose(report.size_m, (0.2, 0.2, 0.205)) and model.links[1].joint.range[1] == pytest.approx(np.pi / 2)
    assert np.allclose(model.links[1].joint.anchor_m, (-0.1, -0.1, 0.105), atol=1e-6)
    check_closed(model)


def test_a_ycb_folder_is_known_by_its_layout(bring, tmp_path):
    write_obj(tmp_path / "025_mug" / "google_16k" / "textured.obj", mug_groups())
    report, model = bring(tmp_path / "025_mug", name="ycb_mug")
    assert report.ok and report.format == "ycb" and set(model.part_names) == {"body", "interior"}
    write_obj(tmp_path / "011_plum" / "google_16k" / "textured.obj", [("x", *cube((0, 0, 0), (0.05, 0.05, 0.05)))])
    assert bring(tmp_path / "011_plum")[0].name == "plum"


def test_misuse_is_named(bring, tmp_path):
    path = write_obj(tmp_path / "thing.obj", mug_groups())
    with pytest.raises(UsageError, match="does not exist"):
        bring(tmp_path / "gone.obj")
    (tmp_path / "thing.step").write_text("x")
    with pytest.raises(UsageError, match=r"step.*\.obj"):
        bring(tmp_path / "thing.step")
    with pytest.raises(UsageError, match="built-in"):
        bring(path, name="mug")
    with pytest.raises(UsageError, match="lower-case"):
        bring(path, name="../escape")
    with pytest.raises(UsageError, match="--size is -1"):
        bring(path, size_m=-1.0)
    assert bring(path)[0].ok
    with pytest.raises(UsageError, match="already"):
        bring(path)
    assert bring(path, replace_existing=True)[0].ok
    (tmp_path / "bad.obj").write_text("v 0 0 0\nf 1 2 3\n")
    with pytest.raises(UsageError, match="line 2"):
        bring(tmp_path / "bad.obj")
    (tmp_path / "empty.obj").write_text("# nothing\n")
    assert kinds(bring(tmp_path / "empty.obj")[0].refused) == {"content"}
    (tmp_path / "no.urdf").write_text("<robot")
    with pytest.raises(UsageError, match="not XML"):
        bring(tmp_path / "no.urdf")


@pytest.mark.parametrize("category", ["mug", "bowl", "basket", "pan", "vase", "bottle", "banana"])
def test_hollow_things_stay_hollow(bring, tmp_path, category):
    link = Library().build(category, instance=2).root
    report, model = bring(write_obj(tmp_path / "copy.obj", [("all", link.vertices_m, link.faces)]))
    assert report.ok and len(model.root.hulls) <= 70
    out, off = fidelity(model.root, n=500)
    assert np.percentile(out, 95) <= 0.0035 and np.percentile(off, 95) <= 0.002
    assert bool(model.containers) == (category in ("mug", "bowl", "basket", "pan"))
    check_open(model)


def test_a_damaged_object_is_left_out_of_the_catalogue_and_named_when_asked_for(bring, tmp_path):
    bring(write_obj(tmp_path / "thing.obj", mug_groups()))
    library = tmp_path / "library"
    entries, damaged = imported_entries(library)
    assert set(entries) == {"thing"} and not damaged
    (library / "thing" / "object.json").write_text("{")
    entries, damaged = imported_entries(library)
    assert not entries and "thing" in damaged
    with pytest.raises(CacheError, match="Import it again"):
        load_object("thing", {}, library)


def test_the_command_reports_and_exits(cli, tmp_path):
    good = write_obj(tmp_path / "clay_mug.obj", mug_groups(1000))
    ran = cli("assets", "import", good, "--out", tmp_path / "library", "--word", "clay tankard", "--json")
    record = json.loads(ran.out)
    assert ran.code == 0 and record["ok"] and {"units", "mass"} == {one["kind"] for one in record["fixed"]}
    entries, _ = imported_entries(tmp_path / "library")
    assert entries["clay_mug"].words == ("clay tankard", "clay mug")
    bad = write_obj(tmp_path / "giant.obj", mug_groups(50_000))
    ran = cli("assets", "import", bad, "--out", tmp_path / "library")
    assert ran.code == 1 and "refused  scale" in ran.out
    ran = cli("assets", "import", good, "--units", "furlongs")
    assert ran.code == 2 and "furlongs" in ran.err and "mm" in ran.err


@pytest.mark.slow
def test_an_imported_object_is_used_by_its_name(tmp_path):
    import os
    import subprocess
    import sys

    library = tmp_path / "library"
    report = import_object(write_obj(tmp_path / "clay_mug.obj", mug_groups()), folder=library, mass_kg=0.25)
    assert report.ok
    ran = subprocess.run(
        [sys.executable, "-m", "armwright", "run", "pick up the clay mug by its handle and place it on the plate",
         "--seed", "7", "--out", str(tmp_path / "run"), "--json"],
        env={**os.environ, "ARMWRIGHT_LIBRARY_DIR": str(library)}, capture_output=True, text=True, timeout=280,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    record = json.loads(ran.stdout)
    assert record["success"] is True


def test_clouds_of_imported_objects_carry_part_names(bring, tmp_path):
    _, model = bring(write_obj(tmp_path / "clay_mug.obj", mug_groups()))
    cloud = sample_cloud(model, 500, rng=np.random.default_rng(0))
    assert set(cloud.part) == {"body", "handle", "interior"}


def test_cavities_and_level_tops_are_found(bring, tmp_path):
    _, mug = bring(write_obj(tmp_path / "clay_mug.obj", mug_groups()))
    check_open(mug)
    (inside,) = mug.containers
    assert inside.floor_z_m == pytest.approx(0.006, abs=1e-4) and inside.rim_z_m == pytest.approx(0.09, abs=1e-4)
    # The mug lies about the middle of body and handle; its bore is 70 mm square.
    assert np.allclose(inside.center_m[:2], (-0.0165, 0), atol=0.003) and 0.028 < min(inside.half_extents_m) < 0.035
    assert mug.regions["Containment"] == ("interior",) and not mug.supports
    entries, _ = imported_entries(tmp_path / "library")
    assert entries["clay_mug"].receives_in and not entries["clay_mug"].receives_on
    _, block = bring(write_obj(tmp_path / "block.obj", [("b", *cube((0, 0, 0), (0.1, 0.06, 0.05)))]))
    check_open(block)
    (top,) = block.supports
    assert top.pose_object_surface.position_m[2] == pytest.approx(0.05) and not block.containers
    assert np.allclose(top.half_extents_m, (0.047, 0.027), atol=0.002)
    entries, _ = imported_entries(tmp_path / "library")
    assert entries["block"].receives_on and not entries["block"].receives_in
