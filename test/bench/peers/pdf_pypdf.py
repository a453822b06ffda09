"""Reads the text of PDFs by pypdf."""

import os

import peer
from pypdf import PdfReader

t = peer.task()


def read():
    for name in t["files"]:
        pages = [page.extract_text() for page in PdfReader(os.path.join(t["folder"], name)).pages]
        with open(os.path.join(t["output"], name + ".txt"), "w", encoding="utf-8", errors="replace") as f:
            f.write("\n\n".join(pages))


peer.serve(read)
