package app

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestKindsThatNothingFinds: a worker warns at its start of listed kinds that nothing finds; of a detector that is down then,
// at the first probe that it answers.
func TestKindsThatNothingFinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kinds []string
		down  bool // at the start
		want  []string
		not   string
	}{
		"all are found":    {[]string{"EMAIL", "PERSON"}, false, []string{"kinds=EMAIL,PERSON"}, "nothing finds"},
		"none is listed":   {nil, false, []string{`kinds="all that identify a person"`}, "nothing finds"},
		"our own":          {[]string{"EMAIL"}, true, []string{"kinds=EMAIL"}, "does not tell"},
		"one is not found": {[]string{"EMAIL", "PERSON", "BERTH"}, false, []string{"nothing finds", "kinds=BERTH "}, "kinds=EMAIL "},
		"down":             {[]string{"BERTH"}, true, []string{"does not tell", "nothing finds", "kinds=BERTH "}, "(HTTP 200)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var down atomic.Bool
			down.Store(c.down)
			analyzer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case down.Load():
					w.WriteHeader(http.StatusInternalServerError)
				case r.URL.Path == "/analyze":
					_, _ = io.WriteString(w, "[[]]")
				default:
					_, _ = io.WriteString(w, `["PERSON"]`)
				}
			}))
			defer analyzer.Close()
			var log bytes.Buffer
			worker := &Tenant{log: slog.New(slog.NewTextHandler(&log, nil)), Config: config.Config{PII: config.PII{
				Mode: config.PIIRedact, Kinds: c.kinds, DetectorURL: analyzer.URL, DetectorLanguages: []string{"en"},
			}}}
			if _, err := worker.openPrivacy(t.Context()); err != nil {
				t.Fatal(err)
			}
			down.Store(false)
			for range 2 {
				if err := worker.probed[taskerr.Privacy](t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := worker.Close(); err != nil {
				t.Error(err)
			}
			for _, want := range c.want {
				if strings.Count(log.String(), want) != 1 {
					t.Errorf("%q is not once in\n%s", want, &log)
				}
			}
			if strings.Contains(log.String(), c.not) {
				t.Errorf("%q is in\n%s", c.not, &log)
			}
		})
	}
}
