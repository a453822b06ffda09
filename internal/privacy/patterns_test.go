package privacy_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/privacy"
)

// found lists the personal data in a text, as kind and text.
func found(t *testing.T, text string) []string {
	t.Helper()
	answers, err := privacy.Patterns{}.Find(t.Context(), []string{text}, "en")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, f := range answers[0] {
		if f.Score <= 0 || f.Score > 1 {
			t.Errorf("%q: score %g", text, f.Score)
		}
		all = append(all, string(f.Kind)+" "+text[f.Start:f.End])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for kind, texts := range map[string][]string{ // the expected findings are in «»
		"EMAIL": {
			"Write to «ada.lovelace+tables@example.co.uk», please.", "<«a@b.io»>",
			"mailto:«x_y@sub.example.org»?subject=x", "«jörg@müller.de»",
			"Mail an «info@beispiel.xn--p1ai».", "('«o@x.org»')", "«first.last@localhost.internal»",
			"«juan.perez@banco.com.py»", "«jane.doe@corp.example».pdf", "«jane.doe@corp.example».JSON",
		},
		"PHONE": {
			"Call «+49 30 1234567» now", "«+1 (415) 555-2671»", "«0049 89 12 34 56»", "«+44 (0)20 7946 0958».",
			"T: «+33 1 23 45 67 89»", "«+41791234567»",
			"(«(415) 555-2671»)", "«415-555-2671»", "«1-800-555-0199»", "«01 23 45 67 89»", "Tel.: «030/1234567»",
			"Telefon «089 123456-78», Fax «089 1234569»",
			"Mobile no. «07700 900123»", "☎ «0664 1234567»", "Tél. : «0123456789»", "phone: «555 0199 22»",
			"«+81-3-1234-5678»", "«+55 11 91234-5678»",
			"«+1-813-324-8756x312»", "«(496)452-6181x3291»", "«001-808-617-6467x12695»", "«422.787.2331 ext. 12»",
			"«+49 30 12345678» 10115 Berlin", "Tel «+33 1 23 45 67 89» 75008 Paris",
			"Mobile «+1 415 555 2671» 94107 San Francisco", "Tel. «030 12345678» 10115 Berlin",
			"«+49 171 1234567» 2024-01-05", "12.05.2024 10:15 «+49 171 1234567» 00:03:12 0,35",
			"Tel. «0049 30 12345678» 10115 Berlin", "Tel «030 1234567» tel «0171 7654321»",
			"«+49 30 1234567» Berlin «+49 171 7654321» 10115", "«+49 30 1234567» «+49 171 7654321»", "«+49 171 1234567» 0,35",
		},
		"IBAN": {
			"IBAN «DE89 3704 0044 0532 0130 00» BIC COBADEFF", "«GB82WEST12345698765432»",
			"«fr14 2004 1010 0505 0001 3m02 606»", "«NL91ABNA0417164300»,",
			"«CH93 0076 2011 6238 5295 7»", "«AT61-1904-3002-3457-3201»", "«MT84MALT011000012345MTLCAST001S»",
		},
		"CREDIT_CARD": {
			"«4111 1111 1111 1111»", "Card: «5500-0000-0000-0004».", "«378282246310005»", "«3782 822463 10005»",
			"«6011111111111117»", "«30569309025904»", "«3530111333300000»",
			"«2223003122003222»",
			"Visa «4111 1111 1111 1111» 12/27", "«4111 1111 1111 1111» 123", "«4111-1111-1111-1111» 01.02.2025",
			"1 «4111 1111 1111 1111»", "2024-05-01 «4111111111111111»", "«4111 1111 1111 1111» «5500 0000 0000 0004»",
			"a,«4111111111111111»,12/27", "«4111 1111 1111 1111» 2027", "2024 «4111 1111 1111 1111»",
			"«3782 822463 10005» 12/27", "PIN 1234\n«4111 1111 1111 1111»\n0427", "1234\n«4111 1111 1111 1111»\n2027",
			"«4111 1111 1111 1111» 2027\n«5500 0000 0000 0004» 2028\n«4242 4242 4242 4242» 2026\n«4012 8888 8888 1881» 2027",
			"2024,«4111 1111 1111 1111»,1227", "«4111 1111 1111 1111» 12 27 123 «5500 0000 0000 0004» 1228",
			"1 «4111 1111 1111 1111» 2 «5500 0000 0000 0004»", "7 «4111111111111111» 8 9", "«4111111111111111» 12 13",
			"Visa «4111 1111 1111 1111» 45.90 EUR", "«4111 1111 1111 1111» 1250.00", "«4111 1111 1111 1111» 1,250.00 EUR",
			"«4111 1111 1111 1111» 31.12.2025", "«4111 1111 1111 1111» 15/03/2024 Amazon", "«4111 1111 1111 1111» 14:30",
			"2024-05-31 «4111 1111 1111 1111» Amazon", "31.05.2024 «4111 1111 1111 1111» 45.90", "10115 «4111 1111 1111 1111»",
			"«4111 1111 1111 1111» 80331 München", "Order 123456 «4111 1111 1111 1111»", "«3782 822463 10005» 45.90",
			"10:15 «4111-1111-1111-1111» 12345 Town", "1250.00 «4111 1111 1111 1111» 80331",
			"«4111 1111 1111 1111» 15-03-2024", "«4111 1111 1111 1111» 15 May 2024", "«4111 1111 1111 1111» 15 03 2024",
			"«4111 1111 1111 1111» 99 EUR", "«4111 1111 1111 1111» 20 000 EUR", "«4111 1111 1111 1111» 2 nights",
			"05 Mar 2024 «5500 0000 0000 0004» 1,250.00 EUR", "5 March 2024 «4111 1111 1111 1111» 45.20",
		},
		"IP_ADDRESS": {
			"from «192.168.17.4» to", "[«203.0.113.77»]:443", "«2001:db8:85a3::8a2e:370:7334»",
			"«fe80::1ff:fe23:4567:890a»", "at «8.8.8.8».", "http://«198.51.100.7»/x",
			"«2001:DB8::1»",
		},
		"NATIONAL_ID": {
			"SSN «536-90-4399»", "DNI «12345678Z»", "NIE «X1234567L»", "CF «RSSMRA85T10A562S»",
			"NIR «1 85 05 78 006 084 91»", "AHV «756.9217.0769.85»", "CPF «529.982.247-25»",
			"PESEL «44051401359»", "NINO «AB 12 34 56 C»", "pnr «811228-9874»", "«19811228-9874»",
		},
	} {
		for _, marked := range texts {
			var want []string
			for _, part := range strings.Split(marked, "«")[1:] {
				value, _, _ := strings.Cut(part, "»")
				want = append(want, kind+" "+value)
			}
			slices.Sort(want)
			got := found(t, strings.NewReplacer("«", "", "»", "").Replace(marked))
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", marked, got, want)
			}
		}
	}
}

func TestPatternsPassOver(t *testing.T) {
	t.Parallel()
	for what, texts := range map[string][]string{
		"at signs": {
			"icon@2x.png", "@ada", "a @ b.org", "user@host", "f(x)@g", "@param name", "git@",
			"logo@3x.webp", "jquery@3.7.1.min.js", "hero@2x.dark.png", "plan@v2.final.pdf", "pkg@1.2.zip",
		},
		"other numbers": {
			"1234567", "12 345 678 EUR", "1.234.567,89", "2024-01-31 12:30:45", "31.12.2024",
			"01.02.2024 10:15", "100 000 000", "ISBN 978-3-16-148410-0", "1234-5678",
		},
		"codes": {
			"Order 4500012345", "Invoice no. 20240131001", "EAN 4006381333931", "case 2024/12345-678",
			"AB123456", "part 12-3456-78", "DOI 10.1000/182.2024.10",
		},
		"failed checks": {
			"DE89 3704 0044 0532 0130 01", "4111 1111 1111 1112", "12345678A", "756.9217.0769.84",
			"529.982.247-24", "44051401358", "RSSMRA85T10A562T",
		},
		"wrong lengths": {
			"DE89 3704 0044 0532 0130", "GB82WEST1234569876543", "XX89370400440532013000",
			"411111111111111",
		},
		"longer numbers": {
			"94111111111111111111", "4111111111111111.5", "1-536-90-4399-2", "536-90-43999",
			"x12345678Z",
		},
		"equal digits": {
			"0000000000000000", "4444444444444444444", "000-00-0000", "666-12-3456", "900-12-3456",
			"123-00-4567",
		},
		"clocks": {"1700000000000", "1609459200000", "12:30:45", "00:00:00.000"},
		"versions": {
			"v1.2.3.4", "version 10.0.0.1", "Release 4.3.2.1", "1.2.3.4.5",
			"3.1.4.1 Results of the test", "§ 4.2.1.3", "section 1.2.3.4", "Header 1.2.3.1",
			"Text of paragraph 2.1.1.1", "lib-1.2.3.4",
		},
		"no one's": {
			"127.0.0.1", "0.0.0.0", "255.255.255.0", "::1", "::", "224.0.0.1", "999.1.1.1",
			"256.1.2.3",
		},
		"scopes": {"std::vector", "a::b", "Foo::Bar::Baz", "c::d::e", "10:20", "1:2:3"},
		"rows of numbers": {
			"12 15 18 21 24 27 30", "3.5 4.6 5.7 6.8", "2019 2020 2021 2022 2023", "+5 +6 +7",
			"1 2 3 4 5 6 7 8 9 10 11 12", "01 12 23 34 45 56 67 78", "08 01 02 03 04 05", "4 1111 1111 1111 111 1",
			"2019 4111 1111 1111 1111 2020", "1234 4111 1111 1111 1111 5678", "23456 4111 1111 1111 1111 34567",
			"2018 2019 4111 1111 1111 1111 2020 2021 2022",
		},
		"times": {"Call 2024-01-05 12:30", "Fax 12.05.2024 10:15"},
		"sums":  {"+12.5 %", "+1 234", "00 12", "+999 1234567", "+41 234 567 890,12", "+1 234 567.89", "+49 171 123 456,5"},
	} {
		for _, text := range texts {
			if got := found(t, text); len(got) > 0 {
				t.Errorf("%s: %q: found %q", what, text, got)
			}
		}
	}
}

// TestRowsOfNumbers: the check of a card passes by chance for one number in ten, so rows in a report must not be taken for cards.
func TestRowsOfNumbers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for what, row := range map[string]struct{ n, least, most int }{
		"twelve of four digits": {n: 12, least: 1000, most: 9999}, "six of four digits": {n: 6, least: 1000, most: 9999},
		"five of four digits": {n: 5, least: 1000, most: 9999}, "values": {n: 12, least: 300, most: 3000},
		"four or five digits": {n: 12, least: 1000, most: 20_000}, "five digits": {n: 12, least: 10_000, most: 99_999},
		"seven digits": {n: 8, least: 1_000_000, most: 9_999_999},
	} {
		redacted := 0
		for range 2000 {
			var line []string
			for range row.n {
				line = append(line, strconv.Itoa(row.least+random.IntN(row.most-row.least+1)))
			}
			if strings.Contains(strings.Join(found(t, strings.Join(line, " ")), "\n"), "CREDIT_CARD") {
				redacted++
			}
		}
		if redacted > 10 {
			t.Errorf("%s: a card in %d of 2000 rows", what, redacted)
		}
	}
}

// TestLongText: what is allocated for a text is proportional to it, also with many numbers that are not addresses.
func TestLongText(t *testing.T) {
	allocated := func(lines int) int64 {
		text := []string{strings.Repeat("1.2.3.4 Übersicht\n", lines)}
		return testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				if found, err := (privacy.Patterns{}).Find(b.Context(), text, "de"); err != nil || len(found[0]) > 0 {
					b.Fatal(found, err)
				}
			}
		}).AllocedBytesPerOp()
	}
	cards := []string{strings.Repeat("0000 4242 4242 4242 ", 50_000)} // 1 MB; it would not end if each looked at all others
	if _, err := (privacy.Patterns{}).Find(t.Context(), cards, "de"); err != nil {
		t.Fatal(err)
	}
	if one, four := allocated(500), allocated(2000); four > 8*one {
		t.Errorf("%d bytes for a text, %d for one of four times the length", one, four)
	}
}

// In any text, findings are within the text and at character boundaries.
func FuzzPatterns(f *testing.F) {
	f.Add("a@b.org +49 30 1234567 DE89370400440532013000 4111111111111111 1.2.3.44 536-90-4399 2001:db8::1")
	f.Add("ü@ö.de\u200e☎ 0664/1234567 X1234567L")
	f.Fuzz(func(t *testing.T, text string) {
		answers, err := privacy.Patterns{}.Find(t.Context(), []string{text}, "und")
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range answers[0] {
			if found.Start < 0 || found.Start >= found.End || found.End > len(text) {
				t.Fatalf("%+v in %d bytes", found, len(text))
			}
		}
	})
}
