package tesseract

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// The columns of tesseract's TSV.
const (
	colLevel = iota
	colPage
	colBlock
	colParagraph
	colLine
	colWord
	colLeft
	colTop
	colWidth
	colHeight
	colConfidence
	colText
	columns
)

const (
	wordLevel = "5"
	// maxRow is the longest row, in bytes.
	maxRow = 256 << 10
)

// parser makes paragraphs of tesseract's TSV. A row of level 5 is a word, in the paragraph and line that its
// numbers name.
type parser struct {
	width, height float64 // of the image, in pixels
	rotation      ocr.Rotation

	paragraphs      []ocr.Paragraph
	paragraph, line string // of the last word
}

func (p *parser) parse(r io.Reader) error {
	rows := bufio.NewScanner(r)
	rows.Buffer(make([]byte, 0, 4<<10), maxRow)
	for rows.Scan() {
		p.row(strings.SplitN(rows.Text(), "\t", columns))
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the output of tesseract: %w", err)
	}
	return nil
}

func (p *parser) row(row []string) {
	if len(row) < columns || row[colLevel] != wordLevel {
		return
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(row[colText], "")), " ")
	if text == "" { // tesseract reports such words in pictures
		return
	}
	confidence, err := strconv.ParseFloat(row[colConfidence], 64)
	if err != nil || math.IsNaN(confidence) {
		return
	}
	word := ocr.Word{Text: text, Box: p.box(row), Confidence: min(max(confidence/100, 0), 1)}

	paragraph := row[colBlock] + "." + row[colParagraph]
	line := paragraph + "." + row[colLine]
	if paragraph != p.paragraph {
		p.paragraphs = append(p.paragraphs, nil)
	}
	last := &p.paragraphs[len(p.paragraphs)-1]
	if line != p.line {
		*last = append(*last, nil)
	}
	words := &(*last)[len(*last)-1]
	*words = append(*words, word)
	p.paragraph, p.line = paragraph, line
}

func (p *parser) box(row []string) ocr.Box {
	number := func(column int) float64 {
		n, err := strconv.Atoi(row[column])
		if err != nil {
			return 0
		}
		return float64(n)
	}
	left, top := number(colLeft), number(colTop)
	fraction := func(n, of float64) float64 { return min(max(n/of, 0), 1) }
	return p.rotation.Undo(ocr.Box{
		Left: fraction(left, p.width), Top: fraction(top, p.height),
		Right: fraction(left+number(colWidth), p.width), Bottom: fraction(top+number(colHeight), p.height),
	})
}
