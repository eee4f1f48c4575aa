"""``armwright shelf``: scenes of packaged products on a shelf."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armwright.cli.common import (
    JsonOption,
    OutOption,
    SeedOption,
    check_count,
    default_out,
    emit_json,
    progress,
    say,
)

app = typer.Typer(help="The shelf: draw scenes.", no_args_is_help=True)
SceneOption = Annotated[
    str,
    typer.Option(
        "--scene",
        help="single-row, multi-row or varying-clearance; or the attribute that organises the shelf: content, "
        "packaging, edible or orientation.",
    ),
]


@app.command("scenes")
def scenes(
    scene: SceneOption = "multi-row",
    n: Annotated[int, typer.Option("-n", help="How many, from consecutive seeds.")] = 1,
    pictures: Annotated[bool, typer.Option("--pictures/--no-pictures", help="Draw each scene with the arm.")] = True,
    seed: SeedOption = 0,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Write scenes as JSON, each with a rendered picture."""
    import time

    from armwright.core.files import ensure_writable
    from armwright.recording.result import ResultRecord, collect_versions
    from armwright.shelf.scene_files import draw_scene, write_picture, write_scene
    from armwright.shelf.worlds import open_scene

    check_count("-n", n, high=100_000)
    began = time.perf_counter()
    draw_scene(scene, seed)
    folder = ensure_writable(out or default_out(f"shelf-{scene}"))
    rows: list[dict[str, Any]] = []
    files: dict[str, str] = {}
    with progress("scenes", n, quiet=json) as update:
        for number in range(seed, seed + n):
            drawn = draw_scene(scene, number)
            name = f"{scene}-{number}"
            files[name] = str(folder / f"{name}.json")
            write_scene(folder / f"{name}.json", drawn)
            if pictures:
                files[f"{name} picture"] = str(folder / f"{name}.jpg")
                write_picture(folder / f"{name}.jpg", open_scene(drawn))
            target = {"product": drawn.target.name, "orientation": drawn.target_orientation}
            rows.append({"seed": number, "objects": len(drawn.objects), "target": target})
            update(number - seed + 1)
    record = ResultRecord(
        command="shelf scenes",
        ok=True,
        seed=seed,
        robot="ur5e" if pictures else None,
        wall_s=time.perf_counter() - began,
        versions=collect_versions(),
        files=files,
        extra={"scene": scene, "scenes": rows},
    )
    record.write(folder / "result.json")
    if json:
        emit_json(record.to_json())
        return
    for row in rows:
        typer.echo(f"{scene} {row['seed']}: {row['objects']} objects, target {row['target']['product']}")
    say(f"written to {folder}")
