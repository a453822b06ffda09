"""Makes rows of text into vectors by pgai's vectorizer worker. Its argument is the number of batches at a time."""

import asyncio
import logging
import os
import sys

import peer
import pgai
import psycopg
import structlog
from pgai.vectorizer import Worker

# Characters, characters, numbers: of this text it makes as many chunks as the worker.
CHUNK, OVERLAP, WIDTH = 2400, 240, 1536

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))  # as its command has it
# It ships the model's vocabulary; without this it may be looked for in the Internet.
os.environ["TIKTOKEN_CACHE_DIR"] = os.path.join(os.path.dirname(pgai.__file__), "vectorizer", "tiktoken_cache")

t = peer.task()
with psycopg.connect(t["database"], autocommit=True) as db:
    db.execute("create extension vector")
pgai.install(t["database"])
with psycopg.connect(t["database"]) as db:
    db.execute("create table texts (id bigint primary key, text text not null)")
    for i, name in enumerate(t["files"]):
        with open(os.path.join(t["folder"], name), encoding="utf-8") as f:
            db.execute("insert into texts values (%s, %s)", (i, f.read()))
    db.execute(
        """select ai.create_vectorizer('texts',
            destination => ai.destination_table(target_table => 'texts_store', view_name => 'texts_view'),
            loading => ai.loading_column('text'),
            embedding => ai.embedding_openai('text-embedding-3-small', %s, base_url => %s),
            chunking => ai.chunking_recursive_character_text_splitter(%s, %s),
            indexing => ai.indexing_none(), scheduling => ai.scheduling_none())""",
        (WIDTH, t["model"], CHUNK, OVERLAP),
    )
    db.execute(f"create index on texts_store using hnsw ((embedding::halfvec({WIDTH})) halfvec_cosine_ops)")
    db.execute("create index on texts_store using gin (to_tsvector('english', chunk))")


def embed():
    failed = asyncio.run(Worker(t["database"], once=True, concurrency=int(sys.argv[1])).run())
    if failed:
        raise failed


peer.serve(embed)
