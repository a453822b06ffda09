package chunk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Items that belong together are not separated, even where a cut would suit the sizes better.
func TestTightBonds(t *testing.T) {
	t.Parallel()
	rows := []string{"Name|Remark"}
	for range 45 {
		rows = append(rows, "somebody|nothing to say of this")
	}
	before, after := prose(150), prose(490)
	for name, test := range map[string]struct {
		blocks   []extract.Block
		together string
	}{
		"a caption after its table": {[]extract.Block{para(before), table(1,
			rows...), caption("Caption " + prose(80)), para(after)}, "|\n\nCaption"},
		"a caption before its table": {[]extract.Block{para(before), caption("Caption " + prose(40)), table(1,
			rows...), para(after)}, "ends.\n\n| Name"},
		"a heading and its text": {[]extract.Block{head(1, "A"), para(prose(20)), head(2,
			"Heading "+prose(190)), para(prose(340)), para(after)}, "ends.\n\nThis"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := chunks(t, chunk.Config{}, test.blocks...)
			if !slices.ContainsFunc(all,
				func(c chunk.Chunk) bool { return strings.Contains(c.Content, test.together) }) {
				for _, c := range all {
					t.Logf("%d tokens: %.40q…%q", c.Tokens, c.Content, c.Content[max(0, len(c.Content)-40):])
				}
				t.Error("parted")
			}
		})
	}
}

// progressive counts more tokens for a long text than for its parts.
type progressive struct{}

func (progressive) Count(text string) int { return (len(text) + len(text)*len(text)/200) / 4 }

// Max holds for the tokens of the whole chunk, not only for the sum of its parts.
func TestMaxHoldsForAnyCounter(t *testing.T) {
	t.Parallel()
	config := chunk.Config{Max: 200, Counter: progressive{}}
	blocks := []extract.Block{
		para(prose(3000)), table(1, "a|b", "c|d", "e|"+prose(200)), code(strings.Repeat("x", 5000)),
	}
	wantSound(t, config, blocks, chunks(t, config, blocks...))
}

func TestLongCode(t *testing.T) {
	t.Parallel()
	function := "func f() {\n" + strings.Repeat("\tcall(some, more)\n", 50) + "}"
	whole := chunks(t, chunk.Config{}, para(prose(500)), code(function), para(prose(500)))
	if !slices.ContainsFunc(whole, func(c chunk.Chunk) bool { return strings.Contains(c.Content, function) }) {
		t.Error("code that fits into a chunk is not in one piece")
	}
	for i, c := range chunks(t, chunk.Config{}, code(strings.Repeat(function+"\n\n", 9))) {
		if !strings.HasPrefix(c.Content, "func f()") || !strings.HasSuffix(c.Content, "}") || c.Kind != chunk.Code {
			t.Errorf("chunk %d (%s) is not cut between functions: %.20q", i, c.Kind, c.Content)
		}
	}
}

func TestParagraphsAreCutBetweenSentences(t *testing.T) {
	t.Parallel()
	for i, c := range chunks(t, chunk.Config{}, para(prose(5000))) {
		if !strings.HasPrefix(c.Content, "This word") || !strings.HasSuffix(c.Content, "ends.") {
			t.Errorf("chunk %d is %.20q…%q", i, c.Content, c.Content[len(c.Content)-10:])
		}
	}
}
