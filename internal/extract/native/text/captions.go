package text

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var (
	captionStart  = pattern.New(`^\x{FEFF}?(?:WEBVTT(?:[ \t][^\n]*)?\r?\n|\s*\d+[ \t]*\r?\n\d+:\d\d:\d\d[,.]\d{3}[ \t]*-->)`)
	captionTime   = pattern.New(`^\s*(?:\d+:)?\d\d:\d\d[,.]\d{3}\s*-->`)
	captionNumber = pattern.New(`^\d+$`)
	captionNote   = pattern.New(`^(?:\x{FEFF}?WEBVTT|NOTE|STYLE|REGION)(?:\s|$)`)
	captionVoice  = pattern.New(`<v(?:\.[^\s>]*)?\s+([^>]+)>`)
	captionWord   = pattern.New(`<\d+:[\d:.]+>`)
	captionTag    = pattern.New(`</?(?:v|c|i|b|u|s|lang|ruby|rt|font)(?:[.\s][^>]*)?>|\{\\an\d\}`)
)

// isCaptions reports whether a text is the captions of a recording, WebVTT or SubRip, and whether it is WebVTT.
func isCaptions(lines *bufio.Reader) (is, web bool) {
	start, _ := lines.Peek(maxLine) // the reader of the lines reports what can't be read
	return captionStart.Match(start) && bytes.Contains(start, []byte("-->")),
		bytes.HasPrefix(bytes.TrimPrefix(start, []byte("\ufeff")), []byte("WEBVTT"))
}

// captions reads what is said in a recording: a paragraph a caption, without its number, its time and its style, and
// with the speaker where it is another one.
type captions struct {
	p       *parser
	web     bool // WebVTT: a number in front of a time may be text
	timed   bool // the caption that is read has its time
	rolling bool // words have times of their own: such captions begin with the end of the one before
	speaker string
	last    string // line of the caption before
}

func (c *captions) read(ctx context.Context, lines *bufio.Reader) error {
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		piece, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return taskerr.Errorf(taskerr.CorruptionDetected, "the text can't be read to its end: %w", err)
		}
		ended := errors.Is(err, io.EOF)
		if err := c.line(strings.TrimSpace(string(piece))); err != nil {
			return err
		}
		if ended {
			return c.line("")
		}
	}
}

// line adds a line to the caption that is read, which an empty one ends.
func (c *captions) line(line string) error {
	p := c.p
	switch {
	case line == "":
		return c.end()
	case captionTime.MatchString(line):
		c.dropIdentifier()
		err := c.end()
		c.timed = true
		return err
	}
	if p.bytes += len(line); p.bytes > maxParagraph {
		if err := c.end(); err != nil {
			return err
		}
		p.bytes = len(line)
	}
	p.lines = append(p.lines, line)
	return nil
}

// dropIdentifier drops the line before the time of the next cue: its number or name. Without an empty line before it SubRip
// still has a number there, while in WebVTT that line belongs to the cue before.
//
// Source: https://www.w3.org/TR/webvtt1/#webvtt-parser-algorithm
func (c *captions) dropIdentifier() {
	last := len(c.p.lines) - 1
	if last >= 0 && (!c.timed || !c.web && captionNumber.MatchString(c.p.lines[last])) {
		c.p.lines = c.p.lines[:last]
	}
}

// end emits the caption that is read. Lines without a time that are no notes are the rest of one with empty lines.
func (c *captions) end() error {
	lines, timed := c.p.lines, c.timed
	c.p.lines, c.p.bytes, c.timed = nil, 0, false
	if len(lines) == 0 || !timed && c.web && captionNote.MatchString(lines[0]) {
		return nil
	}
	var text []string
	for i, line := range lines {
		c.rolling = c.rolling || captionWord.MatchString(line)
		line = c.said(line)
		if line == "" || c.rolling && i == 0 && line == c.last {
			continue
		}
		text = append(text, line)
	}
	if len(text) == 0 {
		return nil
	}
	c.last = text[len(text)-1]
	return c.p.emit(extract.Block{Kind: extract.Paragraph, Text: strings.Join(text, " ")})
}

// said returns a line without its tags.
func (c *captions) said(line string) string {
	line = captionVoice.ReplaceAllStringFunc(line, func(tag string) string {
		name := strings.TrimSpace(captionVoice.FindStringSubmatch(tag)[1])
		if name == c.speaker {
			return " "
		}
		c.speaker = name
		return " " + name + ": "
	})
	line = captionTag.ReplaceAllString(captionWord.ReplaceAllString(line, ""), "")
	return strings.Join(strings.Fields(html.UnescapeString(line)), " ")
}
