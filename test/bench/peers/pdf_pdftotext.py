"""Reads the text of PDFs by pdftotext, a process for each file."""

import os
import subprocess

import peer

t = peer.task()


def read():
    for name in t["files"]:
        subprocess.run(
            ["pdftotext", "-q", os.path.join(t["folder"], name), os.path.join(t["output"], name + ".txt")], check=True
        )


peer.serve(read)
