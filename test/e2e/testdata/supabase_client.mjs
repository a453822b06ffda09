// A frontend with supabase-js: it enqueues one task by aw_enqueue and one by a row of processing_jobs, and reads both
// back. SUPABASE_URL and SUPABASE_KEY are its access; MODULES is the folder of its packages. The file is its argument.
import { createRequire } from 'node:module'

const { createClient } = createRequire(process.env.MODULES + '/')('@supabase/supabase-js')
const supabase = createClient(process.env.SUPABASE_URL, process.env.SUPABASE_KEY, {
  auth: { persistSession: false },
  realtime: { transport: globalThis.WebSocket ?? class {} }, // not used; Node.js 20 has none
})
const file = process.argv[2]

const check = ({ data, error }) => {
  if (error) throw new Error(JSON.stringify(error))
  return data
}
check(await supabase.rpc('aw_enqueue', {
  p: {
    client_id: process.env.CLIENT_ID, task_id: 'by-rpc', task_type: 'ingest',
    payload: { filename: file, document_set: 'e2e' },
  },
}))
check(await supabase.from('processing_jobs').insert(
  { id: 'by-row', type: 'ingest', source_uri: 'blob:' + file, payload: { document_set: 'e2e' }, status: 'pending' }))
for (;;) {
  const rows = check(await supabase.from('processing_jobs').select('id,status').in('id', ['by-rpc', 'by-row']))
  if (rows.length === 2 && rows.every((row) => ['completed', 'failed'].includes(row.status))) {
    console.log(rows.map((row) => `${row.id} ${row.status}`).sort().join(', '))
    break
  }
  await new Promise((done) => setTimeout(done, 200))
}
