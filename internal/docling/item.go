package docling

import "encoding/json"

// item decodes an item. The cells of a table come one by one; the rest of an item is small, and decoded at once.
func (d *decoder) item() (item Item, err error) {
	var table *TableData
	rest := []byte("{")
	err = d.object(func(key string) error {
		if key == "data" {
			table, err = d.table()
			return err
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, name...), ':'), value...)
		return nil
	})
	if err == nil {
		err = d.bounded(append(rest, '}'), &item)
	}
	item.Table = table
	return item, err
}

// table decodes a table; nil: it is null, or has nothing. Its grid, which has each cell once more, is passed over.
func (d *decoder) table() (t *TableData, err error) {
	err = d.object(func(key string) error {
		if t == nil {
			t = &TableData{}
		}
		switch key {
		case "table_cells":
			return d.array(func() error {
				if err := d.count(); err != nil {
					return err
				}
				var c Cell
				err := d.Decode(&c)
				t.Cells = append(t.Cells, c)
				return err
			})
		case "num_rows":
			return d.Decode(&t.Rows)
		case "num_cols":
			return d.Decode(&t.Columns)
		case "grid":
			return d.array(func() error { return d.array(func() error { return d.Decode(&nothing{}) }) })
		}
		return d.skip()
	})
	return t, err
}

// nothing is a value that is read and not kept.
type nothing struct{}

func (*nothing) UnmarshalJSON([]byte) error { return nil }
