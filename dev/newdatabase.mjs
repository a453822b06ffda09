// openDatabase opens a PGlite. To create a database takes WASM several seconds of processor time, so the first one that
// is created is kept beside the packages, and others begin as copies of it.
import { PGlite } from '@electric-sql/pglite'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// `npm ci` removes it with the packages: it is always of the version that is installed.
const KEPT = fileURLToPath(new URL('node_modules/.cache/async-worker/new-database.tar.gz', import.meta.url))

export async function openDatabase(options) {
  const { dataDir } = options
  if (dataDir !== 'memory://' && existsSync(join(dataDir, 'PG_VERSION'))) return PGlite.create(options)
  const kept = await readFile(KEPT).catch(() => null)
  if (kept !== null) {
    try {
      const db = await PGlite.create({ ...options, loadDataDir: new Blob([kept], { type: 'application/x-gzip' }) })
      await db.query('select 1')
      return db
    } catch (err) {
      console.error(`pglite: ${KEPT} can't be used, a database is created: ${err?.message ?? err}`)
      await rm(KEPT, { force: true })
      if (dataDir !== 'memory://') {
        await rm(dataDir, { recursive: true, force: true })
        await mkdir(dataDir, { recursive: true, mode: 0o700 })
      }
    }
  }
  const db = await PGlite.create(options)
  await keep(db).catch((err) => console.error(`pglite: the new database is not kept: ${err?.message ?? err}`))
  return db
}

// keep is safe beside other processes that do the same: the file appears whole, or not at all.
async function keep(db) {
  await db.exec('checkpoint')
  const copy = await db.dumpDataDir('gzip')
  const part = `${KEPT}.${process.pid}`
  try {
    await mkdir(dirname(KEPT), { recursive: true })
    await writeFile(part, Buffer.from(await copy.arrayBuffer()))
    await rename(part, KEPT)
  } finally {
    await rm(part, { force: true })
  }
}
