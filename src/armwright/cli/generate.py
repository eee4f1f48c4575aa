"""``armwright generate``: many demonstrations of one sentence, in parallel, resumable."""

from __future__ import annotations

from typing import Annotated

import typer

from armwright.cli.common import (
    MAX_WORKERS,
    EngineOption,
    JsonOption,
    ModelOption,
    OutOption,
    ParserOption,
    RandomiseOption,
    RobotOption,
    SeedOption,
    SplatOption,
    TexturesOption,
    check_count,
    default_out,
    emit_json,
    progress,
    say,
)


def generate(
    sentence: Annotated[str, typer.Argument(help="What the robot should do, in English.")],
    n: Annotated[int, typer.Option("-n", "--episodes", help="Successful demonstrations wanted.")] = 10,
    robot: RobotOption = "franka",
    workers: Annotated[int, typer.Option("--workers", help="Worker processes; 0: one per core.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what --out already holds.")] = False,
    images: Annotated[bool, typer.Option("--images/--no-images", help="Record the two cameras.")] = True,
    seed: SeedOption = 0,
    out: OutOption = None,
    grasps: Annotated[str, typer.Option("--grasps", help="Grasp source.")] = "affordance",
    affordance: Annotated[str, typer.Option("--affordance", help="Affordance model.")] = "oracle",
    model: ModelOption = None,
    parser: ParserOption = None,
    randomise: RandomiseOption = None,
    textures: TexturesOption = None,
    splat: SplatOption = None,
    engine: EngineOption = "local",
    shard_size: Annotated[
        int, typer.Option("--shard-size", help="Work in shards of so many attempts; 0: the engine's choice.")
    ] = 0,
    part: Annotated[
        str | None,
        typer.Option("--part", help="i/n: do the i-th of n parts of the work, e.g. in a job array of a cluster."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Collect demonstrations into a LeRobot v3 dataset."""
    from armwright.generate.engine import generate_dataset
    from armwright.generate.randomising import RandomiseOptions, read_randomising
    from armwright.generate.request import GenerateRequest, read_part

    check_count("-n", n)
    check_count("--workers", workers, low=0, high=MAX_WORKERS)
    check_count("--shard-size", shard_size, low=0)
    folder = out or default_out(sentence)
    request = GenerateRequest(
        sentence=sentence,
        episodes=n,
        robot=robot,
        seed=seed,
        workers=workers,
        images=images,
        grasps=grasps,
        affordance=affordance,
        model=model,
        parser=parser,
        engine=engine,
        randomise=read_randomising(RandomiseOptions(randomise, textures, splat or ())),
        shard_size=shard_size,
        part=None if part is None else read_part(part),
    )
    with progress("episodes", request.wanted, quiet=json) as update:
        record = generate_dataset(request, folder, resume=resume, update=update)
    if json:
        emit_json(record.to_json())
    else:
        extra = record.extra
        typer.echo(
            f"{extra['episodes']} demonstrations from {extra['attempts']} attempts in {record.wall_s:.0f} s "
            f"({extra['episodes_per_hour']:.0f} per hour)"
        )
        for stage, count in extra["failures"].items():
            say(f"  {count} failed at {stage}")
        typer.echo(f"dataset: {folder / 'dataset'}")
    raise typer.Exit(0 if record.ok else 1)
