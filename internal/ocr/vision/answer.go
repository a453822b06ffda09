package vision

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// trouble is what is wrong with an answer. The zero value is a good one.
type trouble struct {
	problem string
	cut     bool     // more tokens may help
	final   bool     // asking again won't help
	turn    ocr.Turn // the page has to be turned so to be read
}

// examine takes the Markdown out of an answer.
func (e *Engine) examine(a llm.Answer) (string, trouble) {
	switch a.End {
	case llm.Filtered:
		return "", trouble{problem: "a content filter of the service took its answer", final: true}
	case llm.Refused:
		return "", trouble{problem: "it refuses to"}
	}
	text := unfenced(strings.TrimSpace(a.Text))
	told, turn := false, ocr.Turn(0)
	if e.dialect.frontMatter {
		text, turn, told = frontMatter(text)
	}
	text = strings.TrimSpace(marks.ReplaceAllString(text, ""))
	switch {
	case loops(text, a.End == llm.CutOff):
		return "", trouble{problem: "its answer repeats itself without end"}
	case a.End == llm.CutOff:
		return "", trouble{problem: "its answer was cut off", cut: true}
	case text == noText, text == "" && told:
		return "", trouble{turn: turn}
	case text == "":
		return "", trouble{problem: "its answer was empty"}
	case len(text) < longestRefusal && refusal.MatchString(text):
		return "", trouble{problem: "it refuses to"}
	}
	return text, trouble{turn: turn}
}

// longestRefusal is in bytes: a page that begins so by itself goes on.
const longestRefusal = 300

var (
	refusal = regexp.MustCompile(`(?i)^(i['’]?m|i am)?\s*(sorry|unable to|not able to)\b|^i (can['’]?t|cannot|won['’]?t) (assist|help|transcribe|process|read|view|see|extract|provide)`)
	// marks are where DeepSeek-OCR saw what it says, when it was not asked for that.
	marks = regexp.MustCompile(`(?s)<\|ref\|>.*?<\|/ref\|>|<\|det\|>.*?<\|/det\|>`)
	fence = regexp.MustCompile("(?s)^```(?:markdown|md)?[ \\t]*\\n(.*)\\n```$")
)

// unfenced takes the answer out of a code block that is all of it.
func unfenced(text string) string {
	if m := fence.FindStringSubmatch(text); m != nil && !strings.Contains(m[1], "\n```\n") {
		return strings.TrimSpace(m[1])
	}
	return text
}

var (
	rotationValid = regexp.MustCompile(`(?mi)^is_rotation_valid:\s*(true|false)`)
	rotation      = regexp.MustCompile(`(?mi)^rotation_correction:\s*(0|90|180|270)\s*$`)
)

// frontMatter takes off the YAML on top, which says how the page has to be turned (degrees clockwise). told: it
// was there.
func frontMatter(text string) (rest string, turn ocr.Turn, told bool) {
	head, rest, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---")
	if !strings.HasPrefix(text, "---\n") || !ok {
		return text, 0, false
	}
	valid, degrees := rotationValid.FindStringSubmatch(head), rotation.FindStringSubmatch(head)
	if valid != nil && strings.EqualFold(valid[1], "false") && degrees != nil {
		turn = map[string]ocr.Turn{"90": 1, "180": 2, "270": 3}[degrees[1]]
	}
	return strings.TrimSpace(rest), turn, true
}

const (
	tail        = 4000 // runes of an answer's end in which a loop is looked for
	leastLoop   = 240  // runes that a loop has at least
	leastRounds = 8
)

// loops reports whether the text ends in a loop: the same run of any length, again and again. A long row of dots or
// dashes is none, unless the answer was cut off in it.
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

// lastRunes are the last n runes, the last one first.
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
