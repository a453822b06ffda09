// Package pptx extracts PowerPoint presentations (Office Open XML, ECMA-376 part 1, chapter 19), transitional
// and strict. Each slide is a page. It holds one slide at a time in memory, and what slides inherit from
// layouts. Comments name elements as the standard does, with the prefixes p and a.
package pptx

import (
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxItems limits the shapes, paragraphs and cells of one slide, which are held until the slide is sorted.
const maxItems = 200_000

// New returns an extractor of PowerPoint presentations. Hidden slides are read as well, since hiding only takes
// them out of the show; the property "hidden_slides" has their numbers.
func New() extract.Extractor { return ooxml.Extractor("native/pptx", 6, read) }

func read(
	ctx context.Context, pkg *ooxml.Package, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	r := &reader{
		ctx: ctx, pkg: pkg, emit: flow.Items(emit), limits: limits, bytes: 4 * limits.Characters,
		layouts: map[string]*layout{}, footers: map[string]bool{}, authors: map[string]string{},
		languages: map[string]int{}, read: map[string]bool{},
	}
	properties, err := pkg.Properties(ctx)
	if err != nil {
		return extract.Info{}, err
	}
	if err := r.presentation(); err != nil {
		return extract.Info{}, err
	}
	if len(r.hidden) > 0 {
		properties["hidden_slides"] = strings.Join(r.hidden, ", ")
	}
	return extract.Info{Title: r.title, Language: r.language(), Pages: r.page, Properties: properties}, nil
}

// reader walks one presentation. Methods without a part parameter are called after an element's start tag and
// read to its end.
type reader struct {
	ctx       context.Context
	pkg       *ooxml.Package
	d         *ooxml.Decoder // of the part being read
	emit      extract.Emit
	limits    extract.Limits
	width     float64 // of the slides, in EMU
	height    float64
	slides    []string                  // relation ids in presentation order
	layouts   map[string]*layout        // by part: layouts and masters
	authors   map[string]string         // of comments, by id
	footers   map[string]bool           // footers that were emitted
	languages map[string]int            // bytes of text by language
	relations map[string]ooxml.Relation // of the part being read, for its links
	numbers   map[string]int            // of the slides, by part
	quiet     bool                      // reading a layout, whose prompts are not text of the presentation
	title     string                    // of the first slide
	read      map[string]bool           // charts and diagrams that were read
	hidden    []string                  // numbers of hidden slides
	page      int
	items     int // shapes, paragraphs and cells of the current slide
	bytes     int // remaining budget for text
}

// presentation reads the main part and emits the slides.
func (r *reader) presentation() error {
	main, err := r.pkg.Main(r.ctx, "ppt/presentation.xml")
	if err != nil {
		return err
	}
	err = r.pkg.Read(r.ctx, main, r.order)
	if errors.Is(err, fs.ErrNotExist) {
		err = taskerr.Errorf(taskerr.CorruptionDetected,
			"the presentation has no main part: it is damaged; save it again and upload it")
	}
	if err != nil {
		return err
	}
	relations, err := r.pkg.Relations(r.ctx, main)
	if err != nil {
		return err
	}
	if err := r.readAuthors(relations); err != nil {
		return err
	}
	r.numbers = map[string]int{}
	r.slides = slices.DeleteFunc(r.slides, func(id string) bool { // no program lists a slide twice; reading it costs time
		slide := relations[id].Target
		again := r.numbers[slide] > 0
		if !again {
			r.numbers[slide] = len(r.numbers) + 1
		}
		return again
	})
	for _, id := range r.slides {
		r.page++
		err := r.slide(relations[id].Target)
		if errors.Is(err, fs.ErrNotExist) {
			err = taskerr.Errorf(taskerr.CorruptionDetected,
				"slide %d is missing in the file: it is damaged; save it again and upload it", r.page)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// order reads the p:sldIdLst and the slide size.
func (r *reader) order(d *ooxml.Decoder) error {
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "sldId":
			id := ooxml.RelationID(start, "id")
			if id == "" { // a list of sections (p14:sectionLst) names the slides again, without their parts
				return nil
			}
			if len(r.slides) == r.limits.Pages {
				return taskerr.Errorf(taskerr.QuotaExceeded,
					"the presentation has more than %d slides: split it into smaller files", r.limits.Pages)
			}
			r.slides = append(r.slides, id)
		case "sldSz":
			r.width, r.height = float64(ooxml.Int(ooxml.Attr(start, "cx"), 0)),
				float64(ooxml.Int(ooxml.Attr(start, "cy"), 0))
		}
		return nil
	})
}

// hide records that the current slide is hidden.
func (r *reader) hide() { r.hidden = append(r.hidden, strconv.Itoa(r.page)) }

// language returns the language of most of the text, or "" if none is declared.
func (r *reader) language() string {
	most := ""
	for language, n := range r.languages {
		if n > r.languages[most] || n == r.languages[most] && language < most {
			most = language
		}
	}
	return most
}

// spend charges text as soon as it is held in memory, at most four bytes per character.
func (r *reader) spend(text string) error { return r.spendBytes(len(text)) }

func (r *reader) spendBytes(n int) error {
	if r.bytes -= n; r.bytes < 0 {
		return extract.TooManyCharacters(r.limits.Characters)
	}
	return nil
}

// item counts a piece that is held until the slide is emitted.
func (r *reader) item() error {
	if r.items++; r.items > maxItems {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"slide %d holds more than %d shapes, paragraphs and cells: it is not read", r.page, maxItems)
	}
	return nil
}
