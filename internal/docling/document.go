package docling

// Document is a DoclingDocument with its text, structure and positions (docling-core, DoclingDocument 1.x).
// Items are in arrays by name ("texts", "tables", …) and refer to each other by JSON pointers; the reading
// order is that of Body's children.
type Document struct {
	Name  string
	Body  Item
	Items map[string][]Item
	Pages map[int]Page
}

// Page is a page's size in the units of its boxes.
type Page struct {
	Size struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
	} `json:"size"`
}

// Ref points to an item, for example "#/texts/12".
type Ref struct {
	To string `json:"$ref"`
}

// Item is any node of the document: a text, table, picture, group, key-value area or form. Fields that its kind
// lacks are zero.
type Item struct {
	Label    string  `json:"label"`
	Layer    string  `json:"content_layer"` // body, furniture, background, invisible, notes; empty: body
	Children []Ref   `json:"children"`
	Places   []Place `json:"prov"`

	Name         string `json:"name"` // of a group, for example a sheet's
	Text         string `json:"text"`
	Orig         string `json:"orig"`      // the text as it is in the file; kept only if Text is blank
	Hyperlink    string `json:"hyperlink"` // an address, or a path
	Level        int    `json:"level"`     // of a section header, from 1
	Enumerated   bool   `json:"enumerated"`
	Marker       string `json:"marker"`
	CodeLanguage string `json:"code_language"`

	Captions  []Ref      `json:"captions"`
	Footnotes []Ref      `json:"footnotes"`
	Table     *TableData `json:"data"`
	Meta      *Meta      `json:"meta"`
	Notes     []Note     `json:"annotations"` // older versions' form of Meta
	Graph     *Graph     `json:"graph"`       // of a key-value area or form
}

// Place is the position of a part of an item.
type Place struct {
	Page int `json:"page_no"`
	Box  Box `json:"bbox"`
}

// Box is in the units of its page's size. With the origin BOTTOMLEFT its top is larger than its bottom.
type Box struct {
	Left   float64 `json:"l"`
	Top    float64 `json:"t"`
	Right  float64 `json:"r"`
	Bottom float64 `json:"b"`
	Origin string  `json:"coord_origin"` // TOPLEFT or BOTTOMLEFT
}

// BottomLeft is the Origin of boxes that are measured from the bottom up.
const BottomLeft = "BOTTOMLEFT"

// TableData is a table's cells in any order. The grid, which the server sends as well, is redundant.
type TableData struct {
	Cells   []Cell `json:"table_cells"`
	Rows    int    `json:"num_rows"`
	Columns int    `json:"num_cols"`
}

// Cell is a cell of a table. Its ends are exclusive.
type Cell struct {
	Text         string `json:"text"`
	Row          int    `json:"start_row_offset_idx"`
	RowEnd       int    `json:"end_row_offset_idx"`
	Column       int    `json:"start_col_offset_idx"`
	ColumnEnd    int    `json:"end_col_offset_idx"`
	ColumnHeader bool   `json:"column_header"`
	Ref          *Ref   `json:"ref"` // to the content of a cell with more than text
}

// Meta is what models report about an item.
type Meta struct {
	Description *struct {
		Text string `json:"text"`
	} `json:"description"`
	Classification *struct {
		Predictions []Prediction `json:"predictions"`
	} `json:"classification"`
	Chart *Chart `json:"tabular_chart"`
}

// Prediction is a possible class of a picture; the most likely comes first.
type Prediction struct {
	Class      string  `json:"class_name"`
	Confidence float64 `json:"confidence"`
}

// Chart is a chart's values.
type Chart struct {
	Title string    `json:"title"`
	Data  TableData `json:"chart_data"`
}

// Note is an annotation, by kind: description, classification, tabular_chart_data.
type Note struct {
	Kind    string       `json:"kind"`
	Text    string       `json:"text"`
	Classes []Prediction `json:"predicted_classes"`
	Chart
}

// Graph is keys and values with links between them.
type Graph struct {
	Cells []GraphCell `json:"cells"`
	Links []struct {
		Label  string `json:"label"` // to_value, to_key, to_parent, to_child
		Source int    `json:"source_cell_id"`
		Target int    `json:"target_cell_id"`
	} `json:"links"`
}

// GraphCell is a key or a value.
type GraphCell struct {
	ID    int    `json:"cell_id"`
	Label string `json:"label"` // unspecified, key, value, checkbox
	Text  string `json:"text"`
	Place *Place `json:"prov"`
	Item  *Ref   `json:"item_ref"`
}
