package doctor

// Group is checks that depend on one service. It can be skipped as a whole.
type Group string

// The groups.
const (
	Settings  Group = "settings"
	Queues    Group = "queues"
	Container Group = "container"
	Store     Group = "store"
	Models    Group = "models"
	Docling   Group = "docling"
	Webhooks  Group = "webhooks"
	Clock     Group = "clock"
	Machine   Group = "machine"
	Unit      Group = "unit"
)

// Groups are all of them.
func Groups() []Group {
	return []Group{Settings, Queues, Container, Store, Models, Docling, Webhooks, Clock, Machine, Unit}
}

// Check is one row of what the doctor prints.
type Check struct {
	Name    string
	Group   Group
	Tries   string // what is tried
	Touches string // what it leaves or moves on the live service
	Costs   string
}

// Checks are all checks, in the order in which they are printed. docs/doctor.md has them as a table.
func Checks() []Check {
	nothing := "nothing"
	return []Check{
		{"settings", Settings, "the settings can be read, and nothing in them deserves a warning", nothing, nothing},
		{"queue metadata", Queues, "Get Queue Metadata on each of the four queues", nothing, "4 operations"},
		{"queue create", Queues, "Create Queue on each",
			"creates the queues that are missing, as the worker does at its start; not with --no-create",
			"4 operations"},
		{"queue peek", Queues, "Peek Messages of each", nothing, "4 operations"},
		{"queue receive", Queues, "Get Messages of each in which nothing waits; where something waits it is " +
			"skipped, because it would be hidden, unless --take is given",
			"a message that comes in that moment (with --take one that waits) is given back at once, with 1 more in " +
				"its dequeue count, which the worker does not go by", "4 operations"},
		{"queue update", Queues, "Update Message, of the doctor's own hidden message", "see queue put",
			"4 to 8 operations"},
		{"queue delete", Queues, "Delete Message, first of a message that doesn't exist, then of the doctor's own",
			"see queue put", "8 operations"},
		{"queue put", Queues, "Put Message into each, once it is known that it can be deleted",
			"a message that is hidden from its first moment, and deleted at once; should the doctor die in between, " +
				"it expires one second after it would show, 5 minutes later", "4 operations"},
		{"container", Container, "Get Container Properties", nothing, "1 operation"},
		{"container create", Container, "Create Container",
			"creates the container when it is missing, as the worker does at its start; not with --no-create",
			"1 operation"},
		{"blob write", Container, "Put Blob, twice: a new one and the same again",
			"derived/.doctor, 17 bytes, deleted again when the key may delete", "2 writes"},
		{"blob read", Container, "Get Blob, of what was written", nothing, "1 operation"},
		{"blob delete", Container, "Delete Blob, of what was written; the worker does so only for a task that purges",
			nothing, "1 operation"},
		{"store", Store, "the database answers, and the key is this client's", nothing, "1 call"},
		{"store schema", Store, "the schema's version, vectors' width and pgvector's schema; whether somebody else " +
			"may create things in the schema", nothing, "the same call (aw_examine)"},
		{"store functions", Store, "execute on every function of the worker, and what the functions need of each other",
			nothing, "the same call"},
		{"store tables", Store, "select, insert, update, delete on every table by the role that the functions run " +
			"as, and the insert of a job", "one job, rolled back", "the same call"},
		{"row-level security", Store, "every table has the client's policy and no wider one, and the roles of " +
			"tenants reach none past the functions; another client's rows can be neither seen (about 100 pages of " +
			"each table are looked at) nor written", "one job, rolled back", "the same call"},
		{"embedding model", Models, "one embedding of one word, and its width", nothing, "1 request, about 2 tokens"},
		{"chat model", Models, "one answer of at most 16 tokens to one word", nothing, "1 request, about 25 tokens"},
		{"docling", Docling, "GET /ready, and the status of a task that doesn't exist, with the key", nothing,
			"2 requests"},
		{"webhooks", Webhooks, "DNS, the guard's verdict, a connection and TLS for --webhook-url, or the hosts of " +
			"the last 200 jobs", "a connection on which nothing is sent", "1 connection per host"},
		{"storage clock", Clock, "the Date of the storage account's answers", nothing, "1 request without a key"},
		{"store clock", Store, "the database's clock", nothing, "the same call"},
		{"disk", Machine, "room in the folder for temporary files", "an empty file, removed at once", nothing},
		{"poppler", Machine, "pdfinfo, pdftotext, pdftohtml, pdftoppm, pdfimages run", nothing, nothing},
		{"tesseract", Machine, "tesseract runs, and has data for languages", nothing, nothing},
		{"sandbox", Machine, "the kernel has what parsers are confined by: Landlock, filters of system calls", nothing,
			nothing},
		{"files", Unit, "who may read /etc/async-worker/<client>.env and its credentials: of groups only the operators'", nothing, nothing},
		{"unit", Unit, "async-worker@<client>.service is enabled", nothing, nothing},
	}
}
