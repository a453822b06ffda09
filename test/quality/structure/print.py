"""Prints each NAME.typ and NAME.html of a folder to PDF, in the folders typst and weasyprint."""

import pathlib
import sys

import typst
import weasyprint

folder = pathlib.Path(sys.argv[1])
for producer in ("typst", "weasyprint"):
    (folder / producer).mkdir()
for source in sorted(folder.glob("*.typ")):
    typst.compile(str(source), output=str(folder / "typst" / (source.stem + ".pdf")))
for source in sorted(folder.glob("*.html")):
    weasyprint.HTML(str(source)).write_pdf(str(folder / "weasyprint" / (source.stem + ".pdf")))
