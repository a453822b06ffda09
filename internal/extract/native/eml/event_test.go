package eml_test

import (
	"strings"
	"testing"
)

// TestInvitation: the calendar version of a text has the date and the place, which the text need not repeat.
func TestInvitation(t *testing.T) {
	t.Parallel()
	calendar := func(lines ...string) string {
		return "Content-Type: text/calendar; charset=utf-8; method=REQUEST\n\nBEGIN:VCALENDAR\n" + strings.Join(lines, "\n") + "\nEND:VCALENDAR"
	}
	for _, tt := range []struct{ what, part, want string }{
		{
			"UTC", calendar("BEGIN:VEVENT", "SUMMARY:Board", "DTSTART:20260305T100000Z", "LOCATION:Room 5", "END:VEVENT"),
			"Event: Board\nStart: 2026-03-05 10:00 UTC\nPlace: Room 5",
		},
		{
			"zones, folding, escapes, alarms",
			calendar("BEGIN:VTIMEZONE", "BEGIN:STANDARD", "DTSTART:16011028T030000", "END:STANDARD", "END:VTIMEZONE", "BEGIN:VEVENT",
				"SUMMARY;LANGUAGE=de:Über\r\n die Kräne\\, kurz", "DTSTART;TZID=\"Europe/Berlin\":20260305T100000",
				"DTEND;VALUE=DATE:20260306", "BEGIN:VALARM", "SUMMARY:Alarm", "END:VALARM", "END:VEVENT"),
			"Event: Überdie Kräne, kurz\nStart: 2026-03-05 10:00 (Europe/Berlin)\nEnd: 2026-03-06",
		},
		{"no event", calendar("BEGIN:VTODO", "SUMMARY:Todo", "END:VTODO"), "The plain text."},
		{"cut off", calendar("BEGIN:VEVENT", "SUMMARY:Board"), "The plain text."},
	} {
		doc := read(t, head+multi("alternative", "b", plain, tt.part))
		if got := doc.Blocks[len(doc.Blocks)-1].Text; got != tt.want || !strings.Contains(text(doc), "The plain text.") {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}
