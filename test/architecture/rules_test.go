package architecture_test

// A rule lists which of our packages a part of the repository may import. A path matches that package alone,
// path/... all below it as well. The rule with the longest matching path counts.
type rule struct {
	of    string
	may   []string
	since string // why it may import no more
}

// Packages that all others share. They import nothing of ours but each other.
const (
	taskWords  = "internal/task"
	jobWords   = "internal/job"
	taskErrors = "internal/taskerr"
)

// waiting is how to wait and to retry. Everything but the shared packages may import it.
const waiting = "internal/retry"

// addresses is how an address of a service is parsed. Everything but the shared packages may import it.
const addresses = "internal/httpurl"

// naming is the rules for names that others define. Everything but the shared packages may import it.
const naming = "internal/naming"

// patterns are regular expressions that are compiled when they are used. Everything but the shared packages may import
// it.
const patterns = "internal/pattern"

// piiKinds names the kinds of personal data.
const piiKinds = "internal/privacy/kind"

// natsKeys tells the forms of a login to NATS from each other.
const natsKeys = "internal/natsconn/natskey"

// signatures reads Azure's shared access signatures.
const signatures = "internal/azure/sas"

// connectionStrings parses Azure's connection strings.
const connectionStrings = "internal/azure/connstring"

// databaseURLs parses DATABASE_URL.
const databaseURLs = "internal/store/databaseurl"

// traceHeaders reads the headers for the collector of spans.
const traceHeaders = "internal/tracing/headers"

// callGuard decides which addresses of tenants may be called.
const callGuard = "internal/guard"

// rules are the arrows of ARCHITECTURE.md: cmd → app → (engine, handlers, webhook) → (queue, store, blob, extract,
// chunk, llm) → (task, job).
func rules() []rule {
	return []rule{
		{taskWords, nil, "everything else is about tasks"},
		{jobWords, []string{taskWords}, "everything else is about jobs"},
		{taskErrors, []string{taskWords}, "anything that a task runs may fail"},

		{"internal/disk", []string{}, "it asks the system"},
		{"internal/child/...", []string{"internal/disk"}, "it runs a program and knows nothing of documents"},
		{
			"internal/docling/...",
			[]string{"internal/docling", "internal/tracing", taskErrors},
			"it talks to docling-serve, about documents and about pages",
		},
		{
			"internal/picture",
			[]string{"internal/blob", "internal/blob/dir", "internal/child", "internal/deck/preview", taskErrors},
			"it draws a page of a blob, and knows nothing of the index",
		},
		{"internal/wellformed", nil, "it checks XML and JSON of any origin"},
		{
			"internal/gateway/...",
			[]string{"internal/gateway", "internal/wellformed", "internal/tracing", taskErrors},
			"it talks to the gateway, and knows nothing of tasks",
		},
		{
			"internal/einvoice/...",
			[]string{"internal/einvoice/...", "internal/child", "internal/wellformed", taskErrors},
			"it looks into a PDF, and knows nothing of tasks",
		},
		{"internal/event", nil, "anything may log an event"},
		{waiting, nil, "anything may wait"},
		{addresses, nil, "anything may call a service"},
		{naming, nil, "anything may name what others define"},
		{patterns, nil, "anything may match text"},
		{callGuard, nil, "anything may call an address that a tenant chose"},
		{"internal/httpurl/httpurltest", nil, "it is for tests of clients"},
		{"internal/tracing", []string{traceHeaders}, "any call to a service may be traced"},
		{traceHeaders, nil, "settings hold them, too"},
		{databaseURLs, nil, "settings and back ends parse it"},
		{signatures, nil, "settings hold them, too"},
		{connectionStrings, []string{signatures}, "settings hold them, too"},
		{"internal/logging/...", []string{"internal/event"}, "anything may log"},
		{"internal/apitoken", nil, "it makes tokens, and knows nothing of calls"},
		{
			"internal/config/...",
			[]string{
				"webhook/signing", "internal/apitoken", piiKinds, natsKeys, connectionStrings, databaseURLs, signatures,
				traceHeaders, taskWords,
			},
			"settings are read before anything is built",
		},
		{
			"internal/tenants/...",
			[]string{"internal/config", "internal/disk"},
			"it keeps the files of a machine's tenants, and runs no worker",
		},
		{"internal/tenantkey", nil, "it signs, and knows nothing of what the keys allow"},
		{"systemd/...", nil, "any daemon can use it"},
		{"internal/httpd/...", nil, "it serves any handler"},
		{"internal/front", []string{"internal/httpd", taskWords}, "it hands requests on, and knows nothing of what they say"},
		{"internal/azure/...", []string{connectionStrings, signatures, taskErrors}, "queue/azure and blob/azure share it"},
		{"internal/natsconn", []string{}, "queue/nats and events/nats share it"},
		{natsKeys, nil, "settings hold them, too"},

		{
			"queue/...",
			[]string{"queue/...", "internal/tracing", "internal/azure", "internal/natsconn", natsKeys, taskWords, taskErrors},
			"a back end doesn't know its users",
		},
		{
			"queue/postgres/...",
			[]string{"queue", "internal/store/rpc", taskErrors},
			"it calls functions of the database, as the store does",
		},
		{
			"queue/pgmq/...",
			[]string{"queue", "queue/postgres", "internal/store/rpc", databaseURLs, taskErrors},
			"it is queue/postgres with other SQL",
		},
		{
			"internal/store/...",
			[]string{"internal/store/...", "internal/tracing", taskWords, jobWords, taskErrors},
			"a back end doesn't know its users",
		},
		{
			"internal/blob/...",
			[]string{"internal/blob/...", "internal/tracing", "internal/azure", "internal/disk", taskWords, taskErrors},
			"a back end doesn't know its users",
		},
		{
			"internal/ocr/...",
			[]string{"internal/ocr/...", "internal/child", "internal/docling", taskWords, taskErrors},
			"an engine reads an image and knows nothing of documents",
		},
		{
			"internal/ocr/vision",
			[]string{"internal/ocr", "internal/llm", taskErrors},
			"it asks a model about an image, and knows nothing of documents",
		},
		{
			"internal/extract/...",
			[]string{
				"internal/extract/...", "internal/ocr", "internal/ocr/pages",
				"internal/child", "internal/docling", taskWords, taskErrors,
			},
			"an extractor only makes blocks from bytes",
		},
		{
			"internal/llm/...",
			[]string{"internal/llm/...", "internal/tracing", taskWords, taskErrors},
			"a model's client doesn't know its users",
		},
		{
			"internal/rerank/...",
			[]string{"internal/rerank/...", "internal/tracing", taskErrors},
			"it rates texts, of any origin",
		},
		{
			"internal/search",
			[]string{"internal/llm", "internal/store"},
			"it is the one way to search, and knows no back end and no service",
		},
		{
			"internal/situate",
			[]string{"internal/llm", "internal/llm/prompt"},
			"it asks a model about chunks, and knows nothing of tasks",
		},
		{
			"internal/chunk/...",
			[]string{"internal/extract", "internal/llm", "internal/chunk/...", taskWords},
			"a chunker only makes chunks from blocks",
		},

		{
			"internal/deck/...",
			[]string{"internal/deck/...", "internal/extract/...", "internal/child", taskErrors},
			"it reads and writes decks, and knows nothing of tasks",
		},
		{
			"internal/deck",
			[]string{taskErrors},
			"readers and writers of decks share the model",
		},
		{
			"internal/derived/...",
			[]string{"internal/extract", "internal/ocr"},
			"it writes what others have extracted",
		},
		{
			"internal/source/...",
			[]string{"internal/blob", callGuard, taskErrors},
			"it fetches a document, for any task",
		},
		{
			"internal/enrich/...",
			[]string{"internal/extract", "internal/chunk"},
			"it classifies blocks and chunks, and makes none",
		},
		{"internal/evidence/...", nil, "it compares texts, of any origin"},
		{piiKinds, nil, "settings and detectors name kinds"},
		{
			"internal/privacy/...",
			[]string{"internal/privacy/...", "internal/tracing", "internal/extract", taskErrors},
			"a detector looks at texts, of any origin",
		},

		{
			"internal/message/...",
			[]string{"internal/store", "internal/blob", taskWords},
			"it makes messages, and sends none",
		},
		{
			"internal/children",
			[]string{"queue", "internal/store", "internal/blob", "internal/message", taskWords},
			"it submits jobs, and knows no back end and no handler",
		},
		{
			"internal/upkeep/...",
			[]string{"internal/store", "internal/blob", "internal/message", taskWords},
			"it keeps any store small",
		},
		{
			"internal/feed/...",
			[]string{"internal/store", taskErrors},
			"it hands out what any store has",
		},
		{
			"internal/events/...",
			[]string{"internal/events", "internal/store", "internal/event", "internal/natsconn", natsKeys},
			"it publishes what any store has",
		},
		{
			"internal/schedule/...",
			[]string{"internal/store", "internal/message", "internal/event", taskWords, taskErrors},
			"it makes jobs in any store",
		},
		{
			"internal/cognee/...",
			[]string{"internal/store", "internal/event"},
			"it sends what any store has",
		},
		{"webhook/signing", nil, "settings and receivers read secrets, too"},
		{"webhook/receiver", []string{}, "it knows webhooks as a frontend does"},
		{
			"webhook/...",
			[]string{"webhook/signing", "internal/store", "internal/tracing", "internal/event", callGuard, taskWords, taskErrors},
			"it delivers what the outbox holds",
		},
		{
			"handlers/...",
			[]string{
				"handlers", "internal/store", "internal/blob", "internal/source", "internal/extract",
				"internal/extract/pageimage",
				"internal/extract/reading", "internal/derived", "internal/ocr", "internal/ocr/pages", "internal/chunk",
				"internal/llm", "internal/llm/prompt", "internal/search", "internal/situate",
				"internal/enrich", "internal/evidence", "internal/privacy", "internal/gateway", "internal/einvoice",
				"internal/wellformed", "internal/child", taskWords, jobWords, taskErrors,
				"internal/deck/...",
			},
			"a handler knows interfaces, but no back end and no other handler",
		},
		{
			"internal/engine/...",
			[]string{
				"internal/engine/...", "handlers", "internal/tracing", "queue", "internal/store", "internal/blob",
				"internal/message", "internal/event", taskWords, jobWords, taskErrors,
			},
			"the engine knows interfaces, but no back end",
		},
		{
			"internal/replay/...",
			[]string{"queue", "internal/store", "internal/blob", "internal/message", taskWords, jobWords},
			"it replays what commands request, and knows interfaces, but no back end",
		},
		{
			"internal/api/...",
			[]string{
				"queue", "internal/store", "internal/feed", "internal/blob", "internal/message", "internal/replay",
				"internal/schedule", "internal/apitoken", "internal/search", taskWords, jobWords, taskErrors,
			},
			"it serves interfaces over HTTP, and knows no back end and no engine",
		},
		{
			"internal/dashboard/...",
			[]string{"internal/api", "internal/apitoken", "internal/feed", "internal/store", taskWords, jobWords, taskErrors},
			"it makes pages of what the API does, and has no right of its own",
		},
		{
			"internal/mcp",
			[]string{"handlers/agent"},
			"it gives the agent's tools to other programs",
		},
		{
			"internal/doctor/...",
			[]string{"queue", "internal/store", "internal/blob", "internal/llm", "internal/azure", "internal/disk", taskErrors},
			"it tries interfaces, and knows of a back end only the names of its rights",
		},
		{
			"internal/devstack/...",
			[]string{
				"internal/app", "internal/config", "internal/logging", "internal/search", "internal/stack", "internal/store",
				"internal/store/schema", "internal/engine",
				"internal/apitoken", "internal/blob", "internal/gateway/gatewaytest", "queue", "webhook", "webhook/receiver", taskWords,
			},
			"it shows the worker on a local stack",
		},
		{
			"internal/metrics/...",
			[]string{
				"internal/engine", "internal/events", "internal/cognee", "internal/llm", "internal/schedule", "internal/store",
				"queue", "webhook", taskWords, jobWords,
				taskErrors,
			},
			"it counts what others report, and reads their state",
		},
		{
			"internal/app/...",
			[]string{"internal/...", "handlers/...", "queue/...", "webhook", "systemd"},
			"it wires everything, and only commands start it",
		},
		{
			"internal/cli",
			[]string{
				"internal/app/...", "internal/config", "internal/logging", "internal/store", "internal/store/schema",
				"internal/cognee", "internal/dashboard", "internal/doctor", "internal/event", "internal/front", "internal/httpd",
				"internal/tenants", "internal/tenantkey",
				"internal/replay", "internal/blob", "internal/extract", "internal/feed", "internal/apitoken", "internal/schedule",
				"internal/search", "queue", "webhook", "webhook/signing", "systemd", taskWords, jobWords, taskErrors,
			},
			"commands get back ends from internal/app",
		},
		{"cmd/async-worker", []string{"internal/cli", "internal/app"}, "it only starts the command line"},
		{
			"cmd/async-worker-dev",
			[]string{"internal/cli", "internal/app", "internal/devstack"},
			"it runs the worker's program, and shows jobs as its commands do",
		},

		// Support of tests and of the local stack.
		{
			"internal/stack/...",
			[]string{"internal/disk", "internal/stack/...", "internal/store/schema", "internal/tenantkey"},
			"it starts programs",
		},
		{
			"handlers/handlertest",
			[]string{"handlers", "internal/blob/dir", "internal/store/...", taskWords},
			"it is for tests of handlers",
		},
		{"internal/llm/llmtest", []string{"internal/llm/..."}, "it is for tests"},
		{"dev/...", nil, "it makes what is checked in under dev"},
		{"packaging/...", []string{"internal/config"}, "it looks at the program from outside, as a package does"},
		{
			"packaging/manual",
			[]string{"internal/cli", "internal/app", "internal/config"},
			"it writes down what the program says of itself",
		},
		{"test/...", []string{"..."}, "its suites need more than one package"},
	}
}

// upper are the packages that no test of a package below may import.
func upper() []string {
	return []string{"internal/app/...", "internal/devstack/...", "internal/engine/...", "internal/cli/...", "cmd/..."}
}

// unshipped are what the daemon's program may not import, not even by way of another package: the local stack and the
// generators of pages, which only a source tree needs.
func unshipped() []string {
	return []string{
		module + "/internal/devstack/...", module + "/internal/stack/...", module + "/internal/llm/llmtest",
		module + "/internal/rerank/reranktest",
		module + "/webhook/receiver", module + "/internal/gateway/gatewaytest", module + "/internal/einvoice/einvoicetest",
		"github.com/cpuguy83/go-md2man/...", "github.com/spf13/cobra/doc",
	}
}
