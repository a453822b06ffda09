package dashboard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// exactTime is how a time reads in full.
const exactTime = "2006-01-02 15:04:05 UTC"

// ago is a time as an element: in relative words, with the exact time on hover.
func ago(t any) template.HTML {
	var at time.Time
	switch t := t.(type) {
	case time.Time:
		at = t
	case *time.Time:
		if t != nil {
			at = *t
		}
	}
	if at.IsZero() {
		return `<span class="none">–</span>`
	}
	at = at.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, //nolint:gosec // no text of others
		at.Format(time.RFC3339), at.Format(exactTime), relative(time.Since(at))))
}

// relative is a time before now in words; negative: after it.
func relative(d time.Duration) string {
	past := d >= 0
	d = d.Abs()
	var text string
	switch {
	case d < 5*time.Second:
		return "now"
	case d < time.Minute:
		text = fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		text = fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		text = fmt.Sprintf("%d h", d/time.Hour)
	default:
		text = fmt.Sprintf("%d days", d/(24*time.Hour))
	}
	if past {
		return text + " ago"
	}
	return "in " + text
}

// took is a duration in milliseconds, in two units at most.
func took(ms any) string {
	var n int64
	switch ms := ms.(type) {
	case int64:
		n = ms
	case *int64:
		if ms == nil {
			return "–"
		}
		n = *ms
	case time.Duration:
		n = ms.Milliseconds()
	}
	d := time.Duration(n) * time.Millisecond
	switch {
	case d < time.Second:
		return strconv.FormatInt(n, 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return two(d, time.Minute, "min", time.Second, "s")
	case d < 48*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "min")
	}
	return two(d, 24*time.Hour, "days", time.Hour, "h")
}

// two is a duration in two units; of the lesser one nothing if it is none.
func two(d, unit time.Duration, name string, less time.Duration, lesser string) string {
	text := fmt.Sprintf("%d %s", d/unit, name)
	if rest := d % unit / less; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, lesser)
	}
	return text
}

// number is a whole number with its thousands apart.
func number(v any) string {
	text := fmt.Sprint(v)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	var out strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			out.WriteRune(',')
		}
		out.WriteRune(c)
	}
	return sign + out.String()
}

// percent is a share of a whole; nothing of nothing is "–". It is 100 % or 0 % only if it is exactly that.
func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	share := 100 * float64(part) / float64(whole)
	if share == 0 || share == 100 {
		return fmt.Sprintf("%.0f %%", share)
	}
	return fmt.Sprintf("%.1f %%", math.Min(math.Max(share, 0.1), 99.9))
}

// words is a name of the program as people write it: dead_letter is "dead letter".
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// title is a name of the program at the begin of a line.
func title(name string) string {
	text := words(name)
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// pretty is JSON with an indent; other text is as it is.
func pretty(raw any) string {
	var text string
	switch raw := raw.(type) {
	case string:
		text = raw
	case json.RawMessage:
		text = string(raw)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // large numbers stay exact
	if d.Decode(&v) != nil || d.More() {
		return text
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // the template escapes
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return text
	}
	return strings.TrimRight(out.String(), "\n")
}

// clip is the beginning of a text in one line, of at most length runes.
func clip(text string, length int) string {
	text = strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " ")
	if utf8.RuneCountInString(text) <= length {
		return text
	}
	runes := []rune(text)
	return strings.TrimSpace(string(runes[:length-1])) + "…"
}

// member is a text of a JSON object; empty: there is none.
func member(raw json.RawMessage, names ...string) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	for _, name := range names {
		if text, ok := fields[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// subject is what a job is about: its file, or its question. The login and the query of an address may be secrets.
func subject(j store.Job) string {
	text := member(j.Payload, "filename", "prompt")
	if text == "" {
		text = task.RedactSource(member(j.Payload, "source_uri"))
	}
	if text == "" {
		text = member(j.Payload, "blob", "deck_id")
	}
	return cmp.Or(clip(text, 90), j.ID)
}

// lasted is how long a job has worked so far, or did until its end, in milliseconds; nil: it has not begun.
func lasted(j store.Job) *int64 {
	if j.StartedAt == nil {
		return nil
	}
	end := time.Now()
	if j.CompletedAt != nil {
		end = *j.CompletedAt
	}
	return new(max(end.Sub(*j.StartedAt).Milliseconds(), 0))
}

// pages are page numbers, with ranges: 1–3, 7.
func pages(list []int) string {
	var out []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if k > i {
			out = append(out, fmt.Sprintf("%d–%d", list[i], list[k]))
		} else {
			out = append(out, strconv.Itoa(list[i]))
		}
		i = k + 1
	}
	return strings.Join(out, ", ")
}

// detail is what an event says beside its message, in short.
func detail(e store.JobEvent) string {
	if d, ok := e.Delta(); ok && d.Restart {
		return clip("(restarted) "+d.Piece, 160)
	} else if ok {
		return clip(d.Piece, 160)
	}
	if len(e.Metadata) == 0 || string(e.Metadata) == "{}" || string(e.Metadata) == "null" {
		return ""
	}
	return clip(string(e.Metadata), 160)
}
