// PGlite is one Postgres backend. Turns lets several clients share it without seeing each other:
// who sends a message when nobody has a turn gets one, and keeps it until the backend is idle again
// (ReadyForQuery outside of a transaction). Messages of others wait meanwhile. When the turn passes
// to another client the session is reset, as a transaction pooler with a reset query does: what a
// client keeps in its session (SET, named statements, LISTEN) lasts while it is the only one.
//
// It takes the place of pglite-socket's own queue, which interleaves the messages of clients outside
// of transactions, leaves roles and settings to the next client, and stops for good after one error.

const READY_IDLE = [0x5a, 0, 0, 0, 5, 0x49] // 'Z', length 5, 'I'
const TERMINATE = 0x58 // 'X'
const EXTENDED_ROLLBACK = [
  'P\0\0\0\x10\0ROLLBACK\0\0\0', // Parse
  'B\0\0\0\x0c\0\0\0\0\0\0\0\0', // Bind
  'E\0\0\0\x09\0\0\0\0\0', // Execute
  'S\0\0\0\x04', // Sync
].map((message) => new Uint8Array(Buffer.from(message, 'latin1')))

export class Turns {
  #db
  #broken // called with the error when the backend can't be used any more
  #waiting = [] // messages in the order of their coming: { id, message, onData, resolve, reject }
  #turn = null // id of the client whose turn it is
  #last = null // id of the client who had the last turn: what is in the session is its
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

  // A client has gone: what it was doing is rolled back, and its turn ends.
  async clearTransactionIfNeeded(id) {
    await this.idle()
    if (this.#turn !== id) return
    try {
      // It may have gone between two messages of the extended protocol, before its Sync.
      for (const message of EXTENDED_ROLLBACK) await this.#send(message, () => {})
      await this.#db.exec('ROLLBACK')
    } catch (err) {
      this.#broken(err)
    }
    this.#turn = null
    this.#run()
  }

  // Resolves when no message is being worked on.
  async idle() {
    while (this.#running) await this.#running
  }

  #run() {
    this.#running ??= this.#serve()
  }

  async #serve() {
    await null // or an end without any wait would come before the assignment in #run
    try {
      for (let next = this.#take(); next; next = this.#take()) await this.#answer(next)
    } catch (err) {
      this.#broken(err)
    } finally {
      this.#running = null
    }
  }

  async #answer({ id, message, onData, resolve }) {
    if (this.#last !== null && this.#last !== id) await this.#db.exec('DISCARD ALL')
    this.#turn = this.#last = id
    const tail = new Tail(READY_IDLE.length)
    let size = 0
    await this.#send(message, (data) => {
      size += data.length
      tail.add(data)
      onData(data)
    })
    if (tail.equals(READY_IDLE)) this.#turn = null
    resolve(size)
  }

  #send(message, onRawData) {
    return this.#db.runExclusive(() => this.#db.execProtocolRawStream(message, { onRawData }))
  }

  #take() {
    if (this.#turn === null) return this.#waiting.shift()
    const i = this.#waiting.findIndex((m) => m.id === this.#turn)
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
