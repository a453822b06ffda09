package xml

import "testing"

// TestLookup: whether a page states a value, in any notation, and what only looks like it.
func TestLookup(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		text, value string
		number      bool
		want        bool
	}{
		// Amounts, in the notations of countries.
		{"Total 1,234.50 EUR", "1234.5", true, true},
		{"12. Mrz 2024", "2024-03-12", false, true},
		{"12. Mai 2024", "12. Mrz 2024", false, false},
		{"Invoice of 2024-05-13, due 2024-06-03", "Fri, 03.05.2024", false, false},
		{"Invoice of 2024-05-13, due 2024-06-03", "03.05.2024 10:30 Uhr", false, false},
		{"03.05.2024", "Fri, 2024-05-03", false, true},
		{"Invoice RE-2024-05-03 of 13 May 2024", "RE-2024-05-03", false, true},
		{"Total 1.234,50 €", "1234.5", true, true},
		{"Total 1 234,50 €", "1234.5", true, true},
		{"Total 1'234.50 CHF", "1234.5", true, true},
		{"Total 1.234", "1234", true, true},
		{"Total 1.234,00", "1234", true, true},
		{"Total 1.234,00", "1.234", true, false}, // a thousandth
		{"Total 1000.00", "1e3", true, true},
		{"Row 9, 3 pieces", "9e3", true, false},
		{"VAT 19 %", "0.19", true, true},
		{"VAT 7 %", "0.07", true, true}, // times 100, in binary, it is more than 7
		{"VAT 14 %", "0.14", true, true},
		{"VAT 5.5 %", "0.055", true, true},
		{"VAT 50 %", "0.5", true, true},
		{"VAT 17 %", "0.07", true, false},
		// The digits of an amount within others.
		{"IBAN DE89 3704 0044 0532 0130 00", "4405.32", true, false},
		{"IBAN DE89 3704 0044 0532 0130 00", "4405.32", false, false},
		{"Order 98765432", "87654.32", true, false},
		// Signs.
		{"Total -100.00", "-100.00", true, true},
		{"Total −100,00", "-100.00", true, true},
		{"Total \u00ad100,00", "-100.00", true, true},
		{"Total - 100,00", "-100.00", true, true},
		{"Total -€100,00", "-100.00", true, true},
		{"Total €-100,00", "-100.00", true, true},
		{"Total (100.00)", "-100.00", true, true},
		{"Total 100,00-", "-100.00", true, true},
		{"Total 100.00 CR", "-100.00", true, true},
		{"Total | -1 100,00 | EUR", "-1100", true, true},
		{"Total 100.00", "-100.00", true, false},
		{"Total 100.00", "-100.00", false, false},
		{"Invoice INV-100, total 100.00", "-100", true, false},
		{"Total -100.00", "-200.00", true, false},
		{"Discount -10.00", "10.00", true, true}, // formats have amounts of discounts without the sign
		{"Total 0.00", "-0", true, true},
		// Dates.
		{"2024-05-03", "2024-05-03", false, true},
		{"03.05.2024", "2024-05-03", false, true},
		{"3. 5. 2024", "2024-05-03", false, true},
		{"05/03/2024", "2024-05-03", false, true},
		{"3.5.24", "2024-05-03", false, true},
		{"20240503", "2024-05-03", false, true},
		{"3 May 2024", "2024-05-03", false, true},
		{"3rd of May 2024", "2024-05-03", false, true},
		{"May 3, 2024", "2024-05-03", false, true},
		{"3 de maio de 2024", "2024-05-03", false, true},
		{"3. Mai 2024", "2024-05-03T00:00:00Z", false, true},
		{"03-MAY-2024", "2024-05-03", false, true},
		{"2024年5月3日", "2024-05-03", false, true},
		{"01.05.2024-03.05.2024", "2024-05-03", false, true},
		{"2024-05-03", "03/05/2024", false, true},
		{"2024-05-03", "2024-03-05", false, false}, // day and month are mixed up
		{"3 May 2024", "2024-03-05", false, false},
		{"13 May 2024", "2024-05-03", false, false},
		{"May 13, 2024", "2024-05-03", false, false},
		{"In 2024: 5 pieces at 3 EUR", "2024-05-03", false, false},
		{"Invoice of 2024-05-13, due 2024-06-03", "2024-05-03", false, false},
		{"1.2.3.2024", "2024-05-03", false, false},
		{"1º de maio de 2024", "2024-05-01", false, true},
		{"1° maggio 2024", "2024-05-01", false, true},
		{"03/May/2024", "2024-05-03", false, true},
		{"Invoice 4711 dated 3 May 2024", "2024-05-03", false, true}, // 4711 and 3 have a word between them, too
		{"12 juin 2024", "2024-07-12", false, false},
		{"12 jui 2024", "2024-07-12", false, true}, // June or July
		// Dates in words.
		{"3 March 2024", "3 May 2024", false, false},
		{"12. März 2024", "13. März 2024", false, false},
		{"12. März 2024", "12. März 2024", false, true},
		{"12 | März | 2024", "12. März 2024", false, true},
		{"12 juillet 2024", "12 juin 2024", false, false},
		{"03.05.2024", "3 May 2024", false, true},
		{"05.03.24", "Friday, May 3rd, 2024", false, true}, // both readings count
		{"04.05.2024", "Friday, May 3rd, 2024", false, false},
		{"Payable by 1 May 2024, 10:30", "1st of May 2024, 10:30", false, true},
		{"Payable by 1 March 2024, 10:30", "1st of May 2024, 10:30", false, false},
		{"1º de maio de 2024", "1 de maio de 2024", false, true},
		{"Nr. 12 vom 03. Mai 2024", "3. Mai 2024", false, true},
		{"2024-05-03", "2024年5月3日", false, true},
		{"2024-03-05, 5 pieces", "2024年5月3日", false, false},
		{"2024-05-03", "20240503", false, true},
		{"03.05.2024", "20240503", false, true},
		{"03.06.2024", "20240503", false, false},
		{"Article 20240503 of 03.06.2024", "20240503", false, true},
		{"Total 20,240,503.00 EUR", "20240503", false, true},
		{"03.05.2024", "20240503", true, false}, // an amount
		{"03.05.2199", "21990503", false, false},
		// Months, quarters and periods are not dates.
		{"Services of May 2024", "May 2024", false, true},
		{"Services of May 2023", "May 2024", false, false},
		{"1. Quartal 2024", "1. Quartal 2024", false, true},
		{"2. Quartal 2024", "1. Quartal 2024", false, false},
		{"01.-31.05.2024", "01.05.2024 - 31.05.2024", false, true},
		{"1 to 31 May 2024", "1 May 2024 - 31 May 2024", false, true},
		{"1.-31. Mai 2024", "1.-31. Mai 2024", false, true},
		{"1st to 31st May 2024", "1 - 31 May 2024", false, true},
		{"12 May, Meir | No. 12 | 2000 Antwerpen", "Meir 12, 2000 Antwerpen", false, true}, // Meir is a street
		// A value is not a list.
		{"Total 12.00 EUR", "999. EUR", false, false},
		{"Total 999 EUR", "999. EUR", false, true},
		{"1. 250,00", "1. 250,00", false, true},
		{"Total 1.250,00", "1. 250,00", false, true},
		{"Total 250,00", "9. 250,00", false, false},
		{"1 | Berth 4, three days", "1. Berth 4, three days", false, true},
		// Names with digits.
		{"NIF PT 500 123 456", "PT500123456", false, true},
		{"IBAN DE89 3704 0044 0532 0130 00", "DE89370400440532013000", false, true},
		{"IBAN DE89 3704 0044 0532 0130 00", "DE893704004", false, false}, // a part of it
		{"No. SH/2026/0417", "SH-2026-0417", false, true},
		{"No. RE 2026.04", "RE202604", false, true},
		{"No. 2026-0417", "20260417", false, true},
		{"Phone 01.23.45.67.89", "0123456789", false, true},
		{"CNPJ 12.345.678/0001-95", "12345678000195", false, true},
		{"NIF 500 123 456", "500123456", false, true},
		{"NIF 500.123.456", "500123456", false, true},
		{"IBAN | DE89 | 3704 | 0044 | 0532 | 0130 | 00", "DE89370400440532013000", false, true},
		// Amounts as texts, which have lost or got a mark or a sign.
		{"Total 2,876.11 EUR", "287611", false, false},
		{"Total 500 EUR", "5.00 EUR", false, false},
		{"Total JPY 1000", "JPY 10.00", false, false},
		{"12 | 345.00 EUR", "12,345.00 EUR", false, false},
		{"Total 2,876.11 EUR", "EUR 287611", false, false},
		{"Total EUR 2,876.11", "EUR 287611", false, false},
		{"Total EUR 2,876.11", "EUR287611", false, false},
		{"Total €2,876.11", "€287611", false, false},
		{"Total 2 876,11 EUR", "287611", false, false},
		{"Total 2'876.11 CHF", "287611", false, false},
		{"Total 2,876.11 EUR", "28761.1 EUR", false, false},
		{"Total 2,876.11 EUR", "28,7611", false, false},
		{"Total 2,876.11 EUR", "287,611", false, false},
		{"Total 500.00", "50000", false, false},
		{"Total 500.00", "+50000", false, false},
		{"Total 500.00", "-50000", false, false},
		{"Total 50000", "-50000", false, false},
		{"Total 50000", "−50000", false, false},
		{"Total 50000", "(50000)", false, false},
		{"Total 50000 EUR", "-50000 EUR", false, false},
		{"Total 50000 EUR", "EUR -50000", false, false},
		{"Total 500.00 EUR", "-500.00 EUR", false, false},
		{"Total €500.00", "€-500.00", false, false},
		{"Total EUR 500.00", "-EUR500.00", false, false},
		{"12 | 345.00", "1234500", false, false},
		{"12 | 34500", "1234500", false, false},
		{"12 | 345.00 | EUR", "12345.00 EUR", false, false},
		{"Row 287611 | 2,876.11", "287611", false, true},
		{"Total 2,876.11 EUR", "2876.11", false, true},
		{"Total 2,876.11 EUR", "2876.11 EUR", false, true},
		{"Total 2,876.11 EUR", "EUR 2.876,11", false, true},
		{"Total -50000 EUR", "-50000 EUR", false, true},
		{"Total -500.00 EUR", "EUR -500,00", false, true},
		{"Invoice INV-100200", "INV-100200", false, true},
	} {
		l := leaf{value: x.value, number: x.number}
		if got := newPage(x.text).has(l); got != x.want {
			t.Errorf("%q states %q (a number: %v): %v", x.text, x.value, x.number, got)
		}
	}
}

// TestSame: whether the model has read the same value.
func TestSame(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		value, stated string
		number, want  bool
	}{
		{"2876.11", "2,876.11", true, true},
		{"2876.11", "EUR 2.876,11", true, true},
		{"1. Quartal 2024", "Wartung 1. Quartal 2024", false, true},
		{"1. Quartal 2024", "Wartung 2. Quartal 2024", false, false},
		{"1. - 31. Mai 2024", "Leistungszeitraum: 1. - 31. Mai 2024", false, true},
		{"3. maj 2024", "Dato: 3. maj 2024", false, true},
		{"12. Mrz 2024", "Datum: 12. Mrz 2024", false, true},
		{"2. Rate", "Abschlag, 2. Rate", false, true},
		{"1. OG, Hauptstr. 5", "Hauptstr. 5, 1. OG", false, true},
		{"287611", "2,876.11", true, false},
		{"12345", "1,234.5", true, false},
		{"1.234", "1.234,00", true, false},
		{"-100.00", "-100,00", true, true},
		{"-100.00", "100,00", true, true}, // the page decides
		{"2024-05-03", "3 May 2024", false, true},
		{"2024-05-03", "03/05/2024", false, true},
		{"2024-05-03", "2024-03-05", false, false},
		{"PT500123456", "PT 500 123 456", false, true},
		{"500123456", "500.123.456", false, true},
		{"287611", "2,876.11", false, false},
		{"287611", "EUR 2,876.11", false, false},
		{"EUR 287611", "EUR 2,876.11", false, false},
		{"-50000", "500.00", false, false},
		{"1234500", "12 | 345.00", false, false},
		{"-50000", "50000", false, true}, // the page decides
		{"−50000", "50000", false, true},
		{"(500.00)", "500,00", false, true},
		{"EUR -500.00", "500,00 EUR", false, true},
		{"3 May 2024", "3 March 2024", false, false},
		{"13. März 2024", "12. März 2024", false, false},
		{"12. März 2024", "12. März 2024", false, true},
		{"12. März 2024", "March 12, 2024", false, true},
		{"3 May 2024", "Date: 03.05.2024", false, true},
		{"20240503", "03.05.2024", false, true},
		{"20240503", "20240503", false, true},
		{"20240503", "03.06.2024", false, false},
		{"20240503", "20240504", false, false},
		{"May 2024", "May 2024", false, true},
		{"01.05.2024 - 31.05.2024", "01.-31.05.2024", false, true},
		// Rates.
		{"0.19", "19 %", true, true},
		{"0.07", "7 %", true, true},
		{"0.055", "VAT 5,5\u00a0%", true, true},
		{"0.19", "%19", false, true},
		{"0.19", "17 %", true, false},
		{"0.19", "19 % of 100", true, false},
		{"0.5", "50.00", true, false},
		{"0.5", "50.00", false, false},
		// The number of an item, before its text.
		{"Berth 4, three days", "1. Berth 4, three days", false, true},
		{"1. Berth 4, three days", "Berth 4, three days", false, true},
		{"Berth 4, three days", "1. Berth 5, three days", false, false},
		{"1. Quartal 2024", "2. Quartal 2024", false, false},
		{"250.00", "1. 250,00", true, false},
		{"EUR 250.00", "1. 250,00", false, false},
		{"12.00 EUR", "999. EUR", false, false},
	} {
		if got := (leaf{value: x.value, number: x.number}).same(x.stated); got != x.want {
			t.Errorf("%q is %q (a number: %v): %v", x.value, x.stated, x.number, got)
		}
	}
}

// TestMaybeCode: what the model may call a code, so that it is not looked up.
func TestMaybeCode(t *testing.T) {
	t.Parallel()
	for _, l := range []leaf{
		{path: "/invoice/typeCode", value: "380"},
		{path: "/invoice/invoiceType", value: "381"},
		{path: "/Invoice/0/InvoiceTypeCode/0/_", value: "380"},
		{path: "/invoice/documentType/value", value: "389"},
		{path: "/invoice/paymentMeans", value: "58"},
		{path: "/seller/endpoint/@schemeID", value: "0088"},
		{path: "/issueDate/@format", value: "102"},
		{path: "/lines/0/unit", value: "C62"},
	} {
		if !l.maybeCode() {
			t.Errorf("%+v can't be a code", l)
		}
	}
	for _, l := range []leaf{
		{path: "/invoice/total", value: "1500"},
		{path: "/invoice/total", value: "380"},
		{path: "/invoice/total/value", value: "380"},
		{path: "/paymentMeans/amount", value: "58"},
		{path: "/codes/total", value: "150"},
		{path: "/invoice/typeCode", value: "380", number: true},
		{path: "/invoice/typeCode", value: "3.8"},
		{path: "/invoice/typeCode", value: "38000"},
		{path: "/lines/0/unit", value: "5EUR"},
		{path: "/lines/0/price", value: "9€"},
		{path: "/lines/0/price", value: "$150"},
	} {
		if l.maybeCode() {
			t.Errorf("%+v may be a code", l)
		}
	}
}

// TestNothingToCheck: a reading all of whose numbers are codes, which are not looked up, is not borne out.
func TestNothingToCheck(t *testing.T) {
	t.Parallel()
	l := leaf{path: "/invoice/typeCode", value: "380"}
	c := judge([]leaf{l}, document{pages: []string{"Total 2,876.11 EUR"}}, reading{
		Verdict: agrees, Confidence: 0.97, Fields: []field{{Path: l.path, Value: "380", Page: 1, Code: true}},
	}, 0.85)
	if c.Verdict != unsure || c.Confidence != 0 || len(c.Findings) != 1 {
		t.Errorf("%+v", c)
	}
}
