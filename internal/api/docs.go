package api

import (
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

const (
	docsPath = "/docs"
	specPath = "/openapi.json"
)

//go:embed docs.html
var docsText string

// docsPage is compiled when somebody looks at it.
var docsPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("docs").Parse(docsText))
})

// OfStrangers reports whether anybody may read what is at a path.
func OfStrangers(path string) bool { return path == docsPath || path == specPath }

// described serves the description of the API where anybody may call it: without tokens, this machine's callers alone.
func (a *API) described(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := a.auth.authenticate(r); err != nil && !a.auth.open() {
			unauthorized().write(w)
			return
		}
		h(w, r)
	}
}

func (a *API) serveSpec(w http.ResponseWriter, _ *http.Request) {
	spec, err := a.Spec()
	if err != nil {
		a.deps.Log.Error("can't write the OpenAPI document", "error", err, "hint", nextReport)
		http.Error(w, "the OpenAPI document can't be written; please report it", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/openapi+json")
	_, _ = w.Write(spec) // an error means that the client is gone
}

// docsCall is a call on the page.
type docsCall struct {
	Method, Path, Summary, Needs string
	Params                       []docsField
	Body                         string
	Responses                    []docsField
}

// docsField is a parameter, a member or a status, with what it is.
type docsField struct{ Name, Type, Doc string }

// docsSchema is a type on the page.
type docsSchema struct {
	Name    string
	Members []docsField
}

// serveDocs writes the page of all calls. It needs no script and loads nothing.
func (a *API) serveDocs(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	spec := a.huma.OpenAPI()
	_ = docsPage().Execute(w, map[string]any{ // an error means that the client is gone
		"Info": spec.Info, "Calls": callsOf(spec), "Schemas": schemasOf(spec),
	})
}

func callsOf(spec *huma.OpenAPI) (calls []docsCall) {
	for path, item := range spec.Paths {
		for method, op := range map[string]*huma.Operation{
			"GET": item.Get, "POST": item.Post, "DELETE": item.Delete, "PATCH": item.Patch, "PUT": item.Put,
		} {
			if op == nil {
				continue
			}
			c := docsCall{Method: method, Path: path, Summary: op.Summary, Needs: op.Description}
			for _, p := range op.Parameters {
				c.Params = append(c.Params, docsField{p.In + " " + p.Name, typeName(p.Schema), p.Description})
			}
			if op.RequestBody != nil {
				for _, m := range op.RequestBody.Content {
					c.Body = typeName(m.Schema)
				}
			}
			for status, r := range op.Responses {
				f := docsField{Name: status, Doc: r.Description}
				for kind, m := range r.Content {
					f.Type = strings.TrimPrefix(f.Type+", "+kind+" "+typeName(m.Schema), ", ")
				}
				c.Responses = append(c.Responses, f)
			}
			slices.SortFunc(c.Responses, func(a, b docsField) int { return strings.Compare(a.Name, b.Name) })
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(a, b docsCall) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	return calls
}

func schemasOf(spec *huma.OpenAPI) (schemas []docsSchema) {
	for name, s := range spec.Components.Schemas.Map() {
		d := docsSchema{Name: name}
		for member, of := range s.Properties {
			if !slices.Contains(s.Required, member) {
				member += "?"
			}
			d.Members = append(d.Members, docsField{member, typeName(of), of.Description})
		}
		slices.SortFunc(d.Members, func(a, b docsField) int { return strings.Compare(a.Name, b.Name) })
		schemas = append(schemas, d)
	}
	slices.SortFunc(schemas, func(a, b docsSchema) int { return strings.Compare(a.Name, b.Name) })
	return schemas
}

func typeName(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.Type == huma.TypeArray:
		return typeName(s.Items) + "[]"
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			words = append(words, strings.Trim(string(encode(e)), `"`))
		}
		return strings.Join(words, " | ")
	case s.Format != "":
		return s.Format
	}
	return s.Type
}
