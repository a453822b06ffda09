"""Ingests files by LlamaIndex, as its documentation shows."""

import os

import peer
import sqlalchemy
from bs4 import BeautifulSoup
from llama_index.core import Document, SimpleDirectoryReader
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.readers.base import BaseReader
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.readers.file import DocxReader, PandasCSVReader, PDFReader
from llama_index.vector_stores.postgres import PGVectorStore

CHUNK, OVERLAP, WIDTH = 400, 40, 1536  # tokens, tokens, numbers


class HTML(BaseReader):
    """LlamaIndex reads HTML with its tags unless it gets a reader."""

    def load_data(self, file, extra_info=None):
        with open(file, encoding="utf-8", errors="replace") as f:
            return [Document(text=BeautifulSoup(f, "html.parser").get_text(" "), metadata=extra_info or {})]


t = peer.task()
url = sqlalchemy.make_url(t["database"])
store = PGVectorStore.from_params(
    connection_string=url.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False),
    async_connection_string=url.set(drivername="postgresql+asyncpg", query={}).render_as_string(hide_password=False),
    table_name="documents",
    embed_dim=WIDTH,
    use_halfvec=True,
    hybrid_search=True,
    hnsw_kwargs={"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "halfvec_cosine_ops"},
)
store._initialize()  # makes the table and its indexes
model = OpenAIEmbedding(model="text-embedding-3-small", api_base=t["model"], api_key="none")
pipeline = IngestionPipeline(
    transformations=[SentenceSplitter(chunk_size=CHUNK, chunk_overlap=OVERLAP), model],
    vector_store=store,
    disable_cache=True,
)


def ingest():
    documents = SimpleDirectoryReader(
        input_files=[os.path.join(t["folder"], name) for name in t["files"]],
        file_extractor={".html": HTML(), ".pdf": PDFReader(), ".docx": DocxReader(), ".csv": PandasCSVReader()},
    ).load_data()
    for d in documents:
        d.set_content(d.text.replace("\0", ""))  # Postgres refuses it, and pypdf lets it through
    pipeline.run(documents=documents)


peer.serve(ingest)
