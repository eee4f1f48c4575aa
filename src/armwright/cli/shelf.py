"""``armwright shelf``: draw scenes, run one, map recorded views."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armwright.cli.common import (
    MAX_SEED,
    JsonOption,
    ModelOption,
    OutOption,
    SeedOption,
    check_count,
    default_out,
    emit_json,
    given_path,
    progress,
    say,
)
from armwright.cli.shelf_bench import bench
from armwright.core.errors import UsageError, quoted

if TYPE_CHECKING:
    from armwright.recording.result import ResultRecord

app = typer.Typer(
    help="The shelf: see it, understand how it is organised, put a new thing where it belongs.", no_args_is_help=True
)
app.command("bench")(bench)
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

    from armwright.recording.outputs import claimed, held
    from armwright.recording.result import ResultRecord, collect_versions
    from armwright.shelf.scene_files import draw_scene, write_picture, write_scene
    from armwright.shelf.worlds import open_scene

    check_count("-n", n, high=100_000)
    if seed + n - 1 > MAX_SEED:
        raise UsageError(f"the last scene would have seed {seed + n - 1}; the largest is {MAX_SEED}.")
    began = time.perf_counter()
    draw_scene(scene, seed)
    folder = out or default_out(f"shelf-{scene}")
    rows: list[dict[str, Any]] = []
    files: dict[str, str] = {}
    with claimed(folder), progress("scenes", n, quiet=json) as update:
        if other := held(folder):
            raise UsageError(f"{folder} {other}.", hint="Choose another folder with --out.")
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


SegmenterOption = Annotated[str, typer.Option("--segmenter", help="boundary, planes, sam3, or simulated (true masks).")]
DescriberOption = Annotated[str, typer.Option("--describer", help="labels, basic, chat, or an installed one.")]
ReasonerOption = Annotated[str, typer.Option("--reasoner", help="embedded, score, chat, or an installed one.")]


@app.command("run")
def run(
    scene: SceneOption = "multi-row",
    seed: SeedOption = 0,
    out: OutOption = None,
    segmenter: SegmenterOption = "boundary",
    describer: DescriberOption = "labels",
    reasoner: ReasonerOption = "embedded",
    model: ModelOption = None,
    noise: Annotated[str, typer.Option("--noise", help="Of the depth camera: none, stereo …")] = "stereo",
    views: Annotated[int, typer.Option("--views", help="Viewpoints of the shelf.")] = 9,
    target_views: Annotated[int, typer.Option("--target-views", help="Viewpoints of the object to place.")] = 4,
    json: JsonOption = False,
) -> None:
    """See a shelf and an unknown object, place it where it belongs, and grade that."""
    from armwright.shelf.run import ShelfRequest, run_shelf

    check_count("--views", views, high=60)
    check_count("--target-views", target_views, high=60)
    folder = out or default_out(f"shelf-{scene}-{seed}")
    request = ShelfRequest(
        scene,
        seed,
        segmenter=segmenter,
        describer=describer,
        reasoner=reasoner,
        model=model,
        noise=noise,
        shelf_views=views,
        target_views=target_views,
    )
    record = run_shelf(request, folder, progress=lambda text: say(text, quiet=json))
    _show(record, json=json)
    raise typer.Exit(0 if record.ok else 1)


@app.command("map")
def map_(
    folder: Annotated[
        Path,
        typer.Argument(help="Recorded views: NAME.color.jpg, .depth.png, .pose.txt, intrinsics.", parser=given_path),
    ],
    out: OutOption = None,
    segmenter: SegmenterOption = "boundary",
    describer: DescriberOption = "labels",
    reasoner: ReasonerOption = "embedded",
    model: ModelOption = None,
    every: Annotated[int, typer.Option("--every", help="Take every so many views.")] = 1,
    up: Annotated[
        str | None, typer.Option("--up", help="The vertical in the world as X,Y,Z; found unless given.")
    ] = None,
    target: Annotated[str | None, typer.Option("--target", help="What is to be placed, in words.")] = None,
    target_size: Annotated[str, typer.Option("--target-size", help="Its depth,width,height [m].")] = "0.07,0.07,0.15",
    target_packaging: Annotated[
        str | None, typer.Option("--target-packaging", help="box, bottle, can, carton or tube.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Map recorded RGB-D views with poses, up to the ranked placements of a target."""
    from armwright.shelf.recorded_map import MapRequest, map_recording

    check_count("--every", every)
    request = MapRequest(
        folder,
        segmenter,
        describer,
        reasoner,
        model,
        None if up is None else _triple("--up", up),
        target,
        _triple("--target-size", target_size),
        target_packaging,
        every,
    )
    record = map_recording(request, out or default_out(f"map-{folder.name}"), progress=lambda t: say(t, quiet=json))
    _show(record, json=json)
    raise typer.Exit(0 if record.ok else 1)


def _triple(option: str, text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{option} takes three numbers with commas, got {quoted(text)}.") from None
    return x, y, z


def _show(record: ResultRecord, *, json: bool) -> None:
    if json:
        emit_json(record.to_json())
        return
    for stage in record.stages:
        mark = "ok  " if stage.ok else "FAIL"
        typer.echo(f"  {mark} {stage.name:<22} {stage.status:<14} {stage.detail}".rstrip())
    for row in record.extra.get("proposals", ()):
        typer.echo(f"  {row['rank']}. {row['side'].replace('_', ' ')} {row['anchor']}: {row['reason']}")
    for note in record.extra.get("notes", ()):
        typer.echo(f"  note: {note}")
    typer.echo(f"{'done' if record.ok else 'not done'} in {record.wall_s:.1f} s")
    if "report" in record.files:
        typer.echo(f"report: {record.files['report']}")
