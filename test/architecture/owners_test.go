package architecture_test

// owner is the only package, apart from tests, that may import a foreign module: so it can be exchanged.
type owner struct {
	module string
	by     []string
}

func owners() []owner {
	return []owner{
		{
			"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue",
			[]string{"queue/azure/...", "internal/azure", "test/..."},
		},
		{
			"github.com/nats-io",
			[]string{"queue/nats/...", "internal/events/nats", "internal/natsconn/...", "test/..."},
		},
		{
			"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob",
			[]string{"internal/blob/azure/...", "internal/azure", "test/..."},
		},
		{
			"github.com/Azure/azure-sdk-for-go",
			[]string{
				"internal/azure/...", "queue/azure/...", "internal/blob/azure/...", "internal/app/...", "test/...",
			},
		},
		// Exit codes tell a refused login from a server that is down; migrate talks to Postgres directly.
		{
			"github.com/jackc/pgx/v5/pgconn",
			[]string{"internal/store/...", "internal/stack/...", "internal/cli", "queue/pgmq", "test/..."},
		},
		{"github.com/jackc/pgx", []string{"internal/store/...", "internal/stack/...", "queue/pgmq", "test/..."}},
		{"github.com/golang-jwt/jwt", []string{"internal/tenantkey", "internal/api"}},
		{"github.com/danielgtaylor/huma", []string{"internal/api"}},
		{"github.com/netresearch/go-cron", []string{"internal/schedule"}},
		{"github.com/rs/cors", []string{"internal/api"}},
		{"github.com/modelcontextprotocol/go-sdk", []string{"internal/mcp", "test/..."}},
		{"github.com/cenkalti/backoff", []string{waiting}},
		{"github.com/hashicorp/go-retryablehttp", []string{waiting}},
		{"github.com/jackc/tern", []string{"internal/store/schema/..."}},
		{"github.com/supabase-community", []string{"internal/store/supabase/..."}},
		{"github.com/sashabaranov/go-openai", []string{"internal/llm/openai/..."}},
		{"github.com/RadhiFadlillah/whatlanggo", []string{"internal/enrich"}},
		{"github.com/tiktoken-go/tokenizer", []string{"internal/llm/token/..."}},
		{"github.com/santhosh-tekuri/jsonschema", []string{"handlers/agent"}},
		{"github.com/xuri/excelize", nil},                                                                  // it takes half a megabyte of each idle worker; tests read with it
		{"codeberg.org/go-pdf/fpdf", []string{"internal/deck/pdf", "internal/extract/native/pdf/content"}}, // of the latter, for metrics
		{"github.com/spf13/cobra/doc", []string{"packaging/manual"}},
		{"github.com/cpuguy83/go-md2man", []string{"packaging/manual"}},
		{"github.com/spf13/cobra", []string{"internal/cli"}},
		{"code.dny.dev/ssrf", []string{callGuard}},
		{"go.opentelemetry.io", []string{"internal/tracing"}},
		{"github.com/prometheus", []string{"internal/metrics/...", "test/..."}},
		{"github.com/coreos/go-systemd", []string{"systemd/...", "internal/logging/..."}},
	}
}
