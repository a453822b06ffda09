package e2e

// What is around the snippets of docs/frontend.md: it prints a frontend as JSON.

const inJavaScript = `
import { createServer } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { uploadAddress } from './upload.mjs'
import { upload } from './browser.mjs'
import { ingest } from './ingest.mjs'
import { call, follow } from './follow.mjs'
import { watch } from './watch.mjs'
import { search } from './search.mjs'
import { enqueue } from './enqueue.mjs'
import { verify } from './verify.mjs'

const why = (promise) => Promise.resolve().then(promise).then(() => '', (error) => error.message)
const found = { stages: [] }
const arrived = Promise.withResolvers?.() ?? (() => { const d = {}; d.promise = new Promise((r) => { d.resolve = r }); return d })()
const server = createServer(async (request, response) => {
  const body = await text(request)
  found.webhook = verify(request.headers, body)
  verify(new Headers(request.headers), body, 'whsec_' + 'A'.repeat(32) + ' ' + process.env.WEBHOOK_SECRET) // one is being replaced
  found.forged = await why(() => verify(request.headers, body.replace('completed', 'failed')))
  found.secretless = await why(() => verify(request.headers, body, 'whsec_AAAA'))
  response.writeHead(204).end()
  arrived.resolve()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { address, ...stored } = await uploadAddress()
found.upload = stored.id
await upload(address, '# Tides\n\n## Spring tide\n\nTwice a month the water is highest.\n')
found.overwrite = await why(() => upload(address, 'other'))
const document = { filename: 'in/tides.md', document_set: 'sea' }
const id = await ingest(stored, document, 'http://127.0.0.1:' + server.address().port)
let first
found.job = await watch(id, (event) => { first ??= event.seq; found.stages.push(event.stage) }, { every: 50 })
found.rest = 0
for await (const event of follow(id, { every: 50, after: first })) found.rest++
await call('aw_result', {}).catch((error) => { found.fault = error.message; found.status = error.status })
found.hits = await search('spring tide')
found.unasked = await why(() => call('aw_request_cancel', { p: { client_id: process.env.TENANT, job_id: id } }))
const task = { task_id: 'at-once', task_type: 'ingest', payload: { filename: 'in/at-once.md', document_set: 'sea', blob: stored.blob } }
found.at_once = { first: await enqueue(task), second: await enqueue(task) }
found.at_once.status = (await call('aw_job', { p: { client_id: process.env.TENANT, id: 'at-once' } })).status
found.at_once.other = await why(() => enqueue({ ...task, payload: document }))
await arrived.promise
server.close()
console.log(JSON.stringify(found))
`

const inPython = `
import json, os, threading, urllib.error
from http.server import BaseHTTPRequestHandler, HTTPServer
from tasks import send
from follow import call, wait
from verify import verify

found, arrived = {}, threading.Event()

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        found["webhook"] = verify(self.headers, body)
        verify(self.headers, body, "whsec_" + "A" * 32 + "," + os.environ["WEBHOOK_SECRET"])  # one is being replaced
        try:
            verify(self.headers, body.replace(b"completed", b"failed"))
        except ValueError as error:
            found["forged"] = str(error)
        try:
            verify(self.headers, body, "whsec_AAAA")
        except ValueError as error:
            found["secretless"] = str(error)
        try:
            verify({}, body)
        except ValueError:
            pass
        try:
            verify({"webhook-id": "msg_1", "webhook-timestamp": "9" * 400}, body)
        except Exception as error:
            found["overflow"] = repr(error)
        self.send_response(204)
        self.end_headers()
        arrived.set()

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
hook = f"http://127.0.0.1:{server.server_port}"
first = send("ingest", {"filename": "in/tides & <more>.md", "document_set": "sea"}, webhook_url=hook)
found["job"] = wait(first, every=0.05)
try:
    call("aw_result", {})
except urllib.error.HTTPError as error:
    found["fault"], found["status"] = str(error), error.code
found["hits"] = call("hybrid_search", {"query_text": "spring tide", "match_count": 1})
arrived.wait(300)
print(json.dumps(found))
`
