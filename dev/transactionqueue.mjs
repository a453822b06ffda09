// PGlite is one Postgres backend. TransactionQueue serializes the transactions of several clients on it: a client
// that sends a message while the backend is idle holds it until the backend is idle again (ReadyForQuery outside of a
// transaction). Messages of other clients wait. When another client gets the backend, the session is reset, as a
// transaction pooler with a reset query does: session state (SET, named statements, LISTEN) lasts only while one
// client alone uses the backend.
//
// It replaces pglite-socket's queue, which interleaves the messages of clients outside of transactions, leaks roles
// and settings to the next client, and stops for good after one error.

const READY_IDLE = [0x5a, 0, 0, 0, 5, 0x49] // 'Z', length 5, 'I'
const TERMINATE = 0x58 // 'X'
const EXTENDED_ROLLBACK = [
  'P\0\0\0\x10\0ROLLBACK\0\0\0', // Parse
  'B\0\0\0\x0c\0\0\0\0\0\0\0\0', // Bind
  'E\0\0\0\x09\0\0\0\0\0', // Execute
  'S\0\0\0\x04', // Sync
].map((message) => new Uint8Array(Buffer.from(message, 'latin1')))

export class TransactionQueue {
  #db
  #broken // called with the error when the backend can't be used any more
  #waiting = [] // messages in the order of arrival: { id, message, onData, resolve, reject }
  #holder = null // id of the client that holds the backend
  #previous = null // id of the last holder, to whom the session's state belongs
  #running = null // promise of the loop

  constructor(db, broken) {
    this.#db = db
    this.#broken = broken
  }

  // The four methods that PGLiteSocketHandler calls.

  enqueue(id, message, onData) {
    if (message[0] === TERMINATE && message.length === 5) return Promise.resolve(0)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, message, onData, resolve, reject })
      this.#run()
    })
  }

  getQueueLength() {
    return this.#waiting.length
  }

  clearQueueForHandler(id) {
    const dropped = this.#waiting.filter((m) => m.id === id)
    this.#waiting = this.#waiting.filter((m) => m.id !== id)
    for (const m of dropped) m.reject(new Error('the client has gone'))
  }

  // A client has gone: roll its transaction back and free the backend.
  async clearTransactionIfNeeded(id) {
    await this.idle()
    if (this.#holder !== id) return
    try {
      // It may have gone before the Sync of the extended protocol.
      for (const message of EXTENDED_ROLLBACK) await this.#send(message, () => {})
      await this.#db.exec('ROLLBACK')
    } catch (err) {
      this.#broken(err)
    }
    this.#holder = null
    this.#run()
  }

  // Resolves when no message is being processed.
  async idle() {
    while (this.#running) await this.#running
  }

  #run() {
    this.#running ??= this.#serve()
  }

  async #serve() {
    await null // otherwise finally could run before the assignment in #run
    try {
      for (let next = this.#take(); next; next = this.#take()) await this.#answer(next)
    } catch (err) {
      this.#broken(err)
    } finally {
      this.#running = null
    }
  }

  async #answer({ id, message, onData, resolve }) {
    if (this.#previous !== null && this.#previous !== id) await this.#db.exec('DISCARD ALL')
    this.#holder = this.#previous = id
    const tail = new Tail(READY_IDLE.length)
    let size = 0
    await this.#send(message, (data) => {
      size += data.length
      tail.add(data)
      onData(data)
    })
    if (tail.equals(READY_IDLE)) this.#holder = null
    resolve(size)
  }

  #send(message, onRawData) {
    return this.#db.runExclusive(() => this.#db.execProtocolRawStream(message, { onRawData }))
  }

  #take() {
    if (this.#holder === null) return this.#waiting.shift()
    const i = this.#waiting.findIndex((m) => m.id === this.#holder)
    return i < 0 ? undefined : this.#waiting.splice(i, 1)[0]
  }
}

// The last bytes of a stream of pieces.
class Tail {
  #bytes = []
  #max

  constructor(max) {
    this.#max = max
  }

  add(data) {
    this.#bytes = [...this.#bytes, ...data.subarray(-this.#max)].slice(-this.#max)
  }

  equals(bytes) {
    return this.#bytes.length === bytes.length && this.#bytes.every((b, i) => b === bytes[i])
  }
}
