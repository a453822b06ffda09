package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/coreos/go-systemd/v22/journal"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/event"
)

type entry struct {
	message  string
	priority journal.Priority
	fields   map[string]string
}

func toJournal(t *testing.T, fallback *bytes.Buffer, fail error) (*slog.Logger, *[]entry) {
	t.Helper()
	var got []entry
	log, err := Open(fallback, Options{
		Format: Journal, Level: slog.LevelDebug,
		send: func(m string, p journal.Priority, f map[string]string) error {
			if fail == nil {
				got = append(got, entry{m, p, maps.Clone(f)})
			}
			return fail
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return log, &got
}

func TestJournalFields(t *testing.T) {
	t.Parallel()
	var fallback bytes.Buffer
	log, got := toJournal(t, &fallback, nil)
	log.With("task_id", "t-1", "queue", "old").WithGroup("web").With("9lives", 1).
		Warn("task failed", "error", errors.New("no luck"), "took", 1500*time.Millisecond, slog.Group("g", "x", "a b"))
	log.Info("again", "queue", "a", "message", "mine", "_x", true)
	log.Info("twice", "k", 1, "k", 2)

	e := (*got)[0]
	want := map[string]string{
		"TASK_ID": "t-1", "QUEUE": "old", "WEB_9LIVES": "1", "WEB_ERROR": "no luck", "WEB_TOOK": "1.5s",
		"WEB_G_X":           "a b",
		"SYSLOG_IDENTIFIER": "async-worker",
	}
	if !maps.Equal(e.fields, want) {
		t.Errorf("fields %v, want %v", e.fields, want)
	}
	if want := `task failed task_id=t-1 queue=old web.9lives=1 web.error="no luck" web.took=1.5s web.g.x="a b"`; e.message != want {
		t.Errorf("message %q, want %q", e.message, want)
	}
	if e.priority != journal.PriWarning {
		t.Errorf("priority %v", e.priority)
	}
	if f := (*got)[1].fields; f["F_MESSAGE"] != "mine" || f["X"] != "true" {
		t.Errorf("reserved or invalid names got through: %v", f)
	}
	if e := (*got)[2]; e.fields["K"] != "2" || strings.Count(e.message, "k=") != 1 {
		t.Errorf("a repeated key: %+v", e)
	}
	if fallback.Len() != 0 {
		t.Errorf("the record went to two places: %q", fallback.String())
	}
}

// The event's id and the tenant are fields only, not part of each line.
func TestJournalEvents(t *testing.T) {
	t.Parallel()
	var fallback bytes.Buffer
	log, got := toJournal(t, &fallback, nil)
	stage := "first"
	ctx := event.With(event.With(t.Context(), slog.String("task_id", "t-1")),
		slog.Any("stage", valuer(func() string { return stage })))
	log = log.With("client_id", "acme")
	log.InfoContext(ctx, "hello", event.Key, event.TaskDone)
	stage = "second"
	log.With("x", 1).InfoContext(ctx, "again", "n", 1)
	log.Info("of nobody")

	want := map[string]string{
		"MESSAGE_ID": string(event.TaskDone), "CLIENT_ID": "acme", "TASK_ID": "t-1", "STAGE": "first",
		"SYSLOG_IDENTIFIER": "async-worker",
	}
	if e := (*got)[0]; !maps.Equal(e.fields, want) || e.message != "hello task_id=t-1 stage=first" {
		t.Errorf("%+v, want %v", e, want)
	}
	if e := (*got)[1]; e.message != "again x=1 n=1 task_id=t-1 stage=second" {
		t.Errorf("%+v", e)
	}
	if e := (*got)[2]; e.message != "of nobody" {
		t.Errorf("%+v", e)
	}
}

type valuer func() string

func (f valuer) LogValue() slog.Value { return slog.StringValue(f()) }

// Syslog has lines only: all attributes are in them, and a record is one line.
func TestSyslog(t *testing.T) {
	t.Parallel()
	var got []string
	log, err := Open(io.Discard, Options{
		Format: Syslog,
		send: func(m string, p journal.Priority, _ map[string]string) error {
			got = append(got, fmt.Sprint(int(p), " ", m))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	log.With("client_id", "acme").Warn("careful", event.Key, event.Panic, "n", 1)
	if want := []string{"4 careful client_id=acme n=1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSyslogSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	daemon, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	send, err := openSyslog("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[journal.Priority]string{
		journal.PriErr: "<27>", journal.PriWarning: "<28>", journal.PriInfo: "<30>", journal.PriDebug: "<31>",
	} {
		if err := send("two\nlines", p, nil); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1024)
		n, err := daemon.Read(buf)
		if got := string(buf[:n]); err != nil || !strings.HasPrefix(got, want) ||
			!strings.Contains(got, "async-worker[") || !strings.Contains(got, `two\nlines`) {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if _, err := openSyslog("unixgram", path+"-none"); err == nil || !strings.Contains(err.Error(), "LOG_FORMAT") {
		t.Errorf("without a daemon: %v", err)
	}
}

func TestJournalThatFails(t *testing.T) {
	t.Parallel()
	var fallback bytes.Buffer
	log, _ := toJournal(t, &fallback, errors.New("no socket"))
	log.Error("lost?", "why", "two\nlines")
	if got, want := fallback.String(), "<3>lost? why=\"two\\nlines\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJournalHandlerKeepsSlogsRules(t *testing.T) {
	t.Parallel()
	var fallback bytes.Buffer
	log, got := toJournal(t, &fallback, nil)
	// slogtest expects structure that the journal lacks (time, nested groups). This shows that empty groups and
	// attributes vanish and that nothing panics.
	log.Info("m", slog.Attr{}, slog.Group("empty"), slog.Any("nil", nil), slog.Group("", slog.Int("inlined", 1)))
	if f := (*got)[0].fields; f["INLINED"] != "1" || len(f) != 3 {
		t.Errorf("fields %v", f)
	}
}

func TestLevelsAndFormats(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := Open(&out, Options{Format: Auto, Level: slog.LevelWarn})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("no")
	log.Warn("yes", "key", config.NewSecret("hunter2"))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["msg"] != "yes" || line["key"] != "[redacted]" {
		t.Errorf("not one JSON line of the warning: %q (%v)", out.String(), err)
	}

	out.Reset()
	log, _ = Open(&out, Options{Format: Text})
	log.Info("hello", "n", 1)
	log.Debug("no")
	if got := out.String(); !strings.Contains(got, "INF hello n=1") || strings.Contains(got, "\x1b") ||
		strings.Contains(got, "no\n") {
		t.Errorf("text: %q", got)
	}
	out.Reset()
	log.Info("an event", event.Key, event.Ready, "n", 2)
	if got := out.String(); !strings.Contains(got, "an event n=2") || strings.Contains(got, event.Key) {
		t.Errorf("text: %q", got)
	}
	if _, err := Open(&out, Options{Format: "xml"}); err == nil {
		t.Error("an unknown format was accepted")
	}
}

func TestJSONHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		log, err := Open(&out, Options{Format: JSON})
		if err != nil {
			t.Fatal(err)
		}
		return log.Handler()
	}, func(t *testing.T) map[string]any {
		var m map[string]any
		if err := json.Unmarshal(out.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		return m
	})
}

// A duration in JSON has a unit.
func TestJSONDurationsHaveAUnit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	log, err := Open(&b, Options{Format: JSON})
	if err != nil {
		t.Fatal(err)
	}
	log.With("wait", 250*time.Millisecond).WithGroup("of").Info("m", "down_for", 90*time.Second,
		slog.Group("a", "b", time.Hour))
	for _, want := range []string{`"wait":"250ms"`, `"down_for":"1m30s"`, `"b":"1h0m0s"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, b.String())
		}
	}
}
