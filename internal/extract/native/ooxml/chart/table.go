package chart

import (
	"maps"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// tableCost is what a table costs, in cells.
const tableCost = 16

// table is a table of categories by series.
type table struct {
	categories points
	series     []series
	indexes    []int // of its rows
}

// tables returns the tables of the chart: one, because all series have the categories of the first one that has any,
// or as many as there are runs of series with the same values of x. Those without values of x have the ones before.
func (c *chart) tables() []table {
	var all []table
	for _, s := range c.series {
		last := len(all) - 1
		switch {
		case last < 0:
			all = append(all, table{})
			last++
		case s.scattered && len(s.categories) > 0 && len(all[last].categories) > 0 && !maps.Equal(all[last].categories, s.categories):
			all = append(all, table{})
			last++
		}
		t := &all[last]
		t.series = append(t.series, s)
		if len(t.categories) == 0 {
			t.categories = s.categories
		}
	}
	for i := range all {
		all[i].indexes = all[i].rows()
	}
	return slices.DeleteFunc(all, func(t table) bool { return len(t.indexes) == 0 })
}

// rows returns the indexes of the categories and the values, sorted.
func (t *table) rows() []int {
	indexes := map[int]bool{}
	for i := range t.categories {
		indexes[i] = true
	}
	for _, s := range t.series {
		for i := range s.values {
			indexes[i] = true
		}
	}
	return slices.Sorted(maps.Keys(indexes))
}

// write emits the table. across is the title of the categories.
func (t *table) write(across string, emit extract.Emit, like extract.Block) error {
	out := extract.NewTableWriter(emit, like)
	header := []extract.Cell{{Text: across}}
	for _, s := range t.series {
		header = append(header, extract.Cell{Text: s.name})
	}
	out.Row(header, true)
	for _, i := range t.indexes {
		row := []extract.Cell{{Text: t.categories[i]}}
		for _, s := range t.series {
			row = append(row, extract.Cell{Text: s.values[i]})
		}
		out.Row(row, false)
		if out.Full() {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}
