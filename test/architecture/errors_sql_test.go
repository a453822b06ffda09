package architecture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// inSQL matches an error that a function of the database makes: its class and its sentence, in one or more
// literals.
var (
	inSQL  = regexp.MustCompile(`'class', '([a-z_]+)',[^;]*?'message', format\(('(?:[^']|'\s*\n\s*')*')`)
	joined = regexp.MustCompile(`'\s*\n\s*'`)
)

// sql collects the sentences of the database's functions.
func (c *collector) sql(t *testing.T) {
	t.Helper()
	const folder = "internal/store/schema/functions"
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.sql"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v: %v", paths, err)
	}
	found := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inSQL.FindAllStringSubmatch(string(text), -1) {
			text := joined.ReplaceAllString(m[2], "")
			c.tasks = append(c.tasks, sentence{
				m[1], verb.ReplaceAllString(text[1:len(text)-1], "…"), "", folder + "/*.sql",
			}.split())
			found++
		}
	}
	if found < 2 {
		t.Errorf("found %d sentences in the functions of the database: the search is broken", found)
	}
}
