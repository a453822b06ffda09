package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/generated"
)

// asProgram in the environment makes the test's program the one that it tests.
const asProgram = "ASYNC_WORKER_TEST_AS_PROGRAM"

const nobody = 65534

// tableCommands are the commands of the table, with what they need to do something.
func tableCommands() []string {
	return []string{
		"enqueue --filename a.pdf --document-set s", "ask why", "summarize a.pdf", "search cranes", "documents list",
		"jobs list", "jobs get t1", "jobs watch t1", "jobs cancel t1", "jobs retry t1",
		"dlq list", "dlq show d1", "dlq replay d1", "dlq purge d1 --yes", "queue", "webhooks list",
		"check-config", "doctor", "migrate", "token sign --role reader", "status", "tenant list", "version",
	}
}

// circumstance is the state of a machine on which a command runs.
type circumstance struct {
	name  string
	about string
	make  func(t *testing.T, root string) // what is in /etc
	user  uint32                          // 0: root
}

func circumstances() []circumstance {
	down := func(t *testing.T, root string) {
		t.Helper()
		putTenant(t, root, "southhaven", "127.0.0.1:1")
	}
	return []circumstance{
		{
			"nothing set", "no tenant on the machine, and no setting in the environment", func(*testing.T, string) {}, 0,
		},
		{"services down", "one tenant, and nobody listens where its services should be", down, 0},
		{
			"services hang", "one tenant, and its services take connections and say nothing; most commands give up after " +
				databasePatience.String(),
			func(t *testing.T, root string) {
				t.Helper()
				putTenant(t, root, "southhaven", silent(t))
			}, 0,
		},
		{"many tenants", "two tenants, and no `--tenant`", func(t *testing.T, root string) {
			t.Helper()
			down(t, root)
			putTenant(t, root, "east-bay", "127.0.0.1:1")
		}, 0},
		{"not root", "one tenant, and a user who may not read its files", down, nobody},
	}
}

// longConnect: on a busy machine the time for a connection, 10 s, may be over when databasePatience is noticed to be.
const longConnect = "?connect_timeout=60"

// putTenant makes the files of a tenant, all of whose services are at one address.
func putTenant(t *testing.T, root, name, addr string) {
	t.Helper()
	etc := filepath.Join(root, tenantsDir)
	credentials := filepath.Join(etc, "credentials", name)
	if err := errors.Join(os.MkdirAll(etc, 0o755), os.MkdirAll(credentials, 0o700)); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(etc, name+".env"):              "LLM_PROVIDER=offline\n",
		filepath.Join(credentials, "DATABASE_URL"):   "postgres://worker:TopSecret@" + addr + "/db" + longConnect,
		filepath.Join(credentials, "OPENAI_API_KEY"): "sk-TopSecret",
		filepath.Join(credentials, "AZURE_STORAGE_CONNECTION_STRING"): "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=VG9wU2VjcmV0QWNjb3VudEtleQ==;" +
			"BlobEndpoint=http://" + addr + "/devstoreaccount1;QueueEndpoint=http://" + addr + "/devstoreaccount1;",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// silent is an address that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestCommandTable: what each command says in each circumstance is in docs/commands.md. Each says what is wrong and
// what to do about it, in lines that fit a page, and no secret.
func TestCommandTable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be a user who may not read a tenant's files")
	}
	folder, self := openFolder(t)
	table := map[string][]outcome{} // by command, in the order of circumstances
	for _, command := range tableCommands() {
		table[command] = make([]outcome, len(circumstances()))
	}
	var all sync.WaitGroup
	few := make(chan struct{}, 8) // most of the time they wait for what does not answer
	for n, c := range circumstances() {
		root := filepath.Join(folder, strings.ReplaceAll(c.name, " ", "-"))
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		c.make(t, root)
		for _, command := range tableCommands() {
			got := &table[command][n]
			all.Go(func() {
				few <- struct{}{}
				defer func() { <-few }()
				*got = outcomeOf(t, self, root, c, command)
			})
		}
	}
	all.Wait()
	generated.File(t, filepath.Join("..", "..", "docs", "commands.md"), document(table))
}

// document is a table of exit codes, and below it what was said, each once.
func document(table map[string][]outcome) string {
	var b, texts strings.Builder
	b.WriteString("# Commands\n\n" +
		"<!-- made by: make docs (TestCommandTable of internal/cli) -->\n\n" +
		"`async-worker COMMAND --help` and the manual pages say more. On a machine with tenants, commands take " +
		"`--tenant NAME`.\n\n" +
		commandList() +
		"\n## What each says when something is missing\n\n" +
		"Exit codes: 0 fine, 1 failed, 2 usage, 69 a service is down, 75 try again, 77 permission, 78 " +
		"configuration, 130\n" +
		"interrupted. The number behind a code is that of what the command says, below; `check-config` and `doctor` " +
		"say more.\n\n")
	head, line := "| command |", "|---|"
	for _, c := range circumstances() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", c.name, c.about)
		head += " " + c.name + " |"
		line += "---|"
	}
	b.WriteString("\n" + head + "\n" + line + "\n")
	numbers := map[string]int{}
	for _, command := range tableCommands() {
		fmt.Fprintf(&b, "| `%s` |", command)
		for _, o := range table[command] {
			if o.text == "" {
				fmt.Fprintf(&b, " %d |", o.code)
				continue
			}
			if numbers[o.text] == 0 {
				numbers[o.text] = len(numbers) + 1
				fmt.Fprintf(&texts, "\n%d.\n\n```\n%s```\n", numbers[o.text], o.text)
			}
			fmt.Fprintf(&b, " %d (%d) |", o.code, numbers[o.text])
		}
		b.WriteString("\n")
	}
	return b.String() + texts.String()
}
