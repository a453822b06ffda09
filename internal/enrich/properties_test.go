package enrich_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func stated(properties map[string]string) map[string]any {
	return enrich.NewCollector().Finish(extract.Info{Properties: properties}).Stated()
}

func TestDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"D:20190503100000+02'00'":         "2019-05-03T08:00:00Z",
		"D:20190503100000+02'00":          "2019-05-03T08:00:00Z",
		"D:20190503100000Z00'00'":         "2019-05-03T10:00:00Z",
		"D:20190503100000":                "2019-05-03T10:00:00Z",
		"D:20190503":                      "2019-05-03T00:00:00Z",
		"2016-12-31T18:43:23+01":          "2016-12-31T17:43:23Z", // pdfinfo -isodates
		"2017-12-11T09:35:19-0630":        "2017-12-11T16:05:19Z",
		"2024-08-22T12:54:27Z":            "2024-08-22T12:54:27Z", // OOXML
		"2019-05-03T10:00:00.123456789":   "2019-05-03T10:00:00Z", // ODF
		"2026-03-03T10:00:00+05:30":       "2026-03-03T04:30:00Z",
		"2025-01-02":                      "2025-01-02T00:00:00Z", // EPUB
		"Tue, 03 Mar 2026 10:00:00 -0800": "2026-03-03T18:00:00Z", // mail
		// less than a day, no date
		"D:2019": "", "2011": "", "yesterday": "", "2019-13-45": "",
		// zeros of clocks
		"1970-01-01T00:00:00Z": "", "1601-01-01T00:00:00Z": "", "1899-12-30": "", "1980-01-01T00:00:00": "",
		"0001-01-01":        "",
		"D:99991231235959Z": "", "2999-01-01": "",
		time.Now().Add(72 * time.Hour).Format(time.RFC3339): "",
	} {
		got, _ := stated(map[string]string{"created": text})["created"].(string)
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := stated(map[string]string{"published": "1813-01-28"}); got["published"] != "1813-01-28T00:00:00Z" {
		t.Errorf("a book's first edition: %v", got)
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	got := stated(map[string]string{
		"author": "  Ada\n Lovelace ", "keywords": strings.Repeat("ü", 600), "creator": "Writer",
		"producer": "PDF maker", "modified": "2024-01-01",
		"created": "never", "unread_pages": "3", "message_id": "1@x",
	})
	keywords, _ := got["keywords"].(string)
	if len(keywords) > 1<<10+3 || !strings.HasSuffix(keywords, "ü…") {
		t.Errorf("keywords of %d bytes", len(keywords))
	}
	delete(got, "keywords")
	if want := map[string]any{
		"author": "Ada Lovelace", "producer": "PDF maker",
		"modified": "2024-01-01T00:00:00Z",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
