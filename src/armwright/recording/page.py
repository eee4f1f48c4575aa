"""The frame of the project's HTML pages: one file, nothing fetched; sections, badges, tables, strips of pictures."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from armwright.recording._pictures import data_uri
from armwright.recording._svg import ACCENT, BAD, FAINT, GOOD, INK, MUTED, PANEL
from armwright.recording.report_data import KeyFrame

STYLE = f"""
:root {{ color-scheme: light; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: #eef0f4; color: {INK};
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
main {{ max-width: 1160px; margin: 0 auto; padding: 28px 20px 60px; }}
header {{ background: #fff; border-radius: 14px; padding: 26px 30px; border-top: 6px solid var(--tone); }}
h1 {{ font-size: 29px; line-height: 1.25; margin: 6px 0 14px; letter-spacing: -0.01em; }}
h2 {{ font-size: 17px; margin: 0 0 4px; }}
section {{ background: #fff; border-radius: 14px; padding: 20px 24px; margin-top: 18px; min-width: 0; }}
.two {{ display: grid; grid-template-columns: 1fr 1fr; gap: 0 18px; }}
.two > * {{ min-width: 0; }}
.two > section {{ display: flex; flex-direction: column; }}
.two > section > svg, .two > section > img {{ margin: auto; }}
@media (max-width: 820px) {{ .two {{ grid-template-columns: 1fr; }} }}
.hint, .over {{ color: {MUTED}; margin: 0 0 12px; font-size: 13.5px; }}
.over {{ margin: 0; text-transform: uppercase; letter-spacing: 0.08em; font-size: 12px; }}
.badges {{ display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 0; list-style: none; }}
.badge {{ border-radius: 999px; padding: 4px 13px; font-size: 14px; font-weight: 600; background: {PANEL}; }}
.good {{ background: #e0f2e9; color: {GOOD}; }} .bad {{ background: #fbe4e2; color: {BAD}; }}
svg, img {{ display: block; max-width: 100%; height: auto; }} svg {{ width: 100%; }}
.strip {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(160px, 1fr)); gap: 12px; }}
figure {{ margin: 0; }} figcaption {{ font-size: 13px; color: {MUTED}; margin-top: 5px; }}
.strip img {{ width: 100%; border-radius: 8px; }}
table {{ border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }}
th {{ text-align: left; color: {MUTED}; font-weight: 600; }}
th, td {{ padding: 5px 10px 5px 0; border-bottom: 1px solid {FAINT}; vertical-align: top; overflow-wrap: anywhere; }}
a {{ color: {ACCENT}; }}
.no {{ color: {BAD}; font-weight: 600; }} .yes {{ color: {GOOD}; font-weight: 600; }}
.key {{ display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin: 0 5px 0 12px; }}
.wide {{ overflow-x: auto; }} .wide svg {{ min-width: 640px; }}
@media print {{ body {{ background: #fff; }} section, header {{ break-inside: avoid; }} }}
"""


def page(title: str, parts: Sequence[str], *, good: bool) -> str:
    """Return a whole page as text.

    Args:
        title: Plain text.
        parts: HTML from the other functions here; empty ones are left out.
        good: Whether it went well, which gives the page its colour.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)} · armwright</title>\n<style>{STYLE}</style>\n</head>\n"
        f'<body style="--tone: {GOOD if good else BAD}">\n<main>\n'
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def header(command: str, title: str, badges: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Return the head of a page: command and title in plain text, badges in HTML, notes in plain text."""
    lines = "".join(
        f'<p class="hint" style="margin:{4 if k else 12}px 0 0">{html.escape(note)}</p>' for k, note in enumerate(notes)
    )
    return (
        f'<header><p class="over">{html.escape(command)}</p><h1>{html.escape(title)}</h1>'
        f'<ul class="badges">{"".join(badges)}</ul>{lines}</header>'
    )


def badge(words: str, *, good: bool | None = None) -> str:
    """Return a badge; green or red where it is good or bad."""
    if good is None:
        return f'<li class="badge">{html.escape(words)}</li>'
    return f'<li class="badge {"good" if good else "bad"}">{"✓" if good else "✗"} {html.escape(words)}</li>'


def section(title: str, hint: str, body: str) -> str:
    """Return a section; ``hint`` and ``body`` are HTML."""
    lead = f'<p class="hint">{hint}</p>' if hint else ""
    return f"<section><h2>{html.escape(title)}</h2>{lead}{body}</section>"


def pair(left: str, right: str) -> str:
    """Return two parts side by side, or the one that is not empty."""
    return f'<div class="two">{left}{right}</div>' if left and right else left or right


def strip(title: str, frames: Sequence[KeyFrame], hint: str = "") -> str:
    """Return pictures in a row with their captions; nothing without pictures."""
    if not frames:
        return ""
    figures = [
        f'<figure><img src="{data_uri(frame.image)}" alt="{html.escape(frame.label, quote=True)}">'
        f"<figcaption>{html.escape(frame.label)}</figcaption></figure>"
        for frame in frames
    ]
    return section(title, hint, f'<div class="strip">{"".join(figures)}</div>')


def key_values(title: str, rows: Mapping[str, str]) -> str:
    """Return a table of names and values in plain text; nothing without rows."""
    if not rows:
        return ""
    cells = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(value)}</td></tr>" for key, value in rows.items())
    return section(title, "", f"<table>{cells}</table>")


def rows_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of plain text."""
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"
