package architecture_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/seed-7227ef26/async-worker"
)

// file is one Go file of the repository.
type file struct {
	path     string // from the root, with slashes
	pkg      string // the package's folder, from the root
	test     bool   // a _test.go file
	external bool   // of a package_test
	imports  []string
	lines    int
	comment  bool // it has the package's comment
}

// ours returns the part of an import path below our module.
func ours(imported string) (string, bool) {
	return strings.CutPrefix(imported, module+"/")
}

// support reports by a package's name whether it is for tests only.
func (f file) support() bool { return support(f.pkg) }

func support(pkg string) bool {
	base := path.Base(pkg)
	return strings.HasSuffix(base, "test") || strings.HasSuffix(base, "stub") || pkg == "test" ||
		strings.HasPrefix(pkg, "test/")
}

// under reports whether a package matches a pattern of the rules.
func under(pkg, pattern string) bool {
	if pattern == "..." {
		return true
	}
	prefix, tree := strings.CutSuffix(pattern, "/...")
	return pkg == prefix || tree && strings.HasPrefix(pkg, prefix+"/")
}

// sources reads the imports of all Go files. It needs neither a build nor the go command.
func sources(t *testing.T) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" ||
				name == "node_modules") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil && p != root {
				return filepath.SkipDir // a module of its own, such as test/bench/river
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") {
			f, err := read(p)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(p string) (file, error) {
	text, err := os.ReadFile(p)
	if err != nil {
		return file{}, err
	}
	tree, err := parser.ParseFile(token.NewFileSet(), p, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return file{}, err
	}
	rel, err := filepath.Rel(root, p)
	if err != nil {
		return file{}, err
	}
	rel = filepath.ToSlash(rel)
	f := file{
		path: rel, pkg: path.Dir(rel), lines: bytes.Count(text, []byte("\n")),
		test: strings.HasSuffix(rel, "_test.go"), external: strings.HasSuffix(tree.Name.Name, "_test"),
		comment: tree.Doc != nil && documents(tree.Doc, tree.Name.Name),
	}
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, err
		}
		f.imports = append(f.imports, imported)
	}
	return f, nil
}

// documents reports whether go doc shows a comment for the package.
func documents(doc *ast.CommentGroup, name string) bool {
	text := doc.Text()
	return strings.HasPrefix(text, "Package "+name) || strings.HasPrefix(text, "Command ")
}
