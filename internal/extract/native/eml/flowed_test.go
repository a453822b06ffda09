package eml_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestFlowed: the lines of a flowed text are joined as its writer had them.
func TestFlowed(t *testing.T) {
	t.Parallel()
	const delSp = "; format=flowed; delsp=yes"
	for _, tt := range []struct{ what, params, text, want string }{
		{"lines that go on", "", "The crane \nis \r\nready.\nWe start.", "The crane is ready.\nWe start."},
		{"parameters in capitals", "; Format=Flowed", "The crane \nis ready.", "The crane is ready."},
		{"not flowed", "; format=fixed", "The crane \nis ready. \n > x", "The crane\nis ready.\n > x"},
		{"not flowed by default", "; charset=utf-8", "The crane \nis ready.", "The crane\nis ready."},
		{"words in pieces", delSp, "The crane  \nis rea \ndy. 起重 \n机。", "The crane is ready. 起重机。"},
		{"words in pieces, in a declared encoding", delSp + "; charset=iso-8859-1", "gr\xfc \n\xdfen", "grüßen"},
		{"a signature", "", "Yours, \n-- \nAda \nQuay", "Yours,\n--\nAda Quay"},
		{"a quoted signature", delSp, "> Yours, \n> -- \n> Ada", "> Yours,\n> --\n> Ada"},
		{"no signature", "", "a \n--  \nb", "a --  b"},
		{
			"quotes", "", "> The crane \n> is ready.\n>> Is \n>>it?\n> Yes, \nAda wrote: \n> No.",
			"> The crane is ready.\n>> Is it?\n> Yes,\nAda wrote:\n> No.",
		},
		{"quotes with spaces", "", "> > The crane \n>> is ready.", ">> The crane is ready."},
		{"stuffed lines", "", " > no quote \n From here\n  indented\n>  stuffed", "> no quote From here\n indented\n>  stuffed"},
		{"empty lines", "", "One \n\nTwo. \n  \nThree.\n> a \n> \n> b", "One|Two.|Three.\n> a\n>\n> b"},
		{"quoted-printable", "", "The crane=20\nis re=\nady.", "The crane is ready."},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			params := tt.params
			if params == "" {
				params = "; format=flowed"
			}
			part := "Content-Type: text/plain" + params + "\n"
			if tt.what == "quoted-printable" {
				part += "Content-Transfer-Encoding: quoted-printable\n"
			}
			for _, mail := range []string{
				head + part + "\n" + tt.text, head + multi("mixed", "b", part+"\n"+tt.text), head + multi("alternative", "b", part+"\n"+tt.text),
			} {
				var got []string
				for _, b := range read(t, mail).Blocks[2:] {
					got = append(got, b.Text)
				}
				if got := strings.Join(got, "|"); got != tt.want {
					t.Errorf("got\n%s\nwant\n%s", got, tt.want)
				}
			}
		})
	}
}

// TestLongFlowedLines: of a line that is read in pieces, also the end is seen.
func TestLongFlowedLines(t *testing.T) {
	t.Parallel()
	start := strings.Repeat("a", 99) // so that the ends of the lines are not where the extractor of texts cuts them
	for length := 64<<10 - 4; length < 64<<10+2; length++ {
		long := strings.Repeat("x", length)
		for params, space := range map[string]string{"": " ", "; delsp=yes": ""} {
			doc := read(t, head+"Content-Type: text/plain; format=flowed"+params+"\n\n"+start+" \n"+long+" \r\n"+long+" \ny\r\nz")
			var got strings.Builder
			for _, b := range doc.Blocks[2:] {
				got.WriteString(strings.ReplaceAll(b.Text, "\n", "")) // long lines are shown in pieces
			}
			if want := start + space + long + space + long + space + "yz"; got.String() != want {
				t.Errorf("%d characters%s: got %d that end in %q", length, params, got.Len(), got.String()[got.Len()-5:])
			}
		}
	}
}

// TestEndlessFlowedLine: a paragraph of any length takes little memory. The test counts allocations, so it doesn't run in
// parallel.
func TestEndlessFlowedLine(t *testing.T) { //nolint:paralleltest // see above
	quoted := strings.Repeat(">", 60) + " \n"
	for _, text := range []string{strings.Repeat(" ", 8<<20), strings.Repeat(">", 8<<20), strings.Repeat(quoted, 1<<17)} {
		mail := []byte(head + "Content-Type: text/plain; format=flowed\n\n" + text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := nativetest.Extract(t, reader(), extract.EML, mail, extract.Limits{})
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; err != nil || bytes > 64<<20 {
			t.Errorf("%.9q: %v, %d MB were allocated", text, err, bytes>>20)
		}
	}
}
