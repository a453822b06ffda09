package xml

import (
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// listItem makes the first text of a list's item one.
func (w *walker) listItem(b *extract.Block) {
	i := len(w.open) - 1
	for i >= 0 && w.open[i].role != item {
		if r := w.open[i].role; r == section || r == list || r == numbered {
			return
		}
		i--
	}
	if i < 0 || w.open[i].number > 0 {
		return
	}
	w.open[i].number = 1
	b.Kind, b.Level, b.Marker = extract.ListItem, max(w.lists-1, 0), "-"
	for i--; i >= 0; i-- {
		switch w.open[i].role {
		case numbered:
			w.open[i].number++
			b.Marker = strconv.Itoa(w.open[i].number) + "."
			return
		case list, section:
			return
		}
	}
}
