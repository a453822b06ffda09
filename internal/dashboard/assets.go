package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

// assets are the files of all pages. Their path has a hash of them, so that browsers keep them for good.
type assets struct {
	path  string // relative to Root: static/HASH/
	files map[string]asset
}

type asset struct{ kind, plain, packed string }

// loaded are the assets, packed when the first of them is asked for.
var loaded = sync.OnceValues(loadAssets)

func loadAssets() (*assets, error) {
	a := &assets{files: map[string]asset{}}
	sum := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, e fs.DirEntry, err error) error {
		kind := map[string]string{
			".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
		}[path.Ext(name)]
		if err != nil || e.IsDir() || kind == "" {
			return err
		}
		content, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		_, _ = sum.Write(content) // it never fails
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, _ = w.Write(content) // to memory
		_ = w.Close()
		a.files[strings.TrimPrefix(name, "static/")] = asset{kind, string(content), packed.String()}
		return nil
	})
	a.path = "static/" + hex.EncodeToString(sum.Sum(nil)[:6]) + "/"
	return a, err
}

// Files returns the handler of the pages' scripts and styles, for a proxy that serves them in a worker's place: their
// paths are below FilesPath.
func Files() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := loaded()
		if err != nil {
			http.Error(w, "the dashboard's files can't be loaded; please report it", http.StatusInternalServerError)
			return
		}
		a.ServeHTTP(w, r)
	})
}

// FilesPath is where the pages' scripts and styles are.
const FilesPath = Root + "/static/"

// ServeHTTP implements http.Handler. A page of an older version may ask for files under an old hash: it gets today's.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Root+"/static/"), "/")
	f, ok := a.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-store")
	if "static/"+hash+"/" == a.path {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	text := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = f.packed
	}
	_, _ = w.Write([]byte(text)) // an error means that the client is gone
}
