// Runs PGlite (Postgres in WASM) with pgvector behind a loopback socket.
//
//   node pglite.mjs --port PORT [--data FOLDER]
//
// Without --data everything is in memory. SIGTERM or SIGINT checkpoints and closes the database.
// The process ends with 1 when the database itself breaks, so that its supervisor notices.
import { createServer } from 'node:net'
import { parseArgs } from 'node:util'
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketHandler } from '@electric-sql/pglite-socket'
import { openDatabase } from './newdatabase.mjs'
import { TransactionQueue } from './transactionqueue.mjs'

const MAX_CLIENTS = 16

const { values: args } = parseArgs({
  options: { port: { type: 'string' }, data: { type: 'string', default: 'memory://' } },
})

function fail(what, err) {
  console.error(`pglite: ${what}: ${err?.stack ?? err}`)
  process.exit(1)
}

const db = await openDatabase({ dataDir: args.data, extensions: { vector, btree_gin } })
const queue = new TransactionQueue(db, (err) => fail('the database broke', err))
const handlers = new Set()

const server = createServer(async (socket) => {
  const handler = new PGLiteSocketHandler({ queryQueue: queue, closeOnDetach: true })
  handlers.add(handler)
  const gone = () => handlers.delete(handler)
  handler.addEventListener('close', gone)
  handler.addEventListener('error', gone)
  await handler.attach(socket)
})
server.maxConnections = MAX_CLIENTS
server.on('error', (err) => fail('the socket broke', err))
server.listen(Number(args.port), '127.0.0.1', () => {
  console.log(`pglite: listening on 127.0.0.1:${server.address().port}, data in ${args.data}`)
})

let stopping = false
async function stop(signal) {
  if (stopping) return
  stopping = true
  console.log(`pglite: ${signal}, closing`)
  try {
    server.close()
    await Promise.all([...handlers].map((h) => h.detach(true)))
    await queue.idle()
    await db.close()
    console.log('pglite: closed')
    process.exit(0)
  } catch (err) {
    fail('closing', err)
  }
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
