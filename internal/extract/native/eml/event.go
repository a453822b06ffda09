package eml

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const maxCalendar = 256 << 10 // bytes of an invitation that are read

var (
	folding  = pattern.New(`\r?\n[ \t]`)
	property = pattern.New(`^(SUMMARY|DTSTART|DTEND|LOCATION)(?:;(?:[^:"]|"[^"]*")*)?:(.*)`)
	zone     = pattern.New(`;TZID="?([^:;"]+)`)
	escaped  = strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`)
)

// invitation emits what the calendar version of a text states of its event: the text need not repeat it.
func (w *walker) invitation(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open an invitation: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	calendar, err := io.ReadAll(io.LimitReader(file, maxCalendar))
	if err != nil {
		return fmt.Errorf("read an invitation: %w", err)
	}
	if text := event(strings.ToValidUTF8(string(calendar), "\uFFFD")); text != "" {
		return w.files.Put(extract.Block{Kind: extract.Paragraph, Text: text})
	}
	return nil
}

// event returns name, time and place of the first event of a calendar (RFC 5545).
func event(calendar string) string {
	found, inEvent, depth := map[string]string{}, false, 0 // depth: of components within the event, such as alarms
	for line := range strings.Lines(folding.ReplaceAllString(calendar, "")) {
		line = strings.TrimSpace(line)
		switch m := property.FindStringSubmatch(line); {
		case line == "BEGIN:VEVENT":
			inEvent = true
		case !inEvent:
		case strings.HasPrefix(line, "BEGIN:"):
			depth++
		case strings.HasPrefix(line, "END:") && depth > 0:
			depth--
		case line == "END:VEVENT":
			return shown(found)
		case m != nil && depth == 0:
			found[m[1]] = stated(line, m[1], m[2])
		}
	}
	return ""
}

// shown returns the properties of an event for display.
func shown(found map[string]string) string {
	var all []string
	for _, label := range []struct{ name, text string }{
		{"SUMMARY", "Event: "}, {"DTSTART", "Start: "}, {"DTEND", "End: "}, {"LOCATION", "Place: "},
	} {
		if value := show(found[label.name]); value != "" {
			all = append(all, label.text+value)
		}
	}
	return strings.Join(all, "\n")
}

// stated returns the value of a property: a time with its zone, or a text.
func stated(line, name, value string) string {
	if name == "SUMMARY" || name == "LOCATION" {
		return escaped.Replace(value)
	}
	for _, form := range []struct{ layout, shown string }{
		{"20060102T150405Z", "2006-01-02 15:04 UTC"}, {"20060102T150405", "2006-01-02 15:04"}, {"20060102", time.DateOnly},
	} {
		if at, err := time.Parse(form.layout, value); err == nil {
			value = at.Format(form.shown)
			break
		}
	}
	if m := zone.FindStringSubmatch(line); m != nil {
		value += " (" + m[1] + ")"
	}
	return value
}
