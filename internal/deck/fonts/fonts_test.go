package fonts_test

import (
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
)

func TestX(t *testing.T) {
	at := time.Now()
	l := fonts.New()
	f, err := l.Find("Arial", true, false)
	t.Log(f.Path, err, time.Since(at), f.Width('A'))
	for _, r := range "aЖعש漢あ한∑☃😀" {
		at := time.Now()
		f := l.Has(r, false, false)
		if f != nil {
			t.Log(string(r), f.Path, time.Since(at))
		} else {
			t.Log(string(r), "none", time.Since(at))
		}
	}
}
