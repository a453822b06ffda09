package doctor

// Group is a set of checks that depend on one service and can be skipped together.
type Group string

// The groups.
const (
	Settings  Group = "settings"
	Queues    Group = "queues"
	Container Group = "container"
	Store     Group = "store"
	Models    Group = "models"
	Privacy   Group = "privacy"
	Docling   Group = "docling"
	Gateway   Group = "gateway"
	Webhooks  Group = "webhooks"
	Events    Group = "events"
	Cognee    Group = "cognee"
	Clock     Group = "clock"
	Machine   Group = "machine"
	Unit      Group = "unit"
)

// Groups returns all groups.
func Groups() []Group {
	return []Group{
		Settings, Queues, Container, Store, Models, Privacy, Docling, Gateway, Webhooks, Events, Cognee, Clock, Machine, Unit,
	}
}

// Check is one check of the doctor.
type Check struct {
	Name    string
	Group   Group
	Tries   string // what it tries
	Touches string // what it leaves or moves on the live service
	Costs   string
}

// Checks returns all checks in the order of the report. docs/doctor.md has them as a table.
func Checks() []Check {
	nothing := "nothing"
	return []Check{
		{"settings", Settings, "the settings can be read, without warnings", nothing, nothing},
		{"queue metadata", Queues, "Get Queue Metadata on each of the four queues", nothing, "4 operations"},
		{
			"queue create", Queues, "Create Queue on each",
			"creates the queues that are missing, as the worker does at its start; not with --no-create",
			"4 operations",
		},
		{"queue peek", Queues, "Peek Messages of each", nothing, "4 operations"},
		{
			"queue receive", Queues, "Get Messages of each queue in which nothing waits; where something waits it is " +
				"skipped, because it would be hidden, unless --take is given",
			"a message that arrives at that moment (with --take one that waits) is released at once, with 1 more in " +
				"its dequeue count, which the worker ignores", "4 operations",
		},
		{
			"queue update", Queues, "Update Message, of the doctor's own hidden message", "see queue put",
			"4 to 8 operations",
		},
		{
			"queue delete", Queues, "Delete Message, first of a message that doesn't exist, then of the doctor's own",
			"see queue put", "8 operations",
		},
		{
			"queue put", Queues, "Put Message into each, if Delete Message is allowed",
			"a message that is hidden from the start, and deleted at once; if the doctor dies in between, " +
				"it expires after 5 minutes, one second after it becomes visible", "4 operations",
		},
		{
			"container", Container, "Get Container Properties; of a folder (BLOB_DIR) of a tenant of the machine, as root, whether its " +
				"owner may use it and what is in it, of which 2,000 files and folders are looked at", nothing, "1 operation",
		},
		{
			"container create", Container, "Create Container",
			"creates the container when it is missing, as the worker does at its start; not with --no-create, nor the folder of a " +
				"tenant of the machine",
			"1 operation",
		},
		{
			"blob write", Container, "Put Blob, twice: a new one and the same again",
			"derived/.doctor, 17 bytes, deleted again when the key may delete", "2 writes",
		},
		{"blob read", Container, "Get Blob, of what was written", nothing, "1 operation"},
		{
			"blob delete", Container, "Delete Blob, of what was written; the worker does so only for a task that purges, and for old messages",
			nothing, "1 operation",
		},
		{
			"blob list", Container, "List Blobs, of what was written; the worker does so only for a task with a prefix or that purges, and " +
				"for old messages", nothing, "1 operation",
		},
		{
			"blob sign", Container, "Get User Delegation Key, with an identity; else a signature is made here; not if EXPORT_URL_HOURS is 0",
			nothing, "1 operation",
		},
		{"store", Store, "the database answers, and the key belongs to this client", nothing, "1 call"},
		{"store schema", Store, "the schema's version, vectors' width and pgvector's schema; whether other roles " +
			"may create things in the schema", nothing, "the same call (aw_examine)"},
		{
			"store functions", Store, "execute on every function of the worker, and on what the functions call",
			nothing, "the same call",
		},
		{"store tables", Store, "select, insert, update, delete on every table by the role that the functions run " +
			"as, and the insert of a job", "one job, rolled back", "the same call"},
		{"row-level security", Store, "every table has the client's policy and no wider one, and the roles of " +
			"tenants reach none past the functions; another client's rows can be neither seen (about 100 pages of " +
			"each table are looked at) nor written", "one job, rolled back", "the same call"},
		{
			"indexed vectors", Store, "whether the documents' vectors are by the worker's model; of 2,000 documents at most",
			nothing, "the same call",
		},
		{"embedding model", Models, "one embedding of one word, and its width", nothing, "1 request, about 2 tokens"},
		{"chat model", Models, "one answer of at most 16 tokens to one word", nothing, "1 request, about 25 tokens"},
		{"context model", Models, "one answer of at most 16 tokens to one word, if CONTEXT_MODE is model", nothing, "1 request, about 25 tokens"},
		{"OCR model", Models, "one answer of at most 16 tokens to one word, if OCR_ENGINE is openai", nothing, "1 request, about 25 tokens"},
		{"re-ranker", Models, "one rating of one word, if RERANK_URL is set", nothing, "1 request, which may be paid for"},
		{"personal data", Privacy, "one word is sent to PII_DETECTOR_URL, which is asked whether it finds PII_KINDS", nothing, "a few requests"},
		{
			"docling", Docling, "GET /ready, and the status of a task that doesn't exist, with the key", nothing,
			"2 requests",
		},
		{"gateway", Gateway, "GET of GATEWAY_HEALTH_PATH; no document is sent", nothing, "1 request, which is not paid for"},
		{"webhooks", Webhooks, "DNS, the check against private addresses, a connection and TLS for " +
			"--webhook-url, or the hosts of " +
			"the last 200 jobs", "a connection on which nothing is sent", "1 connection per host"},
		{
			"events", Events, "EVENTS_URL: a connection to NATS and the stream of a subject, or a request with an empty " +
				"batch", nothing, "1 request",
		},
		{"cognee", Cognee, "GET /api/v1/datasets with the key", nothing, "1 request"},
		{
			"cognee outbox", Cognee, "what Cognee refused, what was given up, and what has waited for more than an hour",
			nothing, "1 call of the database",
		},
		{"storage clock", Clock, "the Date of the storage account's answers", nothing, "1 request without a key"},
		{"store clock", Store, "the database's clock", nothing, "the same call"},
		{
			"disk", Machine, "free space in the folder for temporary files, which is the worker's cache for a tenant of the machine",
			"an empty file, removed at once; nothing in a worker's cache", nothing,
		},
		{
			"memory", Machine, "PARSER_MEMORY_MB and 256 MiB fit into MemoryHigh= and MemoryMax= of a tenant's unit, else into the " +
				"limits of the control group that the doctor is in", nothing, nothing,
		},
		{"poppler", Machine, "pdfinfo, pdftotext, pdftohtml, pdftoppm, pdfimages, pdfdetach run", nothing, nothing},
		{"tesseract", Machine, "tesseract runs, and has data for languages", nothing, nothing},
		{"libreoffice", Machine, "LibreOffice and its modules are installed", nothing, nothing},
		{
			"sandbox", Machine, "the kernel can sandbox parsers: Landlock, filters of system calls", nothing,
			nothing,
		},
		{
			"files", Unit, "who may read /etc/async-worker/<client>.env and its credentials: no group but the operators; and " +
				"/etc/default/async-worker, if secrets are in it",
			nothing, nothing,
		},
		{"unit", Unit, "async-worker@<client>.service is enabled", nothing, nothing},
	}
}
