package dashboard

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
)

// Listed is a tenant of the machine, as the list shows it.
type Listed struct {
	Name  string
	State string // ready, not ready or down
}

// List returns what shows the tenants of a machine, for the proxy to all of them: its links lead to their dashboards, each
// with a sign-in of its own. The page has no script.
func List() (func(http.ResponseWriter, *http.Request, []Listed), error) {
	files, err := loadAssets()
	if err != nil {
		return nil, fmt.Errorf("load the dashboard's files: %w", err)
	}
	pages, err := parsePages()
	if err != nil {
		return nil, fmt.Errorf("parse the dashboard's pages: %w", err)
	}
	return func(w http.ResponseWriter, r *http.Request, all []Listed) {
		protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			showList(w, pages["tenants"], files.path, all)
		})).ServeHTTP(w, r)
	}, nil
}

func showList(w http.ResponseWriter, page *template.Template, static string, all []Listed) {
	var text bytes.Buffer
	v := view{Base: "/", Static: Root[1:] + "/" + static, Title: "Tenants", Client: "This machine", Data: all}
	if err := page.ExecuteTemplate(&text, "layout", v); err != nil {
		http.Error(w, "the page could not be rendered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text.Bytes()) // an error means that the client is gone
}
