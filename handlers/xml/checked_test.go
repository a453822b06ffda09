package xml_test

import (
	"encoding/json"
	stdxml "encoding/xml"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const inChecked = `,"mode":"checked"`

// row is a row of llm_checks.
type row struct {
	Confidence float64 `json:"confidence"`
	Verdict    string  `json:"verdict"`
	Model      string  `json:"model"`
	Findings   []struct {
		Path    string `json:"path"`
		Value   string `json:"value"`
		Page    int    `json:"page"`
		Stated  string `json:"stated"`
		Problem string `json:"problem"`
		Pages   []int  `json:"pages"`
	} `json:"findings"`
}

func (b *bench) row(id string) (r row) {
	b.Helper()
	text := handlertest.Query[string](b.Bench, "select to_jsonb(c)::text from llm_checks c where id = $1::uuid", id)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		b.Fatal(err)
	}
	return r
}

// TestChecked: what the document bears out is made XML by the gateway, in two calls and one question; a second job costs
// nothing and has its own row.
func TestChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	first := b.do(payloadOf(inChecked))
	for _, r := range []result{first, b.do(payloadOf(inChecked))} {
		if got := b.Get(r.ResultPath); got != string(gatewaytest.Convert(gatewaytest.Sample, gatewaytest.Mapping, false)) {
			t.Errorf("%s", got)
		}
		if r.Confidence == nil || *r.Confidence != 0.97 || r.Verdict != "agrees" || r.Review || r.Findings != 0 ||
			r.Source != xml.ByGateway || r.HTTPStatus != 200 || r.GatewayMS < 2 || r.Deduplicated != (r.ResultPath != first.ResultPath) {
			t.Errorf("%+v", r)
		}
		if c := b.row(r.CheckID); c.Confidence != 0.97 || c.Verdict != "agrees" || c.Model != "scripted" || len(c.Findings) != 0 {
			t.Errorf("the row: %+v", c)
		}
	}
	b.calls(2, "two checked jobs")
	if n := len(b.model.asked); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if calls := b.gateway.Calls(); calls[0].Accept != "application/json" || calls[1].Format != "application/json" {
		t.Errorf("the calls: %+v", calls)
	}
	// The same reading, indented: one more call.
	b.do(payloadOf(inChecked + `,"pretty":true`))
	b.calls(3, "a pretty one")
	if n := len(b.model.asked); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestCheckedBelongsToTheDocument: each answer that is kept names the document, whose deletion removes it, also if the
// payload doesn't.
func TestCheckedBelongsToTheDocument(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.Put("uploads/t7.pdf", string(einvoicetest.PDF(invoice)))
	r := b.finish(b.BeginAs("t7", task.XML, `{"mode":"checked"}`, task.Hints{}))
	if got := handlertest.Query[string](b.Bench, "select string_agg(mode, ' ' order by mode) from gateway_answers where source_sha256 = $1",
		r.ContentSHA256); got != "checked read write" {
		t.Errorf("answers of the document: %s", got)
	}
	if got := handlertest.Query[string](b.Bench, "select string_agg(concat(filename, ' ', blob), ', ') from partials"); got !=
		"uploads/t7.pdf uploads/t7.pdf" {
		t.Errorf("checks are of %s", got)
	}
}

// TestForged: an amount that the document does not state takes the confidence below the bound, whatever a model says of
// it, and the row says where. The XML is then the model's, for a person to review, and no second call is paid for.
func TestForged(t *testing.T) {
	t.Parallel()
	forge := func(old, forged string) json.RawMessage {
		return json.RawMessage(strings.Replace(string(gatewaytest.Sample), old, forged, 1))
	}
	called := func(q llm.Question) []read {
		all := with(parrot(q), "/invoice/total", "", 0)
		for i := range all {
			all[i].Code = all[i].Path == "/invoice/total"
		}
		return all
	}
	for name, x := range map[string]struct {
		invoice json.RawMessage
		reply   func(q llm.Question) []read // nil: the model repeats the data
		path    string
		page    int
		stated  string
		pages   []int
	}{
		"an amount": {invoice: forge("2876.11", "9876.11"), path: "/invoice/total", page: 2},
		"an amount that the model reads right": {
			invoice: forge("2876.11", "9876.11"), path: "/invoice/total", page: 2, stated: "2,876.11",
			reply: func(q llm.Question) []read { return with(parrot(q), "/invoice/total", "2,876.11", 2) },
		},
		"an amount of another page": {
			path: "/invoice/total", page: 1, pages: []int{2},
			reply: func(q llm.Question) []read { return with(parrot(q), "/invoice/total", "2876.11", 1) },
		},
		"another amount of the page": {
			invoice: forge(`"total": 2876.11`, `"total": 459.21`), path: "/invoice/total", page: 2, stated: "2,876.11",
			reply: func(q llm.Question) []read { return with(parrot(q), "/invoice/total", "2,876.11", 2) },
		},
		"a date":                                        {invoice: forge("2026-04-16", "2026-05-16"), path: "/invoice/dueDate", page: 2},
		"a number":                                      {invoice: forge("SH-2026-0417", "SH-2026-0471"), path: "/invoice/number", page: 1},
		"a tax id":                                      {invoice: forge("DE811907980", "DE811907981"), path: "/invoice/seller/vatId", page: 1},
		"an amount called a code":                       {invoice: forge("2876.11", "9876"), path: "/invoice/total", reply: called},
		"an amount as text, called a code":              {invoice: forge("2876.11", `"9876"`), path: "/invoice/total", reply: called},
		"a sum with its unit, called a code":            {invoice: forge("2876.11", `"$987"`), path: "/invoice/total", reply: called},
		"an amount as text, without its mark":           {invoice: forge("2876.11", `"287611"`), path: "/invoice/total", page: 2},
		"an amount as text, without its mark, in euros": {invoice: forge("2876.11", `"287611 EUR"`), path: "/invoice/total", page: 2},
		"an amount as text, with a minus":               {invoice: forge("2876.11", `"-2876.11 EUR"`), path: "/invoice/total", page: 2},
		"an amount as text, of two columns":             {invoice: forge("2876.11", `"341250"`), path: "/invoice/total", page: 2},
		"an amount on a page that is not there": {
			invoice: forge("2876.11", "9876.11"), path: "/invoice/total", page: 99,
			reply: func(q llm.Question) []read { return with(parrot(q), "/invoice/total", "9876.11", 99) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, gatewaytest.Options{Invoice: x.invoice})
			if x.reply != nil {
				b.model.reply = func(q llm.Question) (llm.Answer, error) { return says(x.reply(q), "agrees") }
			}
			r := b.do(payloadOf(inChecked))
			c := b.row(r.CheckID)
			if r.Confidence == nil || *r.Confidence >= 0.85 || r.Verdict != "differs" || !r.Review || r.Source != xml.ByModel ||
				len(r.Warnings) != 1 || len(c.Findings) != 1 {
				t.Fatalf("%+v\n%+v", r, c)
			}
			f := c.Findings[0]
			if f.Path != x.path || f.Page != x.page || f.Stated != x.stated || len(f.Pages) != len(x.pages) || f.Problem == "" ||
				f.Value == "" || len(x.pages) > 0 && f.Pages[0] != x.pages[0] {
				t.Errorf("the finding: %+v", f)
			}
			t.Logf("confidence %.2f, %s is %s, page %d: %s (pages %v, stated %q)", c.Confidence, f.Path, f.Value, f.Page, f.Problem,
				f.Pages, f.Stated)
			b.calls(1, "a forged value")
			var extraction struct {
				XMLName stdxml.Name
				Review  string `xml:"review,attr"`
				Source  string `xml:"source,attr"`
				Fields  []struct {
					Path string `xml:"path,attr"`
				} `xml:"field"`
				Findings []struct{} `xml:"finding"`
			}
			if err := stdxml.Unmarshal([]byte(b.Get(r.ResultPath)), &extraction); err != nil ||
				extraction.XMLName.Space != "urn:async-worker:extraction:1" || extraction.Review != "required" ||
				extraction.Source != "model" || len(extraction.Fields) < 20 || len(extraction.Findings) != 1 {
				t.Errorf("%v: %+v", err, extraction)
			}
		})
	}
}

// with replaces what is read at a path.
func with(fields []read, path, value string, page int) []read {
	for i := range fields {
		if fields[i].Path == path {
			fields[i].Value, fields[i].Page = value, page
		}
	}
	return fields
}

// TestUnsure: a model that is not sure, refuses, or names no pages; a document without text.
func TestUnsure(t *testing.T) {
	t.Parallel()
	answers := map[string]func(q llm.Question) (llm.Answer, error){
		"unsure":   func(q llm.Question) (llm.Answer, error) { return says(parrot(q), "unsure") },
		"differs":  func(q llm.Question) (llm.Answer, error) { return says(parrot(q), "differs") },
		"refused":  func(llm.Question) (llm.Answer, error) { return llm.Answer{End: llm.Refused}, nil },
		"filtered": func(llm.Question) (llm.Answer, error) { return llm.Answer{End: llm.Filtered}, nil },
		"no pages": func(llm.Question) (llm.Answer, error) { return says(nil, "agrees") },
		"low": func(q llm.Question) (llm.Answer, error) {
			a, err := says(parrot(q), "agrees")
			a.Text = strings.Replace(a.Text, "0.97", "0.5", 1)
			return a, err
		},
	}
	for name, reply := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, gatewaytest.Options{})
			b.model.reply = reply
			r := b.do(payloadOf(inChecked))
			if !r.Review || r.Source != xml.ByModel || r.Confidence == nil || *r.Confidence >= 0.85 {
				t.Errorf("%+v", r)
			}
			b.calls(1, name)
		})
	}
	for name, invoice := range map[string]string{
		"nothing": `{}`, "an empty invoice": `{"invoice":{}}`, "nothing but words": `{"error":"layout not recognised"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, gatewaytest.Options{Invoice: json.RawMessage(invoice)})
			b.model.reply = func(llm.Question) (llm.Answer, error) { return says(nil, "agrees") }
			r := b.do(payloadOf(inChecked))
			c := b.row(r.CheckID)
			if !r.Review || r.Source != xml.ByModel || *r.Confidence != 0 || r.Verdict != "unsure" || len(b.model.asked) != 0 ||
				len(c.Findings) != 1 || !strings.Contains(c.Findings[0].Problem, "no amount, date or number") {
				t.Errorf("%+v, asked %d times, %+v", r, len(b.model.asked), c)
			}
			b.calls(1, name)
		})
	}
	t.Run("no text", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, gatewaytest.Options{})
		b.Put("in.pdf", string(einvoicetest.PDF([]string{""})))
		r := b.do(payloadOf(inChecked))
		if !r.Review || *r.Confidence != 0 || len(b.model.asked) != 0 {
			t.Errorf("%+v, asked %d times", r, len(b.model.asked))
		}
	})
}

// TestBadChecks: a model gets one chance to correct an answer; two bad ones fail the attempt, and the gateway's answer is
// kept for the next.
func TestBadChecks(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	bad := 1
	b.model.reply = func(q llm.Question) (llm.Answer, error) {
		if bad > 0 {
			bad--
			return llm.Answer{Text: "All is well.", End: llm.Stopped}, nil
		}
		for _, turn := range q.Turns {
			if turn.Role == llm.User {
				q.Text = turn.Text
			}
		}
		return b.model.honest(q)
	}
	if r := b.do(payloadOf(inChecked)); r.Review {
		t.Errorf("corrected: %+v", r)
	}
	bad = 2
	c := b.Begin(payloadOf(inChecked), task.Hints{Force: true})
	_, err := xml.New(b.deps).Handle(t.Context(), c)
	if e := taskerr.Classify(err); e.Code != "XML_BAD_ANSWER" || !taskerr.Classes[e.Class].Retryable ||
		!strings.Contains(e.Hint, "OPENAI_CHAT_MODEL") {
		t.Errorf("two bad answers: %v, hint %q", err, e.Hint)
	}
	b.finish(c)
	b.calls(4, "two jobs")
}

// TestChecksThatCantBe: without a model, or where documents may not go to it, nothing is paid for.
func TestChecksThatCantBe(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.deps.NoChecks = "PII_MODE=redact lets no document go to the model"
	if e := b.fails(payloadOf(inChecked)); e.Code != "XML_NO_CHECKS" || e.Class != taskerr.ValidationError {
		t.Errorf("%v", e)
	}
	b.deps.NoChecks, b.deps.Chat = "", nil
	if e := b.fails(payloadOf(inChecked)); e.Code != "XML_NO_MODEL" || e.Class != taskerr.ValidationError ||
		!strings.Contains(e.Message, "set LLM_PROVIDER=openai and its key") {
		t.Errorf("%v", e)
	}
	b.calls(0, "checks that can't be")
	b.deps.Chat, b.deps.MaxTokens = b.model, 100
	if e := b.fails(payloadOf(inChecked)); e.Code != "XML_TOO_LONG" || e.Class != taskerr.QuotaExceeded {
		t.Errorf("%v", e)
	}
}
