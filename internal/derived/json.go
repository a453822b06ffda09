package derived

import (
	"encoding/json"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// jsonDocument is the derived document as JSON. Boxes are in fractions (0-1) of the page image from its top
// left, in the source's orientation (rotation is how it was rotated to be read). What the engine doesn't know
// is omitted.
type jsonDocument struct {
	SchemaVersion int            `json:"schema_version"` // 1
	Filename      string         `json:"filename"`
	SourceFormat  extract.Format `json:"source_format"`
	Engine        string         `json:"ocr_engine"`
	EngineVersion string         `json:"ocr_engine_version,omitempty"`
	Languages     []string       `json:"languages,omitempty"`
	// Last, because it is written page by page.
	Pages          []jsonPage `json:"pages"`
	PageCount      int        `json:"page_count"`
	MeanConfidence *float64   `json:"mean_confidence"`
	UnreadPages    []int      `json:"unread_pages"`
}

type jsonPage struct {
	Page       int      `json:"page"`
	Width      int      `json:"width,omitempty"` // pixels
	Height     int      `json:"height,omitempty"`
	DPI        int      `json:"dpi,omitempty"`
	Rotation   int      `json:"rotation"` // degrees clockwise
	Confidence *float64 `json:"confidence,omitempty"`
	Engine     string   `json:"ocr_engine,omitempty"` // if not the document's
	Unread     string   `json:"unread,omitempty"`     // why it could not be read
	Markdown   string   `json:"markdown,omitempty"`   // as returned by the engine
	// Blocks come last, because they are written one by one.
	Blocks []jsonBlock `json:"blocks"`
}

type jsonBlock struct {
	Type       extract.Kind   `json:"type"`
	Text       string         `json:"text"`
	Level      int            `json:"level,omitempty"`
	Marker     string         `json:"marker,omitempty"`
	Box        *extract.Box   `json:"box,omitempty"`
	Confidence *float64       `json:"confidence,omitempty"`
	Table      *extract.Table `json:"table,omitempty"`
	Links      []extract.Link `json:"links,omitempty"`
	Lines      []jsonLine     `json:"lines,omitempty"`
}

type jsonLine struct {
	Text  string       `json:"text"`
	Box   *extract.Box `json:"box,omitempty"`
	Words []jsonWord   `json:"words"`
}

type jsonWord struct {
	Text       string       `json:"text"`
	Box        *extract.Box `json:"box,omitempty"`
	Confidence *float64     `json:"confidence,omitempty"`
}

// jsonWriter writes a jsonDocument incrementally: the head and each page are marshaled with an empty list at
// the end, which is left open.
type jsonWriter struct {
	out           *output
	head          Head
	pages, blocks int
}

func newJSON(out *output, h Head) *jsonWriter {
	return &jsonWriter{out: out, head: h}
}

// open writes a value up to the bracket of its last list.
func (j *jsonWriter) open(value any, closing string) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write the derived document: %w", err)
	}
	j.out.put(string(raw[:len(raw)-len(closing)]))
	return nil
}

func (j *jsonWriter) begin() error {
	if j.pages > 0 {
		return nil
	}
	const tail = `],"page_count":0,"mean_confidence":null,"unread_pages":null}`
	return j.open(jsonDocument{
		SchemaVersion: 1, Filename: j.head.Filename, SourceFormat: j.head.SourceFormat, Engine: j.head.Engine,
		EngineVersion: j.head.Version, Languages: j.head.Languages, Pages: []jsonPage{},
	}, tail)
}

// Page implements Writer.
func (j *jsonWriter) Page(p Page) error {
	if err := j.begin(); err != nil {
		return err
	}
	if j.pages > 0 {
		j.out.put("]},\n")
	} else {
		j.out.put("\n")
	}
	j.pages++
	j.blocks = 0
	page := jsonPage{
		Page: p.Number, Width: p.Width, Height: p.Height, DPI: p.DPI, Rotation: p.Turned, Engine: p.Engine,
		Unread: p.Unread, Markdown: p.Markdown, Blocks: []jsonBlock{},
	}
	if j.head.Abilities.Confidence && p.Letters > 0 {
		page.Confidence = &p.Confidence
	}
	if err := j.open(page, "]}"); err != nil {
		return err
	}
	return j.out.err()
}

// Block implements Writer.
func (j *jsonWriter) Block(b Block) error {
	if j.blocks > 0 {
		j.out.put(",")
	}
	j.blocks++
	block := jsonBlock{
		Type: b.Kind, Text: b.Text, Level: b.Level, Marker: b.Marker, Box: b.Box, Table: b.Table, Links: b.Links,
	}
	if len(b.Words) > 0 {
		if j.head.Abilities.Confidence {
			block.Confidence = new(ocr.Page{Paragraphs: []ocr.Paragraph{b.Words}}.Confidence())
		}
		for _, line := range b.Words {
			block.Lines = append(block.Lines, j.line(line))
		}
	}
	if err := j.open(block, ""); err != nil {
		return err
	}
	return j.out.err()
}

func (j *jsonWriter) line(l ocr.Line) jsonLine {
	line := jsonLine{Text: l.Text(), Box: known(l.Box()), Words: make([]jsonWord, len(l))}
	for i, w := range l {
		line.Words[i] = jsonWord{Text: w.Text, Box: known(w.Box)}
		if j.head.Abilities.Confidence {
			line.Words[i].Confidence = &w.Confidence
		}
	}
	return line
}

func known(b ocr.Box) *extract.Box {
	if !b.Known() {
		return nil
	}
	return new(extract.Box(b))
}

// Close implements Writer.
func (j *jsonWriter) Close(t Tail) error {
	if err := j.begin(); err != nil {
		return err
	}
	if j.pages > 0 {
		j.out.put("]}")
	}
	unread := t.Unread
	if unread == nil {
		unread = []int{}
	}
	raw, err := json.Marshal(struct {
		PageCount      int      `json:"page_count"`
		MeanConfidence *float64 `json:"mean_confidence"`
		UnreadPages    []int    `json:"unread_pages"`
	}{t.Pages, t.MeanConfidence, unread})
	if err != nil {
		return fmt.Errorf("write the derived document: %w", err)
	}
	j.out.put("\n],", string(raw[1:]), "\n")
	return j.out.flush()
}
