package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed templates/*.html
var files embed.FS

// parsed are the pages, parsed when somebody looks at the first: few workers of a machine are looked at, and all would
// keep them.
var parsed = sync.OnceValues(parsePages)

// render writes a part of a page, or the whole by its layout.
func render(to io.Writer, name, part string, v view) error {
	files, err := loaded()
	if err != nil {
		return fmt.Errorf("load the dashboard's files: %w", err)
	}
	pages, err := parsed()
	if err != nil {
		return fmt.Errorf("parse the dashboard's pages: %w", err)
	}
	v.Static += files.path
	return pages[name].ExecuteTemplate(to, part, v)
}

// parsePages parses each page together with what all pages share: the files whose names begin with an underscore.
func parsePages() (map[string]*template.Template, error) {
	shared, err := template.New("").Funcs(functions()).ParseFS(files, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		one, err := shared.Clone()
		if err == nil {
			_, err = one.ParseFS(files, name)
		}
		if err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(path.Base(name), ".html")] = one
	}
	return all, nil
}

func functions() template.FuncMap {
	return template.FuncMap{
		"ago": ago, "took": took, "number": number, "percent": percent, "words": words, "title": title, "pretty": pretty, "clip": clip,
		"subject": subject, "lasted": lasted, "pages": pages, "icon": icon, "remedy": remedy, "status": statusWord,
		"join": strings.Join, "add": func(a, b int) int { return a + b },
		"list": func(items ...any) []any { return items },
		"dict": dict, "failedLike": failedLike, "detail": detail, "outcome": outcomeOf, "readBy": readBy, "sure": sure, "sentence": sentence, "span": spanText,
	}
}

// dict makes the data of a part of a page: names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is not a name", pairs[i])
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}

// statusWord is a state as people say it.
func statusWord(s string) string {
	if s == "pending" {
		return "waiting"
	}
	return words(s)
}

// icons are paths of 16 by 16, drawn with a line.
var icons = map[string]string{
	"overview":  `<path d="M2 9h3l2-5 3 9 2-4h2"/>`,
	"jobs":      `<path d="M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.5M2 8h.5M2 12h.5"/>`,
	"letters":   `<path d="M2 4h12v9H2zM2 4.5l6 4.5 6-4.5"/>`,
	"documents": `<path d="M4 1.5h5l3.5 3.5v9.5H4zM9 1.5V5h3.5M6 8h4M6 11h4"/>`,
	"search":    `<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/>`,
	"ask":       `<path d="M2 3h12v8H7l-3 3v-3H2z"/>`,
	"webhooks":  `<path d="M3 8a5 5 0 0 1 5-5M13 8a5 5 0 0 1-5 5M8 5.500V8l2 1.500M8 3l1.500-1.500M8 3l1.500 1.500M8 13l-1.500-1.500M8 13l-1.500 1.500"/>`,
	"schedules": `<path d="M2.500 3.500h11v10h-11zM2.500 6.500h11M5.500 2v2.500M10.500 2v2.500M8 8.500v2l1.500 1"/>`,
	"settings":  `<path d="M2 4.500h6M12 4.500h2M2 11.500h2M8 11.500h6"/><circle cx="10" cy="4.500" r="2"/><circle cx="6" cy="11.500" r="2"/>`,
	"doctor":    `<path d="M8 14s-6-3.500-6-7.500A3.200 3.200 0 0 1 8 4.600a3.200 3.200 0 0 1 6 1.900C14 10.500 8 14 8 14zM4.500 8H7l1-1.500L9 9.500l1-1.500h1.500"/>`,
	"upload":    `<path d="M8 11V3M4.500 6 8 2.500 11.500 6M2.500 11v2.500h11V11"/>`,
	"succeeded": `<circle cx="8" cy="8" r="6.250"/><path d="m5.200 8.200 2 2 3.600-4.200"/>`,
	"failed":    `<circle cx="8" cy="8" r="6.250"/><path d="m5.800 5.800 4.400 4.400M10.200 5.800l-4.400 4.400"/>`,
	"running":   `<circle cx="8" cy="8" r="6.250" opacity=".3"/><path d="M8 1.750A6.250 6.250 0 0 1 14.250 8"/>`,
	"pending":   `<circle cx="8" cy="8" r="6.250"/><path d="M8 4.500V8l2.300 1.500"/>`,
	"canceled":  `<circle cx="8" cy="8" r="6.250"/><path d="M5 8h6"/>`,
	"warn":      `<path d="M8 2 14.500 13.500h-13zM8 6.500v3.500M8 11.800v.1"/>`,
	"ok":        `<path d="m3 8.500 3.200 3.200L13 4.500"/>`,
	"back":      `<path d="M9.500 3.500 5 8l4.500 4.500"/>`,
	"next":      `<path d="M6.500 3.500 11 8l-4.500 4.500"/>`,
}

// icon is a picture that says nothing that the text beside it does not say.
func icon(name string) template.HTML {
	return template.HTML(`<svg class="icon i-` + template.HTMLEscapeString(name) + //nolint:gosec // escaped, and ours
		`" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">` + icons[name] + `</svg>`)
}
