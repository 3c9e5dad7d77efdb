"""A document as one HTML file: no script, nothing loaded from anywhere, readable on paper and in the dark."""

import base64
from collections.abc import Sequence
from html import escape

from handlers.messages.escaping import visible
from handlers.messages.languages import now_spoken
from handlers.reports.document import Code, Document, Heading, Paragraph, Part, Picture, Points, Table

_STYLE = """
:root { color-scheme: light dark; --line: #d9d7e0; --soft: #f4f3f7; --quiet: #5d5a6b; }
@media (prefers-color-scheme: dark) { :root { --line: #3b3947; --soft: #25242d; --quiet: #a3a0b3; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; } h2 { margin: 2.2rem 0 .5rem; border-top: 1px solid var(--line);
padding-top: 1.2rem; } h3 { margin: 1.4rem 0 .4rem; font-size: 1.05rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; } .wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
overflow-wrap: anywhere; }
th { color: var(--quiet); font-weight: 600; } td:first-child { white-space: nowrap; }
pre { background: var(--soft); padding: .7rem .9rem; border-radius: 6px; overflow-x: auto; font-size: .85rem; }
figure { margin: 1rem 0; } img { max-width: 100%; background: #fff; border-radius: 6px; }
figcaption, .label { color: var(--quiet); font-size: .88rem; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } figure, tr { break-inside: avoid; } }
"""
EMPTY = "–"
_RULES = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def to_html(document: Document, title: str) -> str:
    """The whole document as one file."""
    body = "\n".join(_part(part) for part in document)
    return (
        f'<!doctype html>\n<html lang="{now_spoken()}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_RULES}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _part(part: Part) -> str:
    match part:
        case Heading():
            return f"<h{part.level}>{_text(part.text)}</h{part.level}>"
        case Paragraph():
            return f"<p>{_text(part.text)}</p>"
        case Points():
            return f"<ul>{''.join(f'<li>{_text(text)}</li>' for text in part.texts)}</ul>"
        case Table():
            return _table(part)
        case Code():
            label = f'<p class="label">{_text(part.label)}</p>' if part.label else ""
            return f"{label}<pre>{escape(visible(part.text, keeps_lines=True))}</pre>"
        case Picture():
            data = base64.b64encode(part.data).decode()
            text = _text(part.text)
            return (
                f'<figure><img alt="{text}" src="data:image/png;base64,{data}"><figcaption>{text}</figcaption></figure>'
            )


def _table(table: Table) -> str:
    if len(table.rows) < 2:
        return ""
    head, *rows = table.rows
    shown = "".join(_row(row, "td") for row in rows)
    names = _row(head, "th")
    return f'<div class="wide"><table><thead>{names}</thead><tbody>{shown}</tbody></table></div>'


def _row(cells: Sequence[str], tag: str) -> str:
    shown = "".join(f"<{tag}>{_text(cell) or EMPTY}</{tag}>" for cell in cells)
    return f"<tr>{shown}</tr>"


def _text(text: str) -> str:
    return escape(visible(text))
