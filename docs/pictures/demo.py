#!/usr/bin/env python3
"""Draws the pictures of the demo in the README out of a real run of it.

    cargo build --locked
    python3 docs/pictures/demo.py target/debug/fixpoint en > docs/pictures/demo.svg
    python3 docs/pictures/demo.py target/debug/fixpoint ja > docs/pictures/demo.ja.svg

Plain text in the reader's own monospace font, each piece as wide as its columns, so that these hold whatever that font is.
Of the whole output the parts named below are drawn; nothing in them is changed.
"""

import re
import subprocess
import sys
import unicodedata
from html import escape

# So many lines from the first one that holds a text.
PARTS = [
    ("── Fixpoint", 20),
    ("plan 3: 81", 10),
    ("[discount] attempt 2", 6),
    ("[receipt] attempt 1", 8),
    ("[stock] cannot work", 5),
    ("[tax] blocked", 5),
    (" ✓ fixpoint history", 9),
]
COLUMN, ROW, SIZE, EDGE = 8.4, 19, 14, 16
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff"}
INK, PAPER = "#e6edf3", "#0d1117"


def width(letter):
    """The columns a letter takes."""
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def pieces(line):
    """A line as pairs of a colour and a text."""
    colour = INK
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code:
            colour = COLOURS.get(code.group(1), INK)
        elif part:
            yield colour, part


def drawn(line, row):
    """A line as texts of a picture, each as wide as its columns are."""
    column = 0
    for colour, text in pieces(line):
        for run in re.findall(r"[!-~]+(?: [!-~]+)*| +|[^ -~]+", text):
            columns = sum(width(letter) for letter in run)
            if run.strip(" "):
                place = f'x="{EDGE + column * COLUMN:.1f}" y="{row}" textLength="{columns * COLUMN:.1f}"'
                yield f'<text {place} fill="{colour}">{escape(run, quote=False)}</text>'
            column += columns


def chosen(lines):
    """The lines of the parts, with a gap between two of them."""
    found = []
    for first, count in PARTS:
        begin = next(n for n, line in enumerate(lines) if first in line)
        found += ([" …"] if found else []) + lines[begin : begin + count]
    return found


def main():
    program, lang = sys.argv[1:]
    words = [program, "demo", "--lang", lang, "--color", "always", "--non-interactive"]
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    lines = chosen(ended.stdout.splitlines())
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    columns = max(sum(width(letter) for letter in line) for line in bare)
    size = (round(2 * EDGE + columns * COLUMN), 2 * EDGE + len(lines) * ROW)
    box = f'width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}"'
    font = f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="{SIZE}"'
    print(f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>')
    print(f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>')
    for number, line in enumerate(lines):
        print("".join(drawn(line, EDGE + number * ROW + SIZE)))
    print("</svg>")


main()
