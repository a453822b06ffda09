package pdf

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// languagePacks are the character collections of Chinese, Japanese and Korean fonts that poppler has no tables of:
// then it drops their text and says so on standard error only. It is safe for concurrent use.
type languagePacks struct {
	mu      sync.Mutex
	missing map[string]struct{}
}

var missingPack = pattern.New(`Missing language pack for '([A-Za-z0-9-]{1,40})'`)

// maxPacks limits the names that a warning lists.
const maxPacks = 10

// note looks through what a program of poppler said.
func (l *languagePacks) note(r child.Result) {
	for _, m := range missingPack.FindAllStringSubmatch(r.Stderr, -1) {
		l.mu.Lock()
		if len(l.missing) < maxPacks {
			if l.missing == nil {
				l.missing = map[string]struct{}{}
			}
			l.missing[m[1]] = struct{}{}
		}
		l.mu.Unlock()
	}
}

// warnings returns a warning if tables are missing.
func (l *languagePacks) warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("text of %s fonts is missing, as poppler lacks their tables: install poppler-data, and "+
		"send the document again with hints.force", strings.Join(slices.Sorted(maps.Keys(l.missing)), ", "))}
}
