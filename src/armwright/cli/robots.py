"""``armwright robots``: the arms there are, and a picture of each."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armwright.cli.common import JsonOption, OutOption, emit_json, say

app = typer.Typer(help="The arms: list them, show one.", no_args_is_help=True)


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the arms with their joints, reach, payload and gripper."""
    from armwright.robots.registry import load_spec, robot_names

    rows: list[dict[str, Any]] = []
    for name in robot_names():
        spec = load_spec(name)
        rows.append({
            "name": name, "title": spec.title, "joints": len(spec.joints), "reach_m": spec.reach_m,
            "payload_kg": spec.payload_kg, "gripper": spec.gripper.name, "opening_m": spec.gripper.opening_m[1],
        })  # fmt: skip
    if json:
        emit_json({"robots": rows})
        return
    for row in rows:
        typer.echo(
            f"{row['name']:<8} {row['joints']} joints, reach {row['reach_m']:.2f} m, payload "
            f"{row['payload_kg']:.0f} kg, {row['gripper']} opens {1000 * row['opening_m']:.0f} mm  ({row['title']})"
        )


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="franka, kinova, sawyer, ur5e or xarm7.")],
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Draw an arm and its collision spheres, and print its specification."""
    from armwright.generate.pictures import robot_picture
    from armwright.robots.bake import baked_robot

    robot = baked_robot(name, progress=lambda text: say(text, quiet=json))
    path = robot_picture(robot, out)
    spec = robot.spec.model_dump(mode="json")
    if json:
        emit_json({"robot": spec, "files": {"picture": str(path)}})
        return
    for key in ("title", "joints", "home_rad", "limits_rad", "velocity_rad_s", "payload_kg", "reach_m"):
        typer.echo(f"{key:<18} {spec[key]}")
    for key in ("name", "opening_m", "force_n", "pad_size_m"):
        typer.echo(f"{'gripper ' + key:<18} {spec['gripper'][key]}")
    typer.echo(f"picture: {path}")
