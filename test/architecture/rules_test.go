package architecture_test

// A rule says what a part of the repository may import of ours. A path stands for that package alone,
// path/... for all beneath it as well. The rule with the longest matching path counts.
type rule struct {
	of    string
	may   []string
	since string // why the arrow ends where it ends
}

// The words that all share. They import nothing of ours but each other.
const (
	taskWords  = "internal/task"
	jobWords   = "internal/job"
	taskErrors = "internal/taskerr"
)

// waiting is how to wait and to try again. Everything but the words may import it.
const waiting = "internal/retry"

// rules is the picture in ARCHITECTURE.md: cmd → app → (engine, handlers, webhook) → (queue, store, blob,
// extract, chunk, llm) → (task, job).
func rules() []rule {
	return []rule{
		{taskWords, nil, "it is what everything else speaks of"},
		{jobWords, []string{taskWords}, "it is what everything else speaks of"},
		{taskErrors, []string{taskWords}, "anything that a task runs may fail"},

		{"internal/child/...", []string{}, "it runs a program and knows nothing of documents"},
		{"internal/docling/...", []string{"internal/docling", "internal/tracing", taskErrors},
			"it talks to docling-serve, for whoever wants a document or a page of text"},
		{"internal/event", nil, "anything may log an event"},
		{waiting, nil, "anything may wait"},
		{"internal/tracing", nil, "any call to a service may be traced"},
		{"internal/logging/...", []string{"internal/event"}, "anything may log"},
		{"internal/config/...", []string{taskWords}, "settings are read before anything is built"},
		{"internal/tenants/...", []string{"internal/config"},
			"it keeps the files of a machine's tenants, and runs none"},
		{"internal/tenantkey", nil, "it signs, and knows nothing of what the keys open"},
		{"systemd/...", nil, "it is of use to any daemon"},
		{"internal/httpd/...", nil, "it serves, and knows nothing of what"},
		{"internal/azure/...", []string{taskErrors}, "it is what queue/azure and blob/azure share"},

		{"queue/...", []string{"queue/...", "internal/tracing", "internal/azure", taskWords, taskErrors},
			"a back end never knows who uses it"},
		{"internal/store/...", []string{"internal/store/...", "internal/tracing", taskWords, jobWords, taskErrors},
			"a back end never knows who uses it"},
		{"internal/blob/...", []string{"internal/blob/...", "internal/tracing", "internal/azure", taskWords, taskErrors},
			"a back end never knows who uses it"},
		{"internal/ocr/...", []string{"internal/ocr/...", "internal/child", "internal/docling", taskWords, taskErrors},
			"an engine reads an image and knows nothing of documents"},
		{"internal/ocr/vision", []string{"internal/ocr", "internal/llm", taskErrors},
			"it asks a model about an image, and knows nothing of documents"},
		{"internal/extract/...", []string{"internal/extract/...", "internal/ocr", "internal/ocr/pages",
			"internal/child", "internal/docling", taskWords, taskErrors},
			"an extractor makes blocks of bytes and no more"},
		{"internal/llm/...", []string{"internal/llm/...", "internal/tracing", taskWords, taskErrors},
			"a model's client never knows who asks"},
		{"internal/chunk/...", []string{"internal/extract", "internal/llm", "internal/chunk/...", taskWords},
			"a chunker makes chunks of blocks and no more"},

		{"internal/derived/...", []string{"internal/extract", "internal/ocr"},
			"it writes what others have read"},
		{"internal/source/...", []string{"internal/blob", taskErrors}, "it fetches a blob, for whatever task"},
		{"internal/enrich/...", []string{"internal/extract", "internal/chunk"},
			"it tells of blocks and chunks what they are, and makes none"},
		{"internal/evidence/...", nil, "it compares texts, and never knows whose"},
		{"internal/privacy/...", []string{"internal/privacy/...", "internal/tracing", "internal/extract", taskErrors},
			"a detector looks at texts, and never knows whose"},

		{"internal/message/...", []string{"internal/store", "internal/blob", taskWords},
			"it makes the text of a message, and sends none"},
		{"internal/upkeep/...", []string{"internal/store", taskWords},
			"it keeps the store small, whatever the store is"},
		{"webhook/...", []string{"internal/store", "internal/tracing", "internal/event", taskWords},
			"it delivers what the outbox holds"},
		{
			"handlers/...",
			[]string{
				"handlers", "internal/store", "internal/blob", "internal/source", "internal/extract",
				"internal/extract/pageimage",
				"internal/extract/reading", "internal/derived", "internal/ocr", "internal/ocr/pages", "internal/chunk",
				"internal/llm",
				"internal/enrich", "internal/evidence", "internal/privacy", taskWords, jobWords, taskErrors,
			},
			"a handler knows interfaces, never a back end and never another handler",
		},
		{
			"internal/engine/...",
			[]string{
				"internal/engine/...", "handlers", "internal/tracing", "queue", "internal/store", "internal/blob",
				"internal/message", "internal/event", taskWords, jobWords, taskErrors,
			},
			"the engine knows interfaces, never a back end",
		},
		{
			"internal/replay/...",
			[]string{"queue", "internal/store", "internal/blob", "internal/message", taskWords, jobWords},
			"it does again what commands ask for, and knows interfaces, never a back end",
		},
		{
			"internal/doctor/...",
			[]string{"queue", "internal/store", "internal/blob", "internal/llm", "internal/azure", taskErrors},
			"it tries interfaces, and knows a back end only by what the storage account calls its rights",
		},
		{
			"internal/devstack/...",
			[]string{
				"internal/app", "internal/config", "internal/logging", "internal/stack", "internal/store",
				"internal/store/schema", "internal/engine",
				"internal/blob", "queue", "webhook", taskWords,
			},
			"it is the worker on a local stack, shown to somebody",
		},
		{
			"internal/metrics/...",
			[]string{"internal/engine", "internal/llm", "internal/store", "queue", "webhook", taskWords, jobWords, taskErrors},
			"it counts what others tell it of, and reads their state",
		},
		{"internal/app/...", []string{"internal/...", "handlers/...", "queue/...", "webhook", "systemd"},
			"it wires everything, and nothing but a command starts it"},
		{
			"cmd/...",
			[]string{
				"cmd/...", "internal/app/...", "internal/devstack", "internal/config", "internal/logging",
				"internal/stack", "internal/store", "internal/store/schema",
				"internal/doctor", "internal/event", "internal/httpd", "internal/tenants", "internal/tenantkey",
				"internal/replay", "internal/blob", "internal/extract",
				"queue", "webhook", "systemd", taskWords, jobWords, taskErrors,
			},
			"commands get back ends from internal/app",
		},

		// Support of tests and of the local stack.
		{"internal/stack/...", []string{"internal/stack/...", "internal/store/schema", "internal/tenantkey"},
			"it starts programs"},
		{"handlers/handlertest", []string{"handlers", "internal/blob/dir", "internal/store/...", taskWords},
			"it is for tests of handlers"},
		{"internal/llm/llmtest", []string{"internal/llm/..."}, "it is for tests"},
		{"dev/...", nil, "it makes what is checked in under dev"},
		{"packaging/...", []string{"internal/config"}, "it looks at the program from outside, as a package does"},
		{"test/...", []string{"..."}, "its suites need more than one package"},
	}
}

// upper are the packages that no test of a package below may import either.
func upper() []string {
	return []string{"internal/app/...", "internal/devstack/...", "internal/engine/...", "cmd/..."}
}

// owner says where alone a foreign module may be imported, tests apart: so that it can be exchanged.
type owner struct {
	module string
	by     []string
}

func owners() []owner {
	return []owner{
		{"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue",
			[]string{"queue/azure/...", "internal/azure", "test/..."}},
		{"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob",
			[]string{"internal/blob/azure/...", "internal/azure", "test/..."}},
		{"github.com/Azure/azure-sdk-for-go",
			[]string{
				"internal/azure/...", "queue/azure/...", "internal/blob/azure/...", "internal/app/...", "test/...",
			}},
		// Exit codes tell a refused login from a server that is down; migrate talks to Postgres directly.
		{"github.com/jackc/pgx/v5/pgconn", []string{"internal/store/...", "internal/stack/...", "cmd/...", "test/..."}},
		{"github.com/jackc/pgx", []string{"internal/store/...", "internal/stack/...", "test/..."}},
		{"github.com/golang-jwt/jwt", []string{"internal/tenantkey"}},
		{"github.com/cenkalti/backoff", []string{waiting}},
		{"github.com/hashicorp/go-retryablehttp", []string{waiting}},
		{"github.com/jackc/tern", []string{"internal/store/schema/..."}},
		{"github.com/supabase-community", []string{"internal/store/supabase/..."}},
		{"github.com/sashabaranov/go-openai", []string{"internal/llm/openai/..."}},
		{"github.com/RadhiFadlillah/whatlanggo", []string{"internal/enrich"}},
		{"github.com/tiktoken-go/tokenizer", []string{"internal/llm/token/..."}},
		{"github.com/santhosh-tekuri/jsonschema", []string{"handlers/agent"}},
		{"github.com/spf13/cobra", []string{"cmd/..."}},
		{"code.dny.dev/ssrf", []string{"webhook"}},
		{"go.opentelemetry.io", []string{"internal/tracing"}},
		{"github.com/prometheus", []string{"internal/metrics/...", "test/..."}},
		{"github.com/coreos/go-systemd", []string{"systemd/...", "internal/logging/..."}},
	}
}
