package sabotage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOccurrences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tokens   func(string) []lexeme
		text, of string
		want     string // each part, then |
	}{
		"re-indented":         {goTokens, "{\n\tf(1)\n\t\t\tg()\n}", "f(1); g()", "f(1)\n\t\t\tg()|"},
		"broken line":         {goTokens, "f(\n\ta,\n\tb,\n)\n", "f(a, b)", "f(\n\ta,\n\tb,\n)|"},
		"comment":             {goTokens, "f() // why\n/* or */ g()", "f(); g() // what", "f() // why\n/* or */ g()|"},
		"comma before more":   {goTokens, "f(a, b)", "f(a)", ""},
		"part of a name":      {goTokens, "after(a)", "ter(a)", ""},
		"text":                {goTokens, `f("a  b")`, `"a b"`, ""},
		"twice":               {goTokens, "a++; a++", "a++", "a++|a++|"},
		"SQL in two lines":    {sqlTokens, "where a -- why; 'tis\n  and  b", "a and b", "a -- why; 'tis\n  and  b|"},
		"SQL without blanks":  {sqlTokens, "f( a,b )", "f(a, b)", "f( a,b )|"},
		"SQL, part of a name": {sqlTokens, "aw_begin_new(p)", "begin_new(p)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, s := range occurrences(c.tokens(c.text), c.tokens(c.of)) {
				got.WriteString(c.text[s.start:s.end] + "|")
			}
			if got.String() != c.want {
				t.Errorf("%q in %q: %q, want %q", c.of, c.text, got.String(), c.want)
			}
		})
	}
}

func TestLookUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package a\n\nfunc (e *Engine) settle() { one() }\n\nfunc settle() { two() }\n\n" +
			"var limit, most = 1, 2\n",
		"b.go": "package a\n\nfunc (r ring[T]) next() { three() }\n\nconst (\n\tx = 1\n\ty = 2\n)\n",
		"001_a.sql": "-- It's first; really.\ncreate function {{ .schema }}.aw_f() as $$ begin a; end $$;\n" +
			"do $$ begin 'x;y'; end $$;\n-- on t\ncreate unique index once on t (a);\nalter table t set x = ';';\n",
		"002_b.sql": "create or replace function aw_f() as $$ begin b; end $$;\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"Engine.settle": "func (e *Engine) settle() { one() }|",
		"settle":        "func settle() { two() }|",
		"most":          "limit, most = 1, 2|",
		"ring.next":     "func (r ring[T]) next() { three() }|",
		"y":             "y = 2|",
		"Engine.begin":  "",
	} {
		check(t, dir, ".go", name, goDefinitions, want)
	}
	for name, want := range map[string]string{
		"aw_f":  "create or replace function aw_f() as $$ begin b; end $$;|",
		"once":  "create unique index once on t (a);|",
		"001_a": "do $$ begin 'x;y'; end $$;|alter table t set x = ';';|",
		"aw_g":  "",
	} {
		check(t, dir, ".sql", name, sqlDefinitions, want)
	}
}

func check(
	t *testing.T, dir, ext, name string, define func(file, text, name string) ([]definition, error), want string,
) {
	t.Helper()
	found, err := lookUp(dir, ".", ext, name, define)
	if want == "" && err == nil || want != "" && err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var got strings.Builder
	for _, d := range found {
		got.WriteString(d.text[d.start:d.end] + "|")
	}
	if got.String() != want {
		t.Errorf("%s: %q, want %q", name, got.String(), want)
	}
}
