package deck_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestUnknownFieldsStay: what another program adds to any object of a deck is there after a round trip, and the result
// is the same each time.
func TestUnknownFieldsStay(t *testing.T) {
	t.Parallel()
	d := sample()
	var plain bytes.Buffer
	if err := deck.Write(&plain, d); err != nil {
		t.Fatal(err)
	}
	marked, objects := mark(t, plain.Bytes())
	if objects < 40 {
		t.Fatalf("the sample has only %d objects", objects)
	}
	read, err := deck.Read(bytes.NewReader(marked))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := deck.Write(&again, read); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(again.String(), `"x-other":{"kept":[1,2]}`); got != objects {
		t.Errorf("%d of %d unknown fields are left", got, objects)
	}
	if a, b := canonical(t, marked), canonical(t, again.Bytes()); a != b {
		t.Errorf("the round trip changed the deck:\n%s\n%s", a, b)
	}
}

// mark adds a field to each object, except to those that are maps of names.
func mark(t *testing.T, data []byte) (marked []byte, objects int) {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any, named bool)
	walk = func(v any, named bool) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				walk(value, name == "colors" || name == "media")
			}
			if !named {
				objects++
				v["x-other"] = map[string]any{"kept": []int{1, 2}}
			}
		case []any:
			for _, value := range v {
				walk(value, false)
			}
		}
	}
	walk(v, false)
	marked, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return marked, objects
}

func canonical(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func sample() *deck.Deck {
	d := deck.New("Moorings")
	one := 1.5
	d.Media = map[string]deck.Media{"aa": {Type: "image/png", Bytes: 3}}
	d.Source = &deck.Source{Filename: "moorings.pdf"}
	d.Slides = []deck.Slide{{
		Layout: "content", Title: "Berths",
		Source:   &deck.Provenance{Document: "moorings.pdf", Page: 2, Area: &deck.Area{Right: 1, Bottom: 1}},
		Comments: []deck.Comment{{Text: "Which?"}},
		Elements: []deck.Element{
			{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines("Berths")},
			{
				Kind: deck.TableElement, Box: &deck.Box{W: 10, H: 10}, Table: &deck.Table{
					Columns: []int64{5, 5},
					Rows:    []deck.Row{{Cells: []deck.Cell{{Text: *deck.Lines("a"), ColSpan: 2}}}},
				},
			},
			{Kind: deck.PictureElement, Picture: &deck.Picture{Media: "aa", Crop: &deck.Crop{Left: 0.1}}},
			{
				Kind: deck.ChartElement, Chart: &deck.Chart{
					Kind: deck.PieChart, Categories: []string{"x"}, Series: []deck.Series{{Values: []*float64{&one}}},
				},
			},
			{
				Kind: deck.ShapeElement, Shape: &deck.Shape{Geometry: "custom", Paths: []deck.Path{{Commands: "M 0 0"}}},
				Text: &deck.Text{Inset: &deck.Inset{}, Paragraphs: []deck.Paragraph{{List: &deck.List{Kind: deck.NumberList}}}},
			},
		},
	}}
	return d
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for want, damage := range map[string]func(*deck.Deck){
		"deck.version is 2":                                 func(d *deck.Deck) { d.Version = 2 },
		"deck.size":                                         func(d *deck.Deck) { d.Size.Width = 0 },
		"deck.theme.colors.dark1 is not":                    func(d *deck.Deck) { d.Theme.Colors["dark1"] = "red" },
		"deck.size is not":                                  func(d *deck.Deck) { d.Size.Height = 51206401 },
		"elements[1].link is no address":                    func(d *deck.Deck) { d.Slides[0].Elements[1].Link = "file:///etc/passwd" },
		"elements[0].text.paragraphs[0].runs[0].link is no": func(d *deck.Deck) { d.Slides[0].Elements[0].Text.Paragraphs[0].Runs[0].Link = "JavaScript:alert(1)" },
		"cells[0].text.paragraphs[0].runs[0].link is no": func(d *deck.Deck) {
			d.Slides[0].Elements[1].Table.Rows[0].Cells[0].Text.Paragraphs[0].Runs[0].Link = `\\host\share`
		},
		"elements[1].table has not 1 to":                  func(d *deck.Deck) { d.Slides[0].Elements[1].Table.Rows = nil },
		"elements[1].table.rows[0].height is out":         func(d *deck.Deck) { d.Slides[0].Elements[1].Table.Rows[0].Height = -1 },
		"elements[3].chart.categories[0] is not a number": func(d *deck.Deck) { d.Slides[0].Elements[3].Chart.CategoryFormat = "0" },
		"elements[3].chart.category_groups[0] has not":    func(d *deck.Deck) { d.Slides[0].Elements[3].Chart.Groups = [][]string{{"a", "b"}} },
		"deck.slides[0].layout is none":                   func(d *deck.Deck) { d.Slides[0].Layout = "gone" },
		"deck.slides[0].elements[0].kind":                 func(d *deck.Deck) { d.Slides[0].Elements[0].Kind = "film" },
		"deck.slides[0].elements[0].text is missing":      func(d *deck.Deck) { d.Slides[0].Elements[0].Text = nil },
		"deck.slides[0].elements[1].box":                  func(d *deck.Deck) { d.Slides[0].Elements[1].Box.W = -1 },
		"elements[1].table.rows[0].cells[0] spans":        func(d *deck.Deck) { d.Slides[0].Elements[1].Table.Rows[0].Cells[0].ColSpan = 3 },
		"elements[2].picture.media is none":               func(d *deck.Deck) { delete(d.Media, "aa") },
		"elements[3].chart.kind is not":                   func(d *deck.Deck) { d.Slides[0].Elements[3].Chart.Kind = "tree" },
		"elements[3].chart.series[0].kind is not":         func(d *deck.Deck) { d.Slides[0].Elements[3].Chart.Series[0].Kind = "tree" },
		"elements[4].shape.fill is neither":               func(d *deck.Deck) { d.Slides[0].Elements[4].Shape.Fill = "blue" },
		"elements[1].table has more cells in row 2":       func(d *deck.Deck) { overlap(d.Slides[0].Elements[1].Table) },
		"layouts[1].placeholders[0].box is out":           func(d *deck.Deck) { d.Layouts[1].Placeholders[0].Box.Y = math.MinInt64 },
		"layouts[1].placeholders[0].styles[0].size is":    func(d *deck.Deck) { d.Layouts[1].Placeholders[0].Styles = []deck.Style{{Size: 1e300}} },
		"elements[0].text.styles[0] has a margin":         func(d *deck.Deck) { d.Slides[0].Elements[0].Text.Styles = []deck.Style{{Indent: 1 << 60}} },
		"elements[0].text.styles[0].line is not":          func(d *deck.Deck) { d.Slides[0].Elements[0].Text.Styles = []deck.Style{{Line: -1}} },
		"elements[4].text.inset is out":                   func(d *deck.Deck) { d.Slides[0].Elements[4].Text.Inset.Left = 1 << 60 },
		"elements[1].table.headers is not":                func(d *deck.Deck) { d.Slides[0].Elements[1].Table.Headers = -5 },
		"elements[4].text.paragraphs[0].level is not 0 t": func(d *deck.Deck) { d.Slides[0].Elements[4].Text.Paragraphs[0].Level = 9 },
	} {
		d := sample()
		damage(d)
		var e *taskerr.Error
		if err := d.Check(); err == nil {
			t.Errorf("%s: accepted", want)
		} else if e = taskerr.Classify(err); e.Class != taskerr.ValidationError || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := sample().Check(); err != nil {
		t.Error(err)
	}
}

// TestReadLimits: a deck that would take gigabytes when it is decoded is refused before that.
func TestReadLimits(t *testing.T) {
	t.Parallel()
	for what, list := range map[string]string{"slides": strings.Repeat("{},", 2_000_001) + "{}", "numbers": strings.Repeat("1,", 10_000_001) + "1"} {
		_, err := deck.Read(strings.NewReader(`{"version":1,"slides":[` + list + `]}`))
		if e := taskerr.Classify(err); err == nil || e.Class != taskerr.QuotaExceeded {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// overlap makes a second row whose cell is below one that covers it.
func overlap(t *deck.Table) {
	t.Rows = append(t.Rows, t.Rows[0])
	t.Rows[0].Cells = []deck.Cell{{RowSpan: 2, ColSpan: 2}}
}

// TestReadRefuses: an error tells the place and quotes nothing of the deck.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", `{"version":"secret"}`, `{"version":1`, `{"slides":[{"title":7}]}`} {
		_, err := deck.Read(strings.NewReader(text))
		if e := taskerr.Classify(err); err == nil || e.Class != taskerr.ValidationError || strings.Contains(e.Message, "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPlotOf: what is drawn together is of one kind, grouping and axis, and of a kind that the chart's axes allow.
func TestPlotOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chart  deck.Chart
		series deck.Series
		want   deck.Plot
	}{
		{deck.Chart{Kind: deck.ColumnChart, Grouping: deck.Stacked}, deck.Series{}, deck.Plot{Kind: deck.ColumnChart, Grouping: deck.Stacked}},
		{deck.Chart{Kind: deck.ColumnChart, Grouping: deck.Stacked}, deck.Series{Kind: deck.LineChart}, deck.Plot{Kind: deck.LineChart, Grouping: deck.Clustered}},
		{
			deck.Chart{Kind: deck.ColumnChart, Grouping: deck.Stacked},
			deck.Series{Grouping: deck.Clustered, Secondary: true},
			deck.Plot{Kind: deck.ColumnChart, Grouping: deck.Clustered, Secondary: true},
		},
		{deck.Chart{Kind: deck.LineChart, Grouping: "waterfall"}, deck.Series{}, deck.Plot{Kind: deck.LineChart, Grouping: deck.Clustered}},
		{deck.Chart{Kind: deck.ColumnChart}, deck.Series{Kind: deck.ScatterChart}, deck.Plot{Kind: deck.LineChart, Grouping: deck.Clustered}},
		{deck.Chart{Kind: deck.BubbleChart}, deck.Series{Kind: deck.AreaChart}, deck.Plot{Kind: deck.BubbleChart, Grouping: deck.Clustered}},
	} {
		if got := c.chart.PlotOf(&c.series); got != c.want {
			t.Errorf("%+v in %+v: %+v, want %+v", c.series, c.chart, got, c.want)
		}
	}
}
