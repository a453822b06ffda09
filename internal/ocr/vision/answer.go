package vision

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// verdict is the assessment of an answer. The zero value is a good answer.
type verdict struct {
	problem  string
	cut      bool         // more tokens may help
	final    bool         // another request won't help
	rotation ocr.Rotation // that makes the page upright
}

// examine extracts the Markdown from an answer.
func (e *Engine) examine(a llm.Answer) (string, verdict) {
	switch a.End {
	case llm.Filtered:
		return "", verdict{problem: "a content filter of the service blocked its answer", final: true}
	case llm.Refused:
		return "", verdict{problem: "it refused"}
	}
	text := unfenced(strings.TrimSpace(a.Text))
	found, turned := false, ocr.Rotation(0)
	if e.dialect.frontMatter {
		text, turned, found = frontMatter(text)
	}
	text = strings.TrimSpace(marks.ReplaceAllString(text, ""))
	switch {
	case loops(text, a.End == llm.CutOff):
		return "", verdict{problem: "its answer repeats itself"}
	case a.End == llm.CutOff:
		return "", verdict{problem: "its answer was cut off", cut: true}
	case text == noText, text == "" && found:
		return "", verdict{rotation: turned}
	case text == "":
		return "", verdict{problem: "its answer was empty"}
	case len(text) < longestRefusal && refusal.MatchString(text):
		return "", verdict{problem: "it refused"}
	}
	return text, verdict{rotation: turned}
}

// longestRefusal is in bytes; a page that happens to begin like a refusal is longer.
const longestRefusal = 300

var (
	refusal = pattern.New(`(?i)^(i['’]?m|i am)?\s*(sorry|unable to|not able to)\b|^i (can['’]?t|cannot|won['’]?t) (assist|help|transcribe|process|read|view|see|extract|provide)`)
	// marks are DeepSeek-OCR's positions of the text, which it may add without request.
	marks = pattern.New(`(?s)<\|ref\|>.*?<\|/ref\|>|<\|det\|>.*?<\|/det\|>`)
	fence = pattern.New("(?s)^```(?:markdown|md)?[ \\t]*\\n(.*)\\n```$")
)

// unfenced returns the content of a code block that is the whole answer.
func unfenced(text string) string {
	if m := fence.FindStringSubmatch(text); m != nil && !strings.Contains(m[1], "\n```\n") {
		return strings.TrimSpace(m[1])
	}
	return text
}

var (
	rotationValid = pattern.New(`(?mi)^is_rotation_valid:\s*(true|false)`)
	rotation      = pattern.New(`(?mi)^rotation_correction:\s*(0|90|180|270)\s*$`)
)

// frontMatter splits off the YAML at the top, which has the rotation that makes the page upright (degrees
// clockwise). found reports whether there is any.
func frontMatter(text string) (rest string, turned ocr.Rotation, found bool) {
	head, rest, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---")
	if !strings.HasPrefix(text, "---\n") || !ok {
		return text, 0, false
	}
	valid, degrees := rotationValid.FindStringSubmatch(head), rotation.FindStringSubmatch(head)
	if valid != nil && strings.EqualFold(valid[1], "false") && degrees != nil {
		turned = map[string]ocr.Rotation{"90": 1, "180": 2, "270": 3}[degrees[1]]
	}
	return strings.TrimSpace(rest), turned, true
}

const (
	tail        = 4000 // runes at an answer's end that are searched for a loop
	leastLoop   = 240  // minimum runes of a loop
	leastRounds = 8
)

// loops reports whether the text ends in a loop: the same run of any length, repeated. A long row of dots or
// dashes is not one, unless the answer was cut off in it.
func loops(text string, cut bool) bool {
	runes := lastRunes(text, tail)
	// The failure function of Knuth, Morris and Pratt over the text from its end: the first n runes of it have
	// the period n - fail[n].
	fail := make([]int, len(runes)+1)
	k := 0
	for n := 2; n <= len(runes); n++ {
		for k > 0 && runes[k] != runes[n-1] {
			k = fail[k]
		}
		if runes[k] == runes[n-1] {
			k++
		}
		fail[n] = k
		if period := n - k; n >= leastLoop && n >= leastRounds*period && (cut || worded(runes[:period])) {
			return true
		}
	}
	return false
}

// lastRunes returns the last n runes, the last one first.
func lastRunes(s string, n int) []rune {
	runes := make([]rune, 0, n)
	for len(s) > 0 && len(runes) < n {
		r, size := utf8.DecodeLastRuneInString(s)
		runes = append(runes, r)
		s = s[:len(s)-size]
	}
	return runes
}

func worded(runes []rune) bool {
	for _, r := range runes {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return true
		}
	}
	return false
}
