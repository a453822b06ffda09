package dashboard

import (
	"bytes"
	"net/http"
)

// Listed is a tenant of the machine, as the list shows it.
type Listed struct {
	Name  string
	State string // ready, not ready or down
}

// List shows the tenants of a machine, for the proxy to all of them: its links lead to their dashboards, each with a
// sign-in of its own. The page has no script.
func List(w http.ResponseWriter, r *http.Request, all []Listed) {
	protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { showList(w, all) })).ServeHTTP(w, r)
}

func showList(w http.ResponseWriter, all []Listed) {
	var text bytes.Buffer
	v := view{Base: "/", Static: Root[1:] + "/", Title: "Tenants", Client: "This machine", Data: all}
	if err := render(&text, "tenants", "layout", v); err != nil {
		http.Error(w, "the page could not be rendered; please report it", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text.Bytes()) // an error means that the client is gone
}
