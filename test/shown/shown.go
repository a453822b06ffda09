// Package shown finds the commands of async-worker that documents, the journal's catalog, manual pages and the program
// itself print. Tests hold them against the commands that there are, and run them on an installed package.
package shown

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Line is a command that a text prints.
type Line struct {
	Where string   // file:line
	Words []string // after the program's name
	Sudo  bool     // it is printed for root
	Short bool     // without the program's name: `jobs get ID`
	Span  bool     // it is in a sentence's code span, which may name the command alone
	Prose bool     // a sentence may go on behind it
}

func (l Line) String() string { return l.Where + ": async-worker " + strings.Join(l.Words, " ") }

// In reports whether a file of that name prints the line.
func (l Line) In(name string) bool { return strings.HasPrefix(l.Where, name+":") }

// Catalog and Runbooks are read by operators of an installed package.
const (
	Catalog  = "systemd/async-worker.catalog"
	Runbooks = "docs/runbooks.md"
)

// errorList is generated from the code, and has remedies outside of code spans.
const errorList = "docs/errors.md"

// Find returns what the files below the module's folder print.
func (r Parser) Find(root string) ([]Line, error) {
	f := finder{groups: r.groups()}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, path := range append(pages, filepath.Join(root, "README.md")) {
		// commands.md is what commands say, in lines that are broken anywhere
		if name := f.open(root, path); name != errorList && name != "docs/commands.md" {
			f.markdown()
		} else if name == errorList {
			f.prose()
		}
	}
	manuals, err := filepath.Glob(filepath.Join(root, "packaging", "man", "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range manuals {
		f.open(root, path)
		f.text = strings.NewReplacer(".B ", "", `\-`, "-", `\fB`, "", `\fR`, "", `\fI`, "").Replace(f.text)
		f.text = regexp.MustCompile(`(?m)^\..*$`).ReplaceAllString(f.text, "") // other macros
		f.prose()
	}
	f.open(root, filepath.Join(root, Catalog))
	f.text = regexp.MustCompile(`(?m)^(#|--|[A-Z][a-zA-Z-]+:) .*$`).ReplaceAllString(f.text, "") // fields of an entry
	f.prose()
	for _, folder := range []string{"internal", "handlers", "queue", "webhook", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				err = f.source(root, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return f.found, f.err
}

type finder struct {
	groups []string
	name   string // of the file
	text   string // of the file, or of a string in it
	first  int    // the line on which text begins
	found  []Line
	err    error
}

// open reads a file.
func (f *finder) open(root, path string) (name string) {
	text, err := os.ReadFile(path)
	if err != nil && f.err == nil {
		f.err = err
	}
	f.name, f.text, f.first = strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(root)+"/"), string(text), 1
	return f.name
}

// blocks calls do for each line, or each paragraph as one line, of the text. fence: the line is in one; with a prompt in
// it, only lines with a prompt are commands. plain: an indented line is a block of its own, and no part of a list.
func (f *finder) blocks(plain bool, do func(where, block string, fence bool)) {
	lines := strings.Split(f.text, "\n")
	for i := 0; i < len(lines); i++ {
		where := fmt.Sprintf("%s:%d", f.name, f.first+i)
		switch line := strings.TrimLeft(lines[i], " "); {
		case strings.HasPrefix(line, "```"):
			begin := i + 1
			for i = begin; i < len(lines) && !strings.HasPrefix(strings.TrimLeft(lines[i], " "), "```"); {
				i++
			}
			prompts := slices.ContainsFunc(lines[begin:i], func(s string) bool { return strings.HasPrefix(s, "$ ") })
			for j := begin; j < i; j++ {
				where, command := fmt.Sprintf("%s:%d", f.name, f.first+j), lines[j]
				for ; strings.HasSuffix(command, `\`) && j+1 < i; j++ {
					command = strings.TrimSuffix(command, `\`) + strings.TrimLeft(lines[j+1], " ")
				}
				if !prompts || strings.HasPrefix(command, "$ ") {
					do(where, strings.TrimPrefix(command, "$ "), true)
				}
			}
		case line == "" || strings.HasPrefix(line, "|"):
			do(where, line, false)
		default:
			paragraph := lines[i]
			for ; i+1 < len(lines) && goesOn(plain, paragraph, lines[i+1]); i++ {
				paragraph = strings.TrimSuffix(paragraph, `\`) + " " + strings.TrimSpace(lines[i+1])
			}
			do(where, paragraph, false)
		}
	}
}

// goesOn reports whether a line continues a paragraph.
func goesOn(plain bool, paragraph, next string) bool {
	if strings.HasSuffix(paragraph, `\`) {
		return true
	}
	if plain && (strings.HasPrefix(paragraph, "  ") || strings.HasPrefix(next, "  ")) {
		return false
	}
	text := strings.TrimLeft(next, " ")
	return text != "" && !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "|")
}

// markdown finds commands in fences and code spans.
func (f *finder) markdown() {
	span := regexp.MustCompile("`([^`]+)`")
	f.blocks(false, func(where, block string, fence bool) {
		if fence {
			f.shell(where, block, false)
			return
		}
		for _, m := range span.FindAllStringSubmatch(block, -1) {
			text := strings.Join(strings.Fields(m[1]), " ")
			f.shell(where, text, true)
			words := strings.Fields(text)
			if len(words) > 1 && slices.Contains(f.groups, words[0]) && regexp.MustCompile(`^[a-z-]+$`).MatchString(words[1]) {
				f.found = append(f.found, Line{Where: where, Words: words, Short: true, Prose: true})
			}
		}
	})
}

// prose finds commands in a plain text: alone on indented lines, where spaces separate a remark, or in sentences.
func (f *finder) prose() {
	begin := regexp.MustCompile(`(?:^|[^\w/.-])(sudo (?:[A-Z]+=\S+ )?)?async-worker ([a-z-].*)`)
	f.blocks(true, func(where, block string, _ bool) {
		if strings.HasPrefix(block, "  ") {
			block, _, _ = strings.Cut(strings.TrimSpace(block), "   ")
			f.shell(where, block, false)
			return
		}
		for rest := block; ; {
			m := begin.FindStringSubmatch(rest)
			if m == nil {
				return
			}
			rest = m[2]
			f.found = append(f.found, Line{
				Where: where, Words: strings.Fields(rest), Sudo: m[1] != "", Prose: true,
			})
		}
	})
}

// shell finds the commands in a line of a shell.
func (f *finder) shell(where, line string, span bool) {
	line, root := strings.CutPrefix(line, "# ") // its prompt
	for _, words := range simple(line) {
		sudo := root
		for i, word := range words {
			if word == "sudo" {
				sudo = true
			}
			if word != "async-worker" && !strings.HasSuffix(word, "/async-worker") || !begins(words[:i]) {
				continue
			}
			if rest := slices.DeleteFunc(words[i+1:], func(s string) bool { return s == "…" }); len(rest) > 0 {
				f.found = append(f.found, Line{Where: where, Words: rest, Sudo: sudo, Span: span})
			}
			break
		}
	}
}

// begins reports whether a command may follow these words: assignments, sudo, or a program that runs another.
func begins(before []string) bool {
	for i, word := range before {
		switch {
		case word == "sudo", strings.Contains(word, "="):
		case word == "--" && i == len(before)-1, word == "exec" && i > 0:
			return true
		default:
			return slices.Contains(before[i:], "exec") || before[len(before)-1] == "--"
		}
	}
	return true
}

// source finds commands in the strings of a file in Go, and those with a flag also without the program's name; what is
// not a constant is X.
func (f *finder) source(root, path string) error {
	f.open(root, path)
	short := regexp.MustCompile(`(?:^|[^\w/.-])((?:` + strings.Join(f.groups, "|") + `) [a-z-]+ --[a-z].*)`)
	if !strings.Contains(f.text, "async-worker ") && !short.MatchString(f.text) {
		return nil
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, path, f.text, 0)
	if err != nil {
		return err
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit, *ast.BinaryExpr:
			text := constant(n.(ast.Expr))
			f.text, f.first = text, files.Position(n.Pos()).Line
			for _, m := range short.FindAllStringSubmatch(text, -1) {
				f.found = append(f.found, Line{
					Where: fmt.Sprintf("%s:%d", f.name, f.first), Words: strings.Fields(m[1]), Short: true, Prose: true,
				})
			}
			if strings.Contains(text, "async-worker ") {
				f.prose()
			}
			return text == "X"
		}
		return true
	})
	return nil
}

// constant is the text of a string, or of several that are added.
func constant(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return constant(e.X) + constant(e.Y)
		}
	case *ast.ParenExpr:
		return constant(e.X)
	}
	return "X"
}
