package pgmq

// statements are the functions of queue/postgres on pgmq: one statement each, of the arguments ($1, jsonb). %s is the
// queue's table, which pgmq documents as its interface for what no function does. A receipt is the number of reads:
// pgmq has none of its own, and pgmq.delete and set_vt take the id of anybody's message.
//
// aw_queue_ensure asks the catalog what the table is: the flags in pgmq.meta stay when somebody alters the table.
//
// Source: https://github.com/pgmq/pgmq/blob/main/docs/api/sql/functions.md
var statements = map[string]string{
	"aw_queue_ensure": `with made as (
		select pgmq.create(($1) ->> 'queue') where not exists (select from pgmq.meta where queue_name = ($1) ->> 'queue')
		), kept as (
			select c.relpersistence = 'u' as unlogged, c.relkind = 'p' as partitioned
			from pg_class c join pg_namespace n on n.oid = c.relnamespace
			where n.nspname = 'pgmq' and c.relname = 'q_' || lower(($1) ->> 'queue')
		)
		select jsonb_build_object('created', (select count(*) from made),
			'unlogged', (select bool_or(unlogged) from kept), 'partitioned', (select bool_or(partitioned) from kept))`,

	// A message is a JSON string: jsonb would change the text of an object.
	"aw_queue_send": `select jsonb_build_object('id', s::text, 'receipt', '0') from pgmq.send(
		($1) ->> 'queue', ($1) -> 'text', ` + delay + `) s`,
	// Headers came with pgmq 1.5.
	"aw_queue_send_ttl": `select jsonb_build_object('id', s::text, 'receipt', '0') from pgmq.send(
		($1) ->> 'queue', ($1) -> 'text', jsonb_build_object('` + expiry + `',
			extract(epoch from clock_timestamp()) + (($1) ->> 'ttl_ms')::float8 / 1000), ` + delay + `) s`,

	"aw_queue_receive": `with received as materialized (
			select r.*, ` + expires + ` as expires_at
			from pgmq.read(($1) ->> 'queue', ` + visibility + `, (($1) ->> 'n')::int) r
		), expired as materialized (
			select pgmq.delete(($1) ->> 'queue', r.msg_id) from received r where r.expires_at <= clock_timestamp()
		)
		select jsonb_build_object('expired', (select count(*) from expired), 'after', '', 'messages', coalesce(
			jsonb_agg(` + shown + ` || jsonb_build_object('receipt', m.read_ct::text) order by m.msg_id)
				filter (where m.expires_at is null or m.expires_at > clock_timestamp()), '[]'))
		from received m`,

	"aw_queue_extend": `with ` + held + `, moved as materialized (
			select pgmq.set_vt(($1) ->> 'queue', h.msg_id, ` + visibility + `) from held h)
		select jsonb_build_object('held', (select count(*) from moved) > 0)`,
	"aw_queue_release": `with ` + held + `, moved as materialized (
			select pgmq.set_vt(($1) ->> 'queue', h.msg_id, ` + delay + `) from held h)
		select jsonb_build_object('held', (select count(*) from moved) > 0)`,
	"aw_queue_delete": `with ` + held + `, deleted as materialized (
			select pgmq.delete(($1) ->> 'queue', h.msg_id) from held h)
		select jsonb_build_object('held', (select count(*) from deleted) > 0,
			'gone', not exists (select from %[1]s m where m.msg_id = (($1) ->> 'id')::bigint))`,

	"aw_queue_delete_all": `with requested as materialized (
			select distinct on (r.m ->> 'id') (r.m ->> 'id')::bigint as id, (r.m ->> 'receipt')::int as receipt, r.n
			from jsonb_array_elements(($1) -> 'messages') with ordinality as r(m, n) order by r.m ->> 'id', r.n
		), held as materialized (
			select m.msg_id, r.n from requested r join %[1]s m on m.msg_id = r.id and m.read_ct = r.receipt
			for update of m skip locked
		), deleted as materialized (
			select pgmq.delete(($1) ->> 'queue', h.msg_id), h.n from held h)
		select jsonb_build_object('deleted', coalesce(jsonb_agg(d.n), '[]')) from deleted d`,

	"aw_queue_peek": `select jsonb_build_object('messages', coalesce(jsonb_agg(` + shown + ` order by m.msg_id), '[]'))
		from (select r.*, ` + expires + ` as expires_at from %[1]s r
			where r.vt <= clock_timestamp() order by r.msg_id limit (($1) ->> 'n')::int) m`,
	"aw_queue_depth": `select jsonb_build_object('depth', (select count(*) from %[1]s), 'queue', ($1) -> 'queue')`,
	"aw_queue_tidy":  `select ($1)`,
}

const (
	// expiry is the header with the time at which a message expires, in seconds since 1970: pgmq has no time to live.
	expiry = "async-worker-expires-at"

	// expires is the time in the header of a message r; null if it is none. An error would hold up all messages behind it.
	// The version before wrote the time as text: of that the day is added to the first of its month, which always exists.
	expires = `case when jsonb_typeof(to_jsonb(r) #> '{headers,` + expiry + `}') = 'number' then to_timestamp(
		least(greatest((to_jsonb(r) #>> '{headers,` + expiry + `}')::numeric, 0), 1e11)::float8)
		when to_jsonb(r) #>> '{headers,` + expiry + `}' ~
			'^[1-9]\d{3}-(0[1-9]|1[0-2])-[0-3]\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?[+-](0\d|1[0-4]):[0-5]\d$'
		then overlay(to_jsonb(r) #>> '{headers,` + expiry + `}' placing '01' from 9)::timestamptz
			+ make_interval(days => substr(to_jsonb(r) #>> '{headers,` + expiry + `}', 9, 2)::int - 1) end`

	delay      = `ceil(coalesce((($1) ->> 'delay_ms')::float8, 0) / 1000)::int`
	visibility = `ceil((($1) ->> 'visibility_ms')::float8 / 1000)::int`

	// held locks the message, if nobody has read it since.
	held = `held as materialized (select m.msg_id from %[1]s m where m.msg_id = (($1) ->> 'id')::bigint
		and m.read_ct = (($1) ->> 'receipt')::int for update)`

	// shown is a message m. Others send objects, of any size: more of a text than any task has is not read, because the texts
	// of a batch have to fit into one JSON value, which has a limit, and into memory.
	shown = `jsonb_build_object('id', m.msg_id::text, 'dequeue_count', m.read_ct, 'inserted_at', m.enqueued_at,
		'expires_at', m.expires_at,
		'text', left(case jsonb_typeof(m.message) when 'string' then m.message #>> '{}' else m.message::text end, ` + mostText + `))`

	mostText = "1048577" // characters: task.MaxBytes and one, so that a longer text is still too long
)
