package dashboard_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/seed-7227ef26/async-worker/internal/dashboard"
)

// browser is a real one, with a page open.
type browser struct {
	*bench
	ctx context.Context

	mu   sync.Mutex
	said []string // errors of scripts and of the policy
}

// hear keeps what a page complains of.
func (w *browser) hear(ev any) {
	text := ""
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		text = ev.ExceptionDetails.Text
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError && !strings.Contains(ev.Entry.Text, "404") {
			text = ev.Entry.Text
		}
	}
	if text != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.said = append(w.said, text)
	}
}

// quiet checks that no page has complained.
func (w *browser) quiet() {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.said) > 0 {
		w.Errorf("the browser says: %s", strings.Join(w.said, "\n"))
	}
}

var tellMissing = sync.OnceFunc(func() {
	_, _ = os.Stderr.WriteString("dashboard: NO BROWSER: chromium-headless-shell is missing, so no page is tried in one; " +
		"run dev/install-test-deps.sh\n")
})

// browse starts a browser, and signs somebody in.
func (b *bench) browse(scope string) *browser {
	b.Helper()
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		tellMissing()
		b.Skip("there is no browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), //nolint:gocritic // a copy
		chromedp.WSURLReadTimeout(2*time.Minute))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	w := &browser{bench: b}
	var cancel context.CancelFunc
	w.ctx, cancel = chromedp.NewContext(alloc, chromedp.WithListener(w.hear))
	b.Cleanup(func() { cancel(); stop() })
	w.do(chromedp.EmulateViewport(1280, 900))
	if scope != "" {
		w.open("login")
		w.do(chromedp.SendKeys(chromedp.CSS("#token"), b.tokens[scope]), chromedp.Click(chromedp.CSS("main button")),
			chromedp.WaitVisible(chromedp.CSS("nav.nav")))
	}
	return w
}

func (w *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 3*time.Minute)
	if chromedp.FromContext(w.ctx).Browser == nil { // the first call starts the browser, which lives as long as its context
		cancel()
		ctx = w.ctx
	}
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		w.Fatal(err)
	}
}

func (w *browser) open(path string) {
	w.Helper()
	w.do(chromedp.Navigate(w.base + dashboard.Root + "/" + path))
}

// is evaluates an expression in the page.
func is[T any](w *browser, expression string) T {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 3*time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		w.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// await waits until an expression is true in the page, also over a navigation in the middle.
func (w *browser) await(expression string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 2*time.Minute)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[bool]("!!("+expression+")"))
		if err == nil {
			return
		}
		if ctx.Err() != nil { // any other error is of a page that is going away
			w.Fatalf("waiting for %s: %v; the page is: %s", expression, err, is[string](w, "document.body?.innerText ?? ''"))
		}
	}
}

// scheme makes the system light or dark.
func (w *browser) scheme(name string) {
	w.Helper()
	w.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: name},
				{Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		return err
	}))
}
