package dashboard_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// screens is where TestScreens writes; empty: it does not.
var screens = flag.String("screens", "", "a folder to write pictures of all pages to")

// TestScreens writes a picture of each page: light, dark, and 360 pixels wide.
func TestScreens(t *testing.T) {
	if *screens == "" {
		t.Skip("no folder was given: make screenshots")
	}
	b := newBench(t)
	b.health.Running = 2
	pages := b.furnish().addresses()
	pages["sign-in"] = "login"
	w := b.browse("operate")
	for _, how := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 360}} {
		if err := os.MkdirAll(filepath.Join(*screens, how.name), 0o755); err != nil {
			t.Fatal(err)
		}
		w.scheme(how.scheme)
		w.do(chromedp.EmulateViewport(how.width, 860))
		for name, path := range pages {
			w.open(path)
			if name == "doctor" {
				w.do(chromedp.Click(chromedp.CSS("main form button")), chromedp.WaitVisible(chromedp.CSS("main .lines")))
			}
			ctx, cancel := context.WithTimeout(w.ctx, 3*time.Minute)
			picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(*screens, how.name, name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
