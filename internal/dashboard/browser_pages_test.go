package dashboard_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// accessibility is the levels of WCAG that each page keeps.
const accessibility = `axe.run(document, {runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa",
	"wcag22aa"]}, resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help,
	nodes: v.nodes.map(n => n.html.slice(0, 200) + " " + n.any.map(a => a.message).join("; "))}))))`

// axe is the source of axe-core, of dev/package.json.
func axe(t *testing.T) string {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, "dev", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core is missing: npm --prefix dev ci")
	}
	return string(source)
}

// Every page, light and dark and on a telephone: nothing that keeps people out, nothing wider than the screen, no error of
// a script or of the policy, and everything can be reached by the keyboard.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	source := axe(t)
	pages := b.furnish().addresses()
	pages["sign-in"] = "login"
	w := b.browse("operate")
	for name, path := range pages {
		w.open(path)
		is[bool](w, source+";true")
		for _, how := range []struct {
			scheme string
			width  int64
		}{{"light", 1280}, {"dark", 1280}, {"light", 360}} {
			w.scheme(how.scheme)
			w.do(chromedp.EmulateViewport(how.width, 860))
			if wide := is[int](w, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
				t.Errorf("%s is %d pixels wider than %d", name, wide, how.width)
			}
			var found []struct {
				ID, Help string
				Nodes    []string
			}
			if err := json.Unmarshal([]byte(is[string](w, accessibility)), &found); err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Errorf("%s, %s, %d: %s: %s\n\t%s", name, how.scheme, how.width, f.ID, f.Help, strings.Join(f.Nodes, "\n\t"))
			}
			if bad := is[[]string](w, unreachable); len(bad) > 0 {
				t.Errorf("%s: the keyboard does not reach %s", name, strings.Join(bad, ", "))
			}
		}
	}
	w.quiet()
}

// unreachable are the controls that can't have the focus.
const unreachable = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
	.filter(e => e.checkVisibility() && !e.disabled).filter(e => { e.focus(); return document.activeElement !== e; })
	.map(e => e.outerHTML.slice(0, 120))`
