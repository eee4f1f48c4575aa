"""``armwright parse``: what a sentence means, with nothing executed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armwright.cli.common import JsonOption, ModelOption, ParserOption, emit_json


def parse(
    sentence: Annotated[str, typer.Argument(help="What the robot should do, in English.")],
    model: ModelOption = None,
    parser: ParserOption = None,
    json: JsonOption = False,
) -> None:
    """Print the scene, the primitives and the affordance queries of a sentence."""
    from armwright.generate.parsing import parse_sentence, parsed_record

    parsed, use = parse_sentence(sentence, model=model, parser=parser)
    record = parsed_record(parsed, use)
    if json:
        emit_json(record)
    else:
        _print(record)


def _print(record: dict[str, Any]) -> None:
    typer.echo("objects")
    for node in record["objects"]:
        words = " ".join(f"{k}={v}" for k, v in node["attributes"].items())
        typer.echo(f"  {node['id']:<18} {node['category']} {words}".rstrip())
    if record["relations"]:
        typer.echo("scene")
        for subject, relation, target in record["relations"]:
            typer.echo(f"  {subject} {relation} {target}")
    typer.echo("primitives")
    for step in record["primitives"]:
        tail = f" {step['relation'] or 'to'} {step['target']}" if step["target"] else ""
        typer.echo(f"  {step['name']} {step['object']}{tail}")
    typer.echo("affordance queries")
    for query in record["queries"]:
        typer.echo(f"  {query['object']:<18} {query['region']} ({query['role']})")
    for text in record["assumptions"]:
        typer.echo(f"assumed: {text}")
    for text in record["not_understood"]:
        typer.echo(f"not understood: {text!r}")
