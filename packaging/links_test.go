package packaging

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// The pages as packaging/pages puts them, without the rest of the package: so each `make test` looks at their links.
func TestPages(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	command(t, "./pages", root)
	data := map[string]entry{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		data[name] = entry{body: body}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	linksLead(t, data)
	manifestsAreThere(t, data)
}

// manifestsAreThere says which manifest for Kubernetes the pages name that is not in the package.
func manifestsAreThere(t *testing.T, data map[string]entry) {
	t.Helper()
	manifests, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("there are no manifests: %v", err)
	}
	for _, manifest := range manifests {
		if _, there := data["examples/"+manifest]; there {
			continue
		}
		for name, e := range data {
			if path.Ext(name) == ".md" && strings.Contains(string(e.body), path.Base(manifest)) {
				t.Errorf("%s names %s, which is not in the package: see packaging/pages", name, manifest)
			}
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)|^\[[^\]]+\]: (\S+)`)
	heading = regexp.MustCompile(`^#+ (.+)`)
)

// linksLead says which relative links of the package's pages lead to no file of it, or to no heading there.
func linksLead(t *testing.T, data map[string]entry) {
	t.Helper()
	seen := 0
	for name, e := range data {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, line := range prose(e.body) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				to := m[1] + m[2]
				if strings.Contains(to, ":") {
					continue // elsewhere
				}
				seen++
				file, anchor, _ := strings.Cut(to, "#")
				at := name
				if file != "" {
					at = path.Join(path.Dir(name), file)
				}
				target, there := data[at]
				if !there {
					t.Errorf("%s: %s leads to no file of the package: see packaging/pages", name, to)
				} else if anchor != "" && !headings(target.body)[anchor] {
					t.Errorf("%s: %s: there is no such heading", name, to)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d links were found: are they written in another way now?", seen)
	}
}

// prose are the lines of a page that are not code.
func prose(page []byte) (lines []string) {
	code := false
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code {
			lines = append(lines, line)
		}
	}
	return lines
}

// headings are the anchors of a page, as GitHub and most readers of Markdown make them.
func headings(page []byte) map[string]bool {
	all := map[string]bool{}
	for _, line := range prose(page) {
		if m := heading.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			all[strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
					return unicode.ToLower(r)
				}
				return -1
			}, m[1])] = true
		}
	}
	return all
}
