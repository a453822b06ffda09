package xml_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// TestCheckedLetterhead: a value that only the header or the footer of the pages has is borne out on each of them. If the
// model names no page for it, that is all there is to say.
func TestCheckedLetterhead(t *testing.T) {
	t.Parallel()
	const iban = "DE89370400440532013000"
	head, first, _ := strings.Cut(invoice[0], "\n") // the head has the tax id
	pages := string(einvoicetest.PDF([]string{letter(head, first), letter(head, invoice[1])}))
	data := json.RawMessage(strings.Replace(string(gatewaytest.Sample), `"vatId":`, `"iban": "`+iban+`", "vatId":`, 1))
	for page, findings := range []int{1, 0, 0} {
		b := newBench(t, gatewaytest.Options{Invoice: data})
		b.Put("in.pdf", pages)
		b.model.reply = func(q llm.Question) (llm.Answer, error) {
			return says(with(parrot(q), "/invoice/seller/iban", iban, page), "agrees")
		}
		r := b.do(payloadOf(inChecked))
		if c := b.row(r.CheckID); r.Review || r.Verdict != "agrees" || r.Findings != findings || r.Source != xml.ByGateway {
			t.Errorf("page %d: %+v\n%+v", page, r, c)
		}
		b.calls(2, "a letterhead")
	}
}

// letter is a page with a header and a footer.
func letter(head, text string) string {
	lines := append([]string{head, "", ""}, strings.Split(text, "\n")...)
	for len(lines) < 52 { // the foot of the page
		lines = append(lines, "")
	}
	return strings.Join(append(lines, "Bank of Southhaven, IBAN DE89 3704 0044 0532 0130 00"), "\n")
}
