package formula

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// build builds a formula of XML.
func build(t testing.TB, source string) (string, error) {
	t.Helper()
	var b Builder
	d := xml.NewDecoder(strings.NewReader(source))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			err = b.Start(token.Name.Local, Attributes(token))
		case xml.CharData:
			err = b.Text(string(token))
		case xml.EndElement:
			b.End()
		}
		if err != nil {
			return "", err
		}
	}
}

func TestOMML(t *testing.T) {
	t.Parallel()
	r := func(s string) string { return "<m:r><m:t>" + s + "</m:t></m:r>" }
	e := func(name, s string) string { return "<m:" + name + ">" + s + "</m:" + name + ">" }
	frac := e("f", e("num", r("a+b"))+e("den", r("c")))
	sub := e("sSub", e("e", r("x"))+e("sub", r("i")))
	for _, c := range [][2]string{
		{frac, "(a+b)/c"},
		{r("2") + frac + r("d"), "2(a+b)/c d"},
		{r("si") + r("n"), "sin"},
		{sub + sub, "x_i x_i"},
		{e("sSup", e("e", r("x"))+e("sup", r("-1"))), "x^(-1)"},
		{e("sSubSup", e("e", r("x"))+e("sub", r("i"))+e("sup", r("2"))), "x_i^2"},
		{e("rad", e("deg", "")+e("e", r("x+1"))), "√(x+1)"},
		{e("rad", e("deg", r("3"))+e("e", r("x"))), "∛(x)"},
		{e("rad", e("deg", r("n"))+e("e", r("x"))), "√[n](x)"},
		{`<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>` + e("sub", r("i=1")) + e("sup", r("n")) + e("e", sub) + "</m:nary>", "∑_(i=1)^n x_i"},
		{"<m:nary>" + e("sub", r("0")) + e("sup", r("∞")) + e("e", r("f(x)dx")) + "</m:nary>", "∫_0^∞ f(x)dx"},
		{e("d", e("e", r("a"))+e("e", r("b"))), "(a|b)"},
		{`<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr>` + e("e", r("a")) + "</m:d>", "[a"},
		{e("func", e("fName", r("sin"))+e("e", r("x"))), "sin x"},
		{e("func", e("fName", e("limLow", e("e", r("lim"))+e("lim", r("n→∞"))))+e("e", sub)), "lim_(n→∞) x_i"},
		{e("acc", e("e", r("x"))), "x\u0302"},
		{`<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>` + e("e", r("xy")) + "</m:bar>", "xy\u0305"},
		{e("d", e("e", e("m", e("mr", e("e", r("a"))+e("e", r("b")))+e("mr", e("e", r("c"))+e("e", r("d")))))), "(a, b; c, d)"},
		{`<m:f><m:fPr><m:type m:val="noBar"/></m:fPr>` + e("num", r("n")) + e("den", r("k")) + "</m:f>", "n¦k"},
		{e("eqArr", e("e", r("x&amp;=1"))+e("e", r("y&amp;=2"))), "x=1; y=2"},
		{e("sPre", e("sub", r("2"))+e("sup", r("4"))+e("e", r("He"))), "_2^4 He"},
	} {
		source, want := c[0], c[1]
		got, err := build(t, `<m:oMath xmlns:m="m">`+source+"</m:oMath>")
		if err != nil || got != want {
			t.Errorf("%s\ngot %q, want %q (%v)", source, got, want, err)
		}
	}
	if got, _ := build(t, `<m:oMathPara xmlns:m="m">`+strings.Repeat("<m:oMath>"+r("a=b")+"</m:oMath>", 2)+
		"</m:oMathPara>"); got != "a=b; a=b" {
		t.Errorf("two formulas are %q", got)
	}
}

func TestMathML(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<mi>a</mi><mo>+</mo><mi>b</mi><mo>=</mo><mn>2</mn><mi>c</mi>":                                                              "a + b = 2 c",
		"<mo>-</mo><mi>a</mi><mo>=</mo><mo>-</mo><mn>1</mn>":                                                                        "-a = -1",
		"<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac><mi>d</mi>":                                            "(a + b)/c d",
		"<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msub><mi>x</mi><mi>i</mi></msub>": "∑_(i = 1)^n x_i",
		"<msubsup><mo>∫</mo><mn>0</mn><mi>∞</mi></msubsup><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo>":                                 "∫_0^∞ f(x)",
		"<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>":                                                                             "√(x + 1)",
		"<mroot><mi>x</mi><mn>3</mn></mroot>":                                                                                       "∛(x)",
		"<mover><mi>x</mi><mo>¯</mo></mover>":                                                                                       "x\u0305",
		"<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>":                                                                                   "sin x",
		"<mfenced><mi>a</mi><mi>b</mi></mfenced>":                                                                                   "(a, b)",
		"<mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable><mo>)</mo>": "([a, b; c, d])",
		"<semantics><mrow><mi>x</mi></mrow><annotation>{\\displaystyle x}</annotation></semantics>":                                                       "x",
		"<mmultiscripts><mi>C</mi><none/><none/><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>":                                                      "_6^14 C",
		"<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>":                                                                                           "n¦k",
		"<mo>∏</mo><mo>{</mo><mi>a</mi><mo>,</mo><mi>b</mi><mo>}</mo>":                                                                                    "∏{a, b}",
	} {
		got, err := build(t, "<math>"+source+"</math>")
		if err != nil || got != want {
			t.Errorf("%s\ngot %q, want %q (%v)", source, got, want, err)
		}
	}
}

// TestHostile: depth, number and length are limited, and no formula grows much beyond its source.
func TestHostile(t *testing.T) {
	t.Parallel()
	var b Builder
	for range 10 * maxDepth {
		if err := b.Start("msup", nil); err != nil {
			t.Fatal(err)
		}
	}
	if b.Depth() != 10*maxDepth {
		t.Errorf("%d are open", b.Depth())
	}
	for range 10 * maxDepth {
		b.End()
	}
	b.End() // one too many
	_ = b.String()
	_, err := build(t, "<math>"+strings.Repeat("<mi>x</mi>", maxNodes)+"</math>")
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.QuotaExceeded {
		t.Errorf("too many elements: %v", err)
	}
	_, err = build(t, "<math><mi>"+strings.Repeat("x", maxText+1)+"</mi></math>")
	if err == nil {
		t.Error("too long a text is read")
	}
	deep := strings.Repeat("<mfrac><mi>a</mi>", 190) + "<mi>b</mi>" + strings.Repeat("</mfrac>", 190)
	if got, _ := build(t, "<math>"+deep+"</math>"); len(got) > len(deep) {
		t.Errorf("%d bytes became %d", len(deep), len(got))
	}
	long := strings.Repeat("|", 100_000)
	for _, repeating := range []string{
		"<m:d xmlns:m='m'><m:dPr><m:sepChr val='" + long + "'/></m:dPr>" + strings.Repeat("<m:e/>", 100) + "</m:d>",
		"<mfenced open='" + long + "'>" + strings.Repeat("<mi>x</mi>", 100) + "</mfenced>",
	} {
		if got, _ := build(t, repeating); len(got) > 10_000 {
			t.Errorf("an attribute of %d bytes makes a formula of %d", len(long), len(got))
		}
	}
}

// TestNested: a formula within another is written once, however deep it is.
func TestNested(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"mover", "munder", "msub", "msup", "msubsup", "munderover", "mmultiscripts",
		"mfrac", "mroot", "msqrt", "mfenced", "mtable", "mrow", "maction",
	} {
		for first, source := range map[string]string{
			"first":  strings.Repeat("<"+name+">", 150) + "<mi>x</mi>" + strings.Repeat("<mi>y</mi><mi>z</mi></"+name+">", 150),
			"last":   strings.Repeat("<"+name+"><mi>y</mi>", 150) + "<mi>x</mi>" + strings.Repeat("</"+name+">", 150),
			"middle": strings.Repeat("<"+name+"><mi>y</mi>", 150) + "<mi>x</mi>" + strings.Repeat("<mi>z</mi></"+name+">", 150),
		} {
			if _, err := build(t, "<math>"+source+"</math>"); err != nil {
				t.Errorf("%s, %s: %v", name, first, err)
			}
		}
	}
	for _, name := range []string{
		"f", "sSub", "sSup", "sSubSup", "sPre", "rad", "nary", "d", "func", "limLow", "limUpp", "acc", "bar", "m", "eqArr", "box", "groupChr",
	} {
		for _, child := range []string{"num", "den", "sup", "sub", "deg", "lim", "fName", "e", "mr"} {
			source := strings.Repeat("<"+name+"><"+child+">", 90) + "<r><t>x</t></r>" + strings.Repeat("</"+child+"></"+name+">", 90)
			if _, err := build(t, "<oMath>"+source+"</oMath>"); err != nil {
				t.Errorf("%s, %s: %v", name, child, err)
			}
		}
	}
}
