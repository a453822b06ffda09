package xml_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// TestNotations: a gateway may write rates as fractions, and dates in words or as eight digits. The model gives them as
// the invoice prints them, and nobody has to look at it; unless they are others.
func TestNotations(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		old, by      string // in the sample
		path, stated string
		page         int
		review       bool
	}{
		"a rate":                         {`"taxPercent": 19`, `"taxPercent": 0.19`, "/invoice/taxPercent", "19 %", 2, false},
		"another rate":                   {`"taxPercent": 19`, `"taxPercent": 0.06`, "/invoice/taxPercent", "19 %", 2, true},
		"a date of eight digits":         {"2026-03-17", "20260317", "/invoice/issueDate", "17 March 2026", 1, false},
		"another date of eight digits":   {"2026-03-17", "20260517", "/invoice/issueDate", "17 March 2026", 1, true},
		"a date in words":                {"2026-04-16", "16. April 2026", "/invoice/dueDate", "16.04.2026", 2, false},
		"another month":                  {"2026-03-17", "17 May 2026", "/invoice/issueDate", "17 May 2026", 1, true},
		"another day, as a list has it":  {"2026-04-16", "19. April 2026", "/invoice/dueDate", "19. April 2026", 2, true},
		"another sum, as a list has it":  {`2876.11`, `"987. EUR"`, "/invoice/total", "987. EUR", 2, true},
		"an amount of another notation":  {`2876.11`, `"EUR 2.876,11"`, "/invoice/total", "2,876.11 EUR", 2, false},
		"the rate as the invoice has it": {`"taxPercent": 19`, `"taxPercent": "19 %"`, "/invoice/taxPercent", "19", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := strings.Replace(string(gatewaytest.Sample), x.old, x.by, 1)
			if read == string(gatewaytest.Sample) {
				t.Fatalf("the sample has no %s", x.old)
			}
			b := newBench(t, gatewaytest.Options{Invoice: json.RawMessage(read)})
			b.model.reply = func(q llm.Question) (llm.Answer, error) {
				return says(with(parrot(q), x.path, x.stated, x.page), "agrees")
			}
			r := b.do(payloadOf(inChecked))
			if c := b.row(r.CheckID); r.Review != x.review || (r.Source == xml.ByGateway) == x.review || len(c.Findings) > 0 != x.review {
				t.Errorf("%+v, %+v", r, c)
			}
		})
	}
}
