"""Prints each NAME.typ and NAME.html of a folder to PDF, in the folders typst and weasyprint."""

import pathlib
import sys

import typst
import weasyprint

# WeasyPrint draws all dots of a leader in a flexible box, and what comes after them off the page. It has leaders of its
# own.
leaders = weasyprint.CSS(string="""
.entry { display: block !important }
.entry i { margin: 0 !important }
.entry i::before { content: leader(". ") !important }
""")

folder = pathlib.Path(sys.argv[1])
for producer in ("typst", "weasyprint"):
    (folder / producer).mkdir()
for source in sorted(folder.glob("*.typ")):
    typst.compile(str(source), output=str(folder / "typst" / (source.stem + ".pdf")))
for source in sorted(folder.glob("*.html")):
    target = folder / "weasyprint" / (source.stem + ".pdf")
    weasyprint.HTML(str(source)).write_pdf(str(target), stylesheets=[leaders])
