package eml_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
)

// order is what a shop writes as HTML.
const order = "<h1>Thank you for your order 20394</h1><table><tr><th>Item<th>Price<tr><td>Quay crane, scale 1:87<td>149.00 EUR" +
	"<tr><td>Container set of twelve<td>59.80 EUR</table><p>Delivery between 5 and 8 May to Ann Smith, 12 Harbour Road, Leith.</p>"

// TestVersions: of two versions of a text, the one that says more is read.
func TestVersions(t *testing.T) {
	t.Parallel()
	link := "https://mail.shop.example/view/" + strings.Repeat("8f7a6b5c4d3e2f1a", 4)
	for _, tt := range []struct{ what, plain, html, want, not string }{
		{
			"a stub with long links",
			"Your e-mail program can't show this message. View it in your browser:\n" + link +
				"\nShop Ltd, 1 High Street, London. Unsubscribe: <" + link + ">",
			order, "20394", "browser",
		},
		{
			"a stub in a script without blanks",
			"您的邮件程序无法显示此邮件，请点击查看：" + link + " 如需退订请点击此处",
			"<p>感谢您的订单。港口起重机模型一百四十九欧元，集装箱十二件五十九欧元，五月八日前送达。</p>", "起重机", "退订",
		},
		{
			"versions that say the same",
			"*THANK YOU FOR YOUR ORDER 20394* [1]\n\nItem | Price\nQuay crane, scale 1:87 | 149.00 EUR\n" +
				"Container set\nof twelve | 59.80 EUR\n\nDelivery between 5 and 8 May to Ann Smith, 12 Harbour Road, Leith.\n\n[1] " + link,
			order + "<p>Sent from my phone</p>", "THANK YOU", "phone",
		},
		{
			"a page that only says to read the text",
			"Thank you for your order 20394. Delivery between 5 and 8 May to Ann Smith, 12 Harbour Road, Leith.",
			"<p>Please open the plain version of this mail</p>", "20394", "open",
		},
	} {
		mail := head + multi("alternative", "b",
			"Content-Type: text/plain; charset=utf-8\n\n"+tt.plain, "Content-Type: text/html; charset=utf-8\n\n"+tt.html)
		if got := text(read(t, mail)); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: got\n%s\nwant %q and not %q", tt.what, got, tt.want, tt.not)
		}
	}
}

// TestWarnsOnce: the versions are read to compare them, and the chosen one again.
func TestWarnsOnce(t *testing.T) {
	t.Parallel()
	doc := read(t, head+multi("alternative", "b",
		"Content-Type: text/plain\n\nDie Kr\x84ne m\x81ssen gr\x94\xe1er werden: f\x81r \x94l.", page))
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], charset.Doubt) {
		t.Errorf("warnings %q", doc.Warnings)
	}
}

// text is the text of all blocks and cells.
func text(doc *extract.Document) string {
	var all []string
	for _, b := range doc.Blocks {
		all = append(all, b.Text)
		if b.Table == nil {
			continue
		}
		for _, row := range b.Table.Rows {
			for _, cell := range row {
				all = append(all, cell.Text)
			}
		}
	}
	return strings.Join(all, "\n")
}
