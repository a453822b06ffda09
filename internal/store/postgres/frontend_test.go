package postgres_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/test/generated"
)

// TestReaderViews: docs/frontend.md has every function that a reader's key may call with each member of its argument, and every
// column that it may read.
func TestReaderViews(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/frontend.md"
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), `select format('`+"| `%s` | `%s` |"+`', c.relname, string_agg(a.attname, '`+
		"`, `"+`' order by a.attnum))
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
		where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and has_table_privilege('async_worker_reader', c.oid, 'select')
		group by c.relname order by c.relname`)
	if err != nil {
		t.Fatal(err)
	}
	table := "| view | columns |\n|---|---|\n" + strings.Join(collect(t, rows), "\n") + "\n"
	generated.Part(t, path, "views", table)

	rows, err = conn.Query(t.Context(), `select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype
		and (proname like 'aw\_%' or proname in ('hybrid_search', 'match_document_chunks')) and has_function_privilege('async_worker_reader', oid, 'execute')
		and proname !~ '^aw_(own_.*|processing_jobs|find_own|bound|caller|unbound)$'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range collect(t, rows) {
		name := functionName.FindStringSubmatch(definition)[1]
		says := about(string(content), name)
		if !strings.HasPrefix(says, "|") {
			t.Errorf("%s doesn't say what a reader calls %s for", path, name)
		}
		for _, m := range memberOfP.FindAllStringSubmatch(definition, -1) {
			if !strings.Contains(says, "`"+m[1]+"`") {
				t.Errorf("%s doesn't say that %s reads %s of its argument", path, name, m[1])
			}
		}
	}
}

var (
	functionName = regexp.MustCompile(`FUNCTION \w+\.(\w+)\(`)
	// memberOfP is a member of p that a function reads: p -> 'x', p ->> 'x', p ? 'x', p #>> '{x,…}'.
	memberOfP = regexp.MustCompile(`\bp\)? (?:->>?|#>>?|\?) '\{?(\w+)`)
)

// about is what a page says of a function: its row in a table, and the paragraphs that begin with its name.
func about(page, function string) string {
	var all []string
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| `"+function+"` |") {
			all = append(all, line)
		}
	}
	for paragraph := range strings.SplitSeq(page, "\n\n") {
		if strings.HasPrefix(paragraph, "`"+function+"` ") {
			all = append(all, paragraph)
		}
	}
	return strings.Join(all, "")
}
