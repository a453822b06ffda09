package dashboard_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// withoutScripts makes the browser run no script of a page, before somebody signs in.
func (w *browser) withoutScripts() {
	w.Helper()
	w.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// reads waits until the page has a text, without a script in it.
func (w *browser) reads(text string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 2*time.Minute)
	defer cancel()
	var seen string
	for ctx.Err() == nil {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !document.documentElement.dataset.left && document.body.innerText.includes(`+quote(text)+`)`))
		if err == nil && v {
			return
		}
		if v, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.pathname + ": " + document.body?.innerText`)); err == nil {
			seen = v
		}
		<-time.After(20 * time.Millisecond)
	}
	w.Fatalf("no page has %q; the last one is %s", text, seen)
}

// step is a form: what is filled in, what is pressed, and what the page after it says.
type step struct {
	open  string // a page; empty: the one that is open
	fill  [][2]string
	press string
	shows string
}

func (w *browser) take(steps []step) {
	w.Helper()
	for _, s := range steps {
		if s.open != "" {
			w.open(s.open)
		}
		for _, f := range s.fill {
			w.do(chromedp.SendKeys(chromedp.CSS(f[0]), f[1]))
		}
		is[bool](w, "document.documentElement.dataset.left = true") // what is read is the page after it
		w.click(s.press)
		if strings.HasPrefix(s.press, "input") {
			is[bool](w, "delete document.documentElement.dataset.left") // a box leads nowhere
		}
		w.reads(s.shows)
	}
}

const confirmed = "main form[method=post] button"

// Without JavaScript every page reads, none says that it is live, and every form works.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pages := b.furnish()
	w := b.browse("")
	w.withoutScripts()
	w.take([]step{{"login", [][2]string{{"#token", b.tokens["operate"]}}, "main button", "Overview"}})
	for name, path := range pages.addresses() {
		w.open(path)
		if seen := is[string](w, `document.querySelector("h1")?.innerText ?? ""`); seen == "" {
			t.Errorf("%s has no heading", name)
		}
		if odd := is[bool](w, `!document.querySelector("main").innerText.trim() || [...document.querySelectorAll(".live, progress, [role=alert]")].some(e =>
			e.checkVisibility() && e.textContent.trim() !== e.textContent.trim().replace("Live", ""))`); odd {
			t.Errorf("%s is empty, or says that it is live", name)
		}
	}
	w.open("jobs")
	if is[bool](w, `typeof htmx !== "undefined" || !document.querySelector("script[src*=htmx]")`) {
		t.Error("the page has no script, or runs it: nothing was tried")
	}
	file := filepath.Join(t.TempDir(), "tide table.txt")
	if err := os.WriteFile(file, []byte("High water at noon."), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open("documents/upload")
	w.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	w.take([]step{
		{"", [][2]string{{"#set", "harbour"}}, "[data-upload] button", "The job was submitted."},
		{"dead-letters", nil, "nav.tabs a:last-child", "Corruption detected"},
		{"dead-letters/replay", [][2]string{{"#rate", "6"}}, ".bar-form button", "The first starts at once"},
		{"", nil, confirmed, "have ended"},
		{"jobs", [][2]string{{"#q", "status:failed"}}, "form[role=search] button", "safety-manual.pdf"},
		{"", nil, `input[name="all"]`, "safety-manual.pdf"},
		{"", nil, `button[value="retry"]`, "What it will touch"},
		{"", nil, confirmed, "Retry: done for"},
		{"jobs/" + pages.running + "/cancel", nil, confirmed, "The cancel was requested."},
		{"jobs?q=wait-", nil, `input[value="wait-0"]`, "wait-0"},
		{"", nil, `button[value="cancel"]`, "Cancel 1 job?"},
		{"", nil, confirmed, "done for 1 of 1"},
		{"dead-letters/" + pages.letter + "/delete", nil, confirmed, "its message may still be on its queue"},
		{"webhooks/" + pages.delivery + "/resend", nil, confirmed, "The webhook is due again"},
		{"documents", [][2]string{{"#q", "handbook"}}, "form[role=search] button", "harbour-handbook.pdf"},
		{"search", [][2]string{{"#q", "quay cranes"}}, "form[role=search] button", "parked and pinned"},
		{"ask", [][2]string{{"#prompt", "When is high water?"}}, "main form button", "When is high water?"},
		{"documents/" + pages.document + "/delete", nil, confirmed, "This job removes the document from the index."},
		{"schedules/" + pages.schedule + "/pause", nil, confirmed, "The schedule is paused."},
		{"schedules/" + pages.schedule + "/resume", nil, confirmed, "The schedule fires again."},
		{"schedules/" + pages.schedule + "/remove", nil, confirmed, "The schedule was removed."},
		{"new-schedule", [][2]string{{"#id", "weekdays"}}, "main form button", "The schedule was added"},
		{"doctor", nil, "main form button", "docling-serve"},
		{"", nil, "form[action=logout] button", "Sign in"},
	})
	w.quietBut("409 (Conflict)")
}

// quote is a text as a literal of JavaScript.
func quote(text string) string { return strconv.Quote(text) }
