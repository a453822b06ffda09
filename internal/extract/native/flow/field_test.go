package flow_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
)

func TestHyperlink(t *testing.T) {
	t.Parallel()
	for instruction, want := range map[string]string{
		` HYPERLINK "https://e.com/a b" `:            "https://e.com/a b",
		`hyperlink https://e.com \o "a tip"`:         "https://e.com",
		`HYPERLINK \l "_Toc1" \h`:                    "#_Toc1",
		`HYPERLINK "https://e.com" \l "part" \t "x"`: "https://e.com#part",
		`HYPERLINK "c:\\docs\\a \"b\".doc"`:          `c:\docs\a "b".doc`,
		`HYPERLINK "https://e.com`:                   "https://e.com",
		`HYPERLINK \l`:                               "",
		`HYPERLINK`:                                  "",
		`PAGEREF _Toc1 \h`:                           "",
		``:                                           "",
	} {
		if got := flow.Hyperlink(instruction); got != want {
			t.Errorf("%s: got %q, want %q", instruction, got, want)
		}
	}
}
