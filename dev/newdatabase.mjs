// openDatabase opens a PGlite. To create a database takes WASM several seconds of processor time, so the first one that
// is created is kept beside the packages, and others begin as copies of it.
import { PGlite } from '@electric-sql/pglite'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

// `npm ci` and `make clean` remove it with the packages.
const { version } = JSON.parse(readFileSync(here('node_modules/@electric-sql/pglite/package.json'), 'utf8'))
const KEPT = here(`node_modules/.cache/async-worker/pglite-${version}.tar.gz`)

export async function openDatabase(options) {
  if (options.dataDir !== 'memory://' && existsSync(join(options.dataDir, 'PG_VERSION'))) return PGlite.create(options)
  const copy = await kept()
  if (copy !== null) return PGlite.create({ ...options, loadDataDir: new Blob([copy]) })
  const db = await PGlite.create(options)
  await keep(db).catch((err) => console.error(`pglite: the new database is not kept: ${err.message}`))
  return db
}

// kept is the tar of the first database; null: there is none, or it is damaged, which gzip's checksum tells.
async function kept() {
  try {
    return await promisify(gunzip)(await readFile(KEPT))
  } catch (err) {
    if (err.code !== 'ENOENT') console.error(`pglite: ${KEPT} can't be used, it is made again: ${err.message}`)
    return null
  }
}

// keep is safe beside other processes that do the same: the file appears whole, or not at all.
async function keep(db) {
  await db.exec('checkpoint')
  const copy = await db.dumpDataDir('none')
  const part = `${KEPT}.${process.pid}`
  try {
    await mkdir(dirname(KEPT), { recursive: true })
    await writeFile(part, await promisify(gzip)(Buffer.from(await copy.arrayBuffer()), { level: 1 }))
    await rename(part, KEPT)
  } finally {
    await rm(part, { force: true })
  }
}
