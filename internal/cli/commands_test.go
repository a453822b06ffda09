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

// arguments are what the commands of the table get, to do something.
func arguments() map[string]string {
	return map[string]string{
		"ask": "why", "check-config": "", "cognee off": "", "cognee reconcile": "", "cognee retry": "", "cognee status": "",
		"dlq list": "", "dlq purge": "d1 --yes", "dlq replay": "d1", "dlq show": "d1", "doctor": "",
		"documents delete": "a.pdf --set s --yes", "documents list": "",
		"enqueue": "--filename a.pdf --document-set s", "extract": "a.pdf", "jobs cancel": "t1", "jobs get": "t1",
		"jobs list": "", "jobs retry": "t1", "jobs watch": "t1", "mcp": "", "migrate": "", "queue": "", "reload": "",
		"schedules add":  "nightly --cron @daily --type agent --payload '{\"prompt\":\"why\"}'",
		"schedules list": "", "schedules pause": "nightly", "schedules remove": "nightly", "schedules resume": "nightly",
		"search": "cranes", "status": "", "summarize": "a.pdf",
		"tenant add": "harbour --llm-provider offline", "tenant edit": "southhaven", "tenant list": "",
		"tenant remove": "southhaven --yes", "token add": "web --scope read", "token list": "", "token remove": "web",
		"token sign": "--role reader", "version": "", "webhooks list": "", "webhooks resend": "m1",
	}
}

// endless are commands that are not in the table.
func endless() map[string]string {
	return map[string]string{
		"run":             "it ends when it is stopped",
		"front":           "it ends when it is stopped",
		"webhooks listen": "it ends when it is stopped",
	}
}

// tableCommands are all commands with their arguments, in the order of help.
func tableCommands(t *testing.T) (lines []string) {
	t.Helper()
	known, without := arguments(), endless()
	for _, c := range leaves((&program{}).newRootCommand("")) {
		name := nameOf(c)
		more, ok := known[name]
		switch {
		case ok:
			lines = append(lines, strings.TrimSpace(name+" "+more))
		case without[name] == "":
			t.Errorf("%s is not in the table: give its arguments, or say why it can't be there", name)
		}
		delete(known, name)
		delete(without, name)
	}
	for name := range known {
		t.Errorf("there is no command %s", name)
	}
	for name := range without {
		t.Errorf("there is no command %s", name)
	}
	return lines
}

// circumstance is the state of a machine on which a command runs.
type circumstance struct {
	name    string
	about   string
	tenants []string
	address func(t *testing.T) string // of the tenants' services
	user    uint32                    // 0: root
}

func circumstances() []circumstance {
	south := []string{"southhaven"}
	return []circumstance{
		{"nothing set", "no tenant on the machine, and no setting in the environment", nil, nobodyListens, 0},
		{"services down", "one tenant, and nobody listens where its services should be", south, nobodyListens, 0},
		{
			"services hang", "one tenant, and its services take connections and say nothing; most commands give up after " +
				databasePatience.String(), south, silent, 0,
		},
		{"many tenants", "two tenants, and no `--tenant`", []string{"southhaven", "east-bay"}, nobodyListens, 0},
		{"not root", "one tenant, and a user who may not read its files", south, nobodyListens, nobody},
	}
}

// nobodyListens is an address on which nobody listens.
func nobodyListens(*testing.T) string { return "127.100.100.1:1" }

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
	commands := tableCommands(t)
	table := map[string][]outcome{} // by command, in the order of circumstances
	for _, command := range commands {
		table[command] = make([]outcome, len(circumstances()))
	}
	var all sync.WaitGroup
	few := make(chan struct{}, 8) // most of the time they wait for what does not answer
	for n, c := range circumstances() {
		addr := c.address(t)
		for m, command := range commands {
			// a machine of its own, as some change it; the paths have the same length
			root := filepath.Join(folder, fmt.Sprintf("%d-%02d", n, m))
			if err := os.Mkdir(root, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, tenant := range c.tenants {
				putTenant(t, root, tenant, addr)
				// as the package makes it, see packaging/debian/tmpfiles.conf
				if err := os.Chmod(filepath.Join(root, tenantsDir), 0o750); err != nil {
					t.Fatal(err)
				}
			}
			got := &table[command][n]
			all.Go(func() {
				few <- struct{}{}
				defer func() { <-few }()
				*got = outcomeOf(t, self, root, addr, c, command)
			})
		}
	}
	all.Wait()
	text := document(commands, table)
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > maxHelpWidth && !strings.HasPrefix(line, "|") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	generated.File(t, filepath.Join("..", "..", "docs", "commands.md"), text)
}

// document is a table of exit codes, and below it what was said, each once.
func document(commands []string, table map[string][]outcome) string {
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
		"say more.\n\n" +
		"Not in the table are `run`, `front` and `webhooks listen`, which end when they are stopped. `migrate` has no " +
		"tenant:\nit gets the services' DATABASE_URL from the environment.\n\n")
	head, line := "| command |", "|---|"
	for _, c := range circumstances() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", c.name, c.about)
		head += " " + c.name + " |"
		line += "---|"
	}
	b.WriteString("\n" + head + "\n" + line + "\n")
	numbers := map[string]int{}
	for _, command := range commands {
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
