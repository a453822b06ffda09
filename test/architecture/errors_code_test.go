package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// code is the shipped program, as far as its errors' texts need it. Names are resolved without types: by package, and a
// method by its name alone.
type code struct {
	packages  map[string]*unit // by folder
	methods   map[string][]*callable
	functions []*callable
}

// unit is a package.
type unit struct {
	folder    string
	constants map[string]value
	variables map[string]value
	functions map[string]*callable
	structs   map[string][]string  // the names of the fields of a type
	aliases   map[string]value     // the type that another name stands for
	errors    map[string]*callable // the method Error of a type
}

// callable is a function, a method, a named function literal, or what a file declares outside of functions.
type callable struct {
	number   int // in code.functions
	unit     *unit
	path     string
	imports  map[string]string // import paths by name
	outer    *callable         // of a literal
	receiver string
	params   []string
	results  []string // their types
	variadic bool
	locals   map[string][]value
	literals map[*ast.FuncLit]*callable
	blocks   []block // outer ones first
	returns  [][]ast.Expr
	body     []ast.Node
	raises   []raised // whose text depends on a parameter
}

// value is an expression, or one of the results of a call, and the function in which it stands.
type value struct {
	expr   ast.Expr
	result int
	in     *callable
}

// program reads the code of the binary. Left out are tests and the stack of `make run`.
func program(t *testing.T) *code {
	t.Helper()
	c := &code{packages: map[string]*unit{}, methods: map[string][]*callable{}}
	trees := map[string]*ast.File{}
	for _, f := range sources(t) {
		top, _, _ := strings.Cut(f.pkg, "/")
		if f.test || support(f.pkg) || slices.Contains([]string{"dev", "packaging"}, top) ||
			slices.Contains([]string{"cmd/async-worker-dev", "internal/devstack", "internal/stack"}, f.pkg) {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.path), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		trees[f.path] = tree
	}
	for _, p := range slices.Sorted(maps.Keys(trees)) {
		c.file(p, trees[p])
	}
	return c
}

func (c *code) unit(folder string) *unit {
	if c.packages[folder] == nil {
		c.packages[folder] = &unit{
			folder: folder, constants: map[string]value{}, variables: map[string]value{},
			functions: map[string]*callable{}, structs: map[string][]string{}, aliases: map[string]value{}, errors: map[string]*callable{},
		}
	}
	return c.packages[folder]
}

func (c *code) add(f *callable) *callable {
	f.number = len(c.functions)
	f.locals, f.literals = map[string][]value{}, map[*ast.FuncLit]*callable{}
	c.functions = append(c.functions, f)
	return f
}

func (c *code) file(p string, tree *ast.File) {
	u, imports := c.unit(path.Dir(p)), map[string]string{}
	for _, spec := range tree.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the file has been parsed
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = imported
	}
	top := c.add(&callable{unit: u, path: p, imports: imports})
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.GenDecl:
			top.body = append(top.body, decl)
			top.declare(decl)
		case *ast.FuncDecl:
			if decl.Body == nil {
				continue
			}
			f := c.add(&callable{unit: u, path: p, imports: imports, body: []ast.Node{decl.Body}})
			f.signature(decl.Type)
			c.scan(f, decl.Body)
			name := decl.Name.Name
			if decl.Recv == nil {
				u.functions[name] = f
				continue
			}
			if names := decl.Recv.List[0].Names; len(names) == 1 {
				f.receiver = names[0].Name
			}
			c.methods[name] = append(c.methods[name], f)
			if name == "Error" {
				u.errors[receiver(decl)] = f
			}
		}
	}
	for _, node := range top.body {
		c.scan(top, node)
	}
}

func receiver(decl *ast.FuncDecl) string {
	e := decl.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	return typeName(e)
}

// typeName is the name of a type of this package, or of the language.
func typeName(e ast.Expr) string {
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// declare reads a file's constants, variables and types of structs.
func (f *callable) declare(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if s, ok := spec.Type.(*ast.StructType); ok {
				f.unit.structs[spec.Name.Name] = fieldNames(s.Fields)
			}
			if spec.Assign.IsValid() {
				f.unit.aliases[spec.Name.Name] = value{expr: spec.Type, in: f}
			}
		case *ast.ValueSpec:
			for i, name := range spec.Names {
				if i >= len(spec.Values) {
					break
				}
				into := f.unit.constants
				if decl.Tok == token.VAR {
					into = f.unit.variables
				}
				into[name.Name] = value{expr: spec.Values[i], in: f}
			}
		}
	}
}

func fieldNames(list *ast.FieldList) (names []string) {
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		if len(field.Names) == 0 {
			names = append(names, "") // embedded, or not named
		}
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

func (f *callable) signature(t *ast.FuncType) {
	f.params = fieldNames(t.Params)
	if t.Results != nil {
		for _, field := range t.Results.List {
			for range max(1, len(field.Names)) {
				f.results = append(f.results, typeName(field.Type))
			}
		}
	}
	if n := len(t.Params.List); n > 0 {
		_, f.variadic = t.Params.List[n-1].Type.(*ast.Ellipsis)
	}
}
