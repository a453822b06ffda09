"""A frontend with psycopg. DATABASE_URL is its login, CLIENT_ID its tenant. It has a table orders of its own.

enqueue             call aw_enqueue with the message of stdin
insert ID FILE      insert a row into processing_jobs
order ID FILE END   insert an order and its job in one transaction, and END it: commit or rollback
"""

import os
import sys

import psycopg
from psycopg.types.json import Jsonb

INSERT = """insert into processing_jobs (id, type, source_uri, payload, status)
            values (%s, 'ingest', %s, %s, 'pending')"""


def insert(connection, job, file):
    connection.execute(INSERT, (job, "blob:" + file, Jsonb({"document_set": "e2e"})))


with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    connection.execute("select set_config('app.client_id', %s, false), set_config('role', 'async_worker', false)",
                       (os.environ["CLIENT_ID"],))
    connection.commit()
    command = sys.argv[1]
    if command == "enqueue":
        print(connection.execute("select aw_enqueue(%s::jsonb)", (sys.stdin.read(),)).fetchone()[0]["job_id"])
    elif command == "insert":
        insert(connection, *sys.argv[2:4])
    elif command == "order":
        connection.execute("insert into orders values (%s)", (sys.argv[2],))
        insert(connection, *sys.argv[2:4])
        if sys.argv[4] == "rollback":
            connection.rollback()
