"""``armwright run``: one sentence, one scene, one graded and recorded demonstration."""

from __future__ import annotations

from typing import Annotated

import typer

from armwright.cli.common import (
    JsonOption,
    ModelOption,
    OutOption,
    ParserOption,
    RandomiseOption,
    RobotOption,
    SeedOption,
    SplatOption,
    TexturesOption,
    default_out,
    emit_json,
    say,
)


def run(
    sentence: Annotated[str, typer.Argument(help="What the robot should do, in English.")],
    robot: RobotOption = "franka",
    seed: SeedOption = 0,
    out: OutOption = None,
    grasps: Annotated[str, typer.Option("--grasps", help="Grasp source.")] = "affordance",
    affordance: Annotated[str, typer.Option("--affordance", help="Affordance model.")] = "oracle",
    model: ModelOption = None,
    parser: ParserOption = None,
    randomise: RandomiseOption = None,
    textures: TexturesOption = None,
    splat: SplatOption = None,
    images: Annotated[
        bool, typer.Option("--images/--no-images", help="Render cameras, video and dataset images.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Build a scene from a sentence, do it with a simulated arm, grade it, and write report, video and dataset."""
    from armwright.generate.randomising import RandomiseOptions, read_randomising
    from armwright.generate.run import RunRequest, run_once

    folder = out or default_out(sentence)
    request = RunRequest(
        sentence=sentence,
        robot=robot,
        seed=seed,
        grasps=grasps,
        affordance=affordance,
        model=model,
        parser=parser,
        images=images,
        randomise=read_randomising(RandomiseOptions(randomise, textures, splat or ())),
    )
    record = run_once(request, folder, progress=lambda text: say(text, quiet=json))
    if json:
        emit_json(record.to_json())
    else:
        for stage in record.stages:
            mark = "ok  " if stage.ok else "FAIL"
            typer.echo(f"  {mark} {stage.name:<34} {stage.status:<18} {stage.detail}".rstrip())
        verdict = "success" if record.ok else "failed"
        typer.echo(f"{verdict} on {robot}, seed {seed}: {record.sim_s:.1f} s of motion in {record.wall_s:.1f} s")
        if "report" in record.files:
            typer.echo(f"report: {record.files['report']}")
    raise typer.Exit(0 if record.ok else 1)
