"""Reads the text of PDFs by kreuzberg."""

import os

import kreuzberg
import peer

t = peer.task()


def read():
    for name in t["files"]:
        result = kreuzberg.extract_file_sync(os.path.join(t["folder"], name))
        with open(os.path.join(t["output"], name + ".txt"), "w", encoding="utf-8") as f:
            f.write(result.content)


peer.serve(read)
