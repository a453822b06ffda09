package sabotage

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// place is where a sabotage applies.
type place struct {
	file       string // from the project's folder
	text       string // of the file
	start, end int    // of what the sabotage replaces
}

// definition is the text of a function, a table or another named thing in a file.
type definition struct {
	file, text string
	start, end int
}

// find looks up the place under the project's folder. The error says what is wrong with the sabotage.
func (s Sabotage) find(root string) (place, error) {
	tokens, define, ext := goTokens, goDefinitions, ".go"
	if s.sql() {
		tokens, define, ext = sqlTokens, sqlDefinitions, ".sql"
	}
	definitions, err := lookUp(root, s.Dir, ext, s.Func, define)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	old := tokens(s.Old)
	if len(old) == 0 || same(old, tokens(s.New)) {
		return place{}, fmt.Errorf("%s: its old text is empty, or its new text is the same", s.Name)
	}
	var places []place
	for _, d := range definitions {
		for _, at := range occurrences(tokens(d.text[d.start:d.end]), old) {
			places = append(places, place{d.file, d.text, d.start + at.start, d.start + at.end})
		}
	}
	if len(places) != 1 {
		return place{}, fmt.Errorf("%s: its old text is in %s of %s %d times, want once", s.Name, s.Func, s.Dir,
			len(places))
	}
	return places[0], nil
}

func (s Sabotage) sql() bool { return strings.HasPrefix(s.Dir, schema) }

// lookUp returns the definitions of a name in the files of a folder. If several files define it, the last one counts,
// as with migrations.
func lookUp(root, dir, ext, name string, define func(file, text, name string) ([]definition, error)) (
	found []definition, err error,
) {
	files, err := filepath.Glob(filepath.Join(root, dir, "*"+ext))
	if err != nil {
		return nil, err
	}
	for _, f := range files { // sorted
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		text := string(raw)
		if word := name[strings.LastIndexByte(name, '.')+1:]; !strings.Contains(text, word) && !strings.Contains(filepath.Base(f), word) {
			continue // taking a file apart takes long
		}
		in, err := define(path.Join(dir, filepath.Base(f)), text, name)
		if err != nil {
			return nil, err
		}
		if len(in) > 0 {
			found = in
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no %s in %s", name, dir)
	}
	return found, nil
}

// goDefinitions are the functions (Type.Method for a method), variables, constants and types of a name.
func goDefinitions(file, text, name string) (found []definition, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(n string, node ast.Node) {
		if n == name {
			found = append(found, definition{
				file, text, files.Position(node.Pos()).Offset, files.Position(node.End()).Offset,
			})
		}
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(functionName(d), d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name, spec)
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						add(n.Name, spec)
					}
				}
			}
		}
	}
	return found, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	switch generic := receiver.(type) { // the name has no type parameters
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	return fmt.Sprint(receiver, ".", f.Name.Name)
}

var sqlName = regexp.MustCompile(
	`^create (?:or replace )?(?:unique )?(?:function|table|trigger|index) (?:\{\{ \.schema \}\}\.)?(\w+)`)

// sqlDefinitions are the statements that create a name. A statement that creates nothing has the file's name.
func sqlDefinitions(file, text, name string) (found []definition, err error) {
	for _, s := range sqlStatements(text) {
		is := strings.TrimSuffix(path.Base(file), ".sql")
		if m := sqlName.FindStringSubmatch(text[s.start:s.end]); m != nil {
			is = m[1]
		}
		if is == name {
			found = append(found, definition{file, text, s.start, s.end})
		}
	}
	return found, nil
}
