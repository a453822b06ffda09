package schema

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
)

type script struct{ name, sql string }

// vectorSchema asks for the schema of pgvector: on Supabase it is extensions, which need not exist elsewhere.
const vectorSchema = `select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_extension e
	join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`

// functions are the rendered scripts of functions/, in order: the settings of their transaction first, with a search path so that built-in
// names in their heads, and in bodies that are parsed when they are made, are found nowhere else.
func functions(o Options, vector string) ([]script, error) {
	return render([]script{{"settings", limitLocks + "set local search_path = " + path}}, sub("functions"), o.data(vector))
}

func render(scripts []script, dir fs.FS, data map[string]any) ([]script, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t, err := template.New(name).Option("missingkey=error").ParseFS(dir, name)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		var sql bytes.Buffer
		if err := t.Execute(&sql, data); err != nil {
			return nil, fmt.Errorf("render %s: %w", name, err)
		}
		scripts = append(scripts, script{name, strings.TrimSpace(sql.String())})
	}
	return scripts, nil
}

func sub(dir string) fs.FS {
	s, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only a malformed constant does that
	}
	return s
}
