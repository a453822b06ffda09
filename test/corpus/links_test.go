package corpus_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

var update = flag.Bool("update", false, "write the keys of the chunks instead of comparing them")

const keysFile = "testdata/linked.keys"

// words counts words, as a model counts tokens.
type words struct{}

func (words) Count(text string) int { return len(strings.Fields(text)) }

// TestLinksKeepChunkKeys: the keys of chunks don't depend on where the links in their text lead. The file has the keys
// from before links were kept: a change of it makes every ingested document with links embed its text again.
func TestLinksKeepChunkKeys(t *testing.T) {
	t.Parallel()
	all := native.Extractors(nil, nil)
	var out strings.Builder
	for _, d := range nativetest.LinkedDocuments(t) {
		doc, err := nativetest.Extract(t, all[d.Format], d.Format, d.Content, extract.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		c := chunk.New(chunk.Config{Counter: words{}, Model: "m", Dimensions: 8}, func(c chunk.Chunk) error {
			fmt.Fprintf(&out, "%s %s\n", d.Name, c.Key)
			return nil
		})
		for _, b := range doc.Blocks {
			if err := c.Add(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(keysFile, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(keysFile)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
