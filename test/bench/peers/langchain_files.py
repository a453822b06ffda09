"""Ingests files by LangChain, as its documentation shows."""

import os

import peer
import psycopg
from langchain_community.document_loaders import BSHTMLLoader, CSVLoader, Docx2txtLoader, PyPDFLoader, TextLoader
from langchain_openai import OpenAIEmbeddings
from langchain_postgres import PGVector
from langchain_text_splitters import RecursiveCharacterTextSplitter

CHUNK, OVERLAP, WIDTH = 1600, 160, 1536  # characters (four make a token), characters, numbers
LOADERS = {".pdf": PyPDFLoader, ".docx": Docx2txtLoader, ".html": BSHTMLLoader, ".csv": CSVLoader, ".md": TextLoader}

t = peer.task()
# With check_embedding_ctx_length it would ask a server in the Internet for the model's vocabulary first.
model = OpenAIEmbeddings(
    model="text-embedding-3-small", base_url=t["model"], api_key="none", check_embedding_ctx_length=False
)
store = PGVector(
    embeddings=model,
    connection=t["database"].replace("postgres://", "postgresql+psycopg://", 1),
    collection_name="documents",
    embedding_length=WIDTH,
    use_jsonb=True,
)
with psycopg.connect(t["database"]) as db:
    db.execute(
        f"create index on langchain_pg_embedding using hnsw ((embedding::halfvec({WIDTH})) halfvec_cosine_ops)"
    )
    db.execute("create index on langchain_pg_embedding using gin (to_tsvector('english', document))")
splitter = RecursiveCharacterTextSplitter(chunk_size=CHUNK, chunk_overlap=OVERLAP)


def ingest():
    documents = []
    for name in t["files"]:
        path = os.path.join(t["folder"], name)
        documents += LOADERS[os.path.splitext(name)[1]](path).load()
    for d in documents:
        d.page_content = d.page_content.replace("\0", "")  # Postgres refuses it, and pypdf lets it through
    store.add_documents(splitter.split_documents(documents))


peer.serve(ingest)
