package agent

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Limits of grep. Its patterns are Go's, whose time is linear in the text for any pattern. The database's engine
// backtracks: one pattern could keep it busy for a minute.
const (
	maxPattern = 500
	maxProgram = 2000 // instructions of a pattern
	maxMatches = 60
	maxLine    = 300 // bytes shown of a line
	grepBatch  = 200 // chunks at a time
	maxGrep    = 20000
)

func (r *run) grep(ctx context.Context, raw string, out *result) error {
	args := struct {
		Document string `json:"document"`
		Pattern  string `json:"pattern"`
	}{}
	if err := arguments(raw, &args, `{"document": "report.pdf", "pattern": "(?i)wind speed"}`); err != nil {
		return err
	}
	if args.Pattern == "" || len(args.Pattern) > maxPattern {
		return mistaken("pattern has %d bytes: give 1 to %d", len(args.Pattern), maxPattern)
	}
	size, err := pattern.Size(args.Pattern)
	if err != nil {
		return mistaken("the pattern can't be read (%s): it is RE2, without backreferences and lookaround",
			clip(err.Error(), 120))
	}
	if size > maxProgram {
		return mistaken("the pattern has %d steps with its repetitions, and %d are allowed: repeat less, such as .* for .{0,1000}",
			size, maxProgram)
	}
	expression, err := regexp.Compile(args.Pattern)
	if err != nil {
		return mistaken("the pattern can't be read (%s)", clip(err.Error(), 120))
	}
	d, err := r.document(ctx, args.Document)
	if err != nil {
		return err
	}
	found := 0
	for from := 0; from < maxGrep; from += grepBatch {
		passages, err := r.deps.Store.DocumentPassages(ctx, store.DocumentPassageQuery{
			DocumentSet: r.payload.DocumentSet, DocumentID: d.DocumentID, From: from, Limit: grepBatch,
		})
		if err != nil {
			return fmt.Errorf("read the document: %w", err)
		}
		for _, p := range passages {
			if err := ctx.Err(); err != nil {
				return err
			}
			more, full := r.matches(out, p, expression, maxMatches-found)
			if found += more; full || found >= maxMatches {
				out.note("there may be more: narrow the pattern, or read the chunks around")
				return nil
			}
		}
		if len(passages) < grepBatch {
			break
		}
	}
	if d.Chunks > maxGrep {
		out.note("only the first %d of its %d passages were looked at: search for what may be in the others", maxGrep, d.Chunks)
	} else if found == 0 {
		out.note("no line of it matches. Documents break lines and hyphenate: try a shorter pattern, or search.")
	}
	return nil
}

// matches adds the matching lines of a passage, up to a limit. full: the result has no room for more.
func (r *run) matches(out *result, p store.Passage, expression *regexp.Regexp, most int) (found int, full bool) {
	var lines []string
	for line := range strings.Lines(p.Content) {
		at := expression.FindStringIndex(strings.TrimRight(line, "\n"))
		if at == nil {
			continue
		}
		lines = append(lines, excerpt(strings.TrimSpace(line), at[0]))
		if len(lines) == most {
			break
		}
	}
	if len(lines) == 0 {
		return 0, false
	}
	text := r.data(strings.Join(lines, "\n"))
	shown, ok := r.enclose(out, r.head(p), text)
	if _, known := r.state.Read[p.ChunkID]; ok && !known {
		r.state.Read[p.ChunkID] = source{Turn: -1} // lines only: read_chunks shows the rest
	}
	return len(lines), shown < len(text)
}

// excerpt returns a line; of a long one, the surroundings of a place.
func excerpt(line string, at int) string {
	if len(line) <= maxLine {
		return line
	}
	from := max(min(at-maxLine/3, len(line)-maxLine), 0)
	return "…" + strings.ToValidUTF8(line[from:from+maxLine], "") + "…"
}
