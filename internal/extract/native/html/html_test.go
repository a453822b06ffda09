package html_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/html"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestExtract(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("text ", 300))
	for _, tt := range []struct{ what, page, want string }{
		{"blocks", "<h2>A <em>b</em></h2>x <b>y</b>\n z<div>d<p>p<br>q</div>", "## A b\n\nx y z\n\nd\n\np  \nq\n"},
		{"blanks", "<p> a <span> b</span>&nbsp;c<i>d</i> </p>", "a b cd\n"},
		{
			"lists", "<ul><li>a<ul><li>b</ul><li><p>c</p><p>more</p></ul><ol start=3><li>d<li value=7>e</ol>",
			"- a\n    - b\n- c\n\nmore\n\n3. d\n7. e\n",
		},
		{"definitions", "<dl><dt>Term<dd>Meaning</dl><dl><dd>indented</dl>", "- Term\n    - Meaning\n\nindented\n"},
		{
			"lists of Word and Outlook", `<p class=MsoListParagraph style='text-indent:-18pt;mso-list:l0 level1 lfo1'>` +
				`<![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>·<span>&nbsp;&nbsp;</span>` +
				`</span></span><![endif]>quay</p><p style='mso-list:l0 level2 lfo1;tab-stops:list 1cm'><span style='mso-list: Ignore'>` +
				`o<span>&nbsp;</span></span>crane</p><p style='mso-list:l1 level1 lfo2'><span style='mso-list:Ignore'>2)&nbsp;` +
				`</span>ferry</p><h2 style='mso-list:l2 level2 lfo3'><span style='mso-list:Ignore'>1.1&nbsp;</span>Tides</h2>` +
				`<p style='mso-list:l2 level1 lfo3'><span style='mso-list:Ignore'>3.</span></p><p style='mso-list:none'>text</p>`,
			"- quay\n    - crane\n2) ferry\n\n## 1.1 Tides\n\ntext\n",
		},
		{
			"typed bullets", "<p>Berths:<br>• north<br>•&nbsp;<a href=http://u>south</a><br>and more</p><p>•3 m</p><p>☐ sail</p>",
			"Berths:\n\n- north\n- [south](http://u)  \n  and more\n\n•3 m\n\n☐ sail\n",
		},
		{"code", "<pre><code>a\n  b</code><br>c</pre>", "```\na\n  b\nc\n```\n"},
		{"figures", `<figure><img alt="no"><figcaption>A duck</figcaption></figure><p><img alt="Pond"></p><p>an <img alt="icon"> here</p>`, "A duck\n\nPond\n\n<!-- image -->\n\nan icon here\n"},
		{"elements without text", `<h1>T</h1><script>s</script><style>s</style><noscript>n</noscript><template>t</template><p hidden>h</p><p style="display: none">d</p><p aria-hidden=true>a</p><nav>n</nav><button>b</button><select><option>o</select><textarea>t</textarea><svg><text>v</text></svg><!-- c --><p>text</p><footer>f</footer>`, "# T\n\ntext\n"},
		{
			"superscripts that are numbers", `<p>10<sup>6</sup> m<sup>2</sup> s<sup>−1</sup> x<sup>(<i>3</i>)</sup> Na<sup>+</sup> ` +
				`pier<sup><a href="#n"><span>45</span></a></sup>. c<sup></sup>6`,
			"10⁶ m² s⁻¹ x⁽³⁾ Na⁺ pier[⁴⁵](#n). c6\n",
		},
		{
			"other superscripts", `<p><sup>1</sup>A note, 21<sup>st</sup> 2<sup>2nd</sup> Quay<sup>TM</sup> <sup>4</sup>He.<sup>5</sup> a<sup> 6</sup> ` +
				`b<sup>7<sub>c</sub></sup> d<sup>8<span hidden>e</span></sup> f<sup>9<img alt=1></sup> pier<sup><a href=#n>[1]</a></sup>`,
			"1A note, 21st 22nd QuayTM 4He.5 a 6 b7c d8 f9 1 pier[\\[1\\]](#n)\n",
		},
		{
			"buttons that are headings", `<h2><button type="button">Berths?</button><button hidden>Copy</button></h2><div><p>Two.<button>Copy</button></div>` +
				`<dl><dt><button><span>Depth</span></button><dd>3 m</dl><details><summary><button>Tides</button></summary>low</details>`,
			"## Berths?\n\nTwo.\n\n- Depth\n    - 3 m\n\nTides\n\nlow\n",
		},
		{
			"text that is hidden until it is found", `<p hidden=Until-Found>a</p><p hidden="hidden">b</p>` +
				`<p hidden=until-found style="display:none">c`, "a\n",
		},
		{"dialogs", `<dialog>closed</dialog><dialog open>a</dialog><dialog open hidden>hidden</dialog>`, "a\n"},
		{
			"text before the first heading",
			`<header>Shop<p>Best prices of all, always</p></header><div><a href=/>Home</a> | <a href=/a>All articles</a></div><p>An introduction with a <a href=/b>link</a>.</p><h1>T</h1><p><a href=/>only a link</a></p>`, "An introduction with a link.\n\n# T\n\nonly a link\n",
		},
		{"a page without headings", `<header>Shop</header><a href=/>Home</a>`, "Shop\n\nHome\n"},
		{"a footer within an article", "<article>a<footer>by Ada</footer><footer hidden>not</footer></article>", "a\n\nby Ada\n"},
		{"formulas", `<p>x <math alttext="E=mc^2"><mi>E</mi></math> and <math><mi>a</mi><annotation>tex</annotation></math>.</p>`, "x E=mc^2 and a.\n"},
		{
			"formulas of MediaWiki", `<p>that <span class="mwe-math-element"><span style="display: none;" ` +
				`class="mwe-math-mathml-inline mwe-math-mathml-a11y"><math alttext="{\displaystyle E=mc}"><mi>E</mi></math></span>` +
				`<img class="mwe-math-fallback-image-inline" aria-hidden="true" alt="E=mc"></span> holds` +
				`<span class="note mwe-math-mathml" style="display: none">not</span>`,
			"that E=mc holds\n",
		},
		{"an unclosed drawing", "<svg><text>v<p>text</p>", "text\n"},
		{
			"table", "<table><caption>C</caption><thead><tr><th colspan=2>h<th>i</thead><tr><td " +
				"rowspan=2>a<td><ul><li>x<li>y</ul><td>c<tr><td><table><tr><td>n<td>m</table><td>f</table>",
			"C\n\n| h | h | i |\n| - | - | - |\n| a | - x - y | c |\n| a | n \\| m | f |\n",
		},
		{"layout tables", "<table role=presentation><tr><td>a<td>b</table><table><tr><td><p>one</table><table><tr><td><h1>H</h1><p>t<td>menu</table>", "a\n\nb\n\none\n\n# H\n\nt\n\nmenu\n"},
		{
			"headings in cells", "<table><tr><td><h3>Berth</h3><td><h3>Depth</h3><tr><td><h4>A</h4>north<td>3 m</table>",
			"| Berth | Depth |\n| - | - |\n| A north | 3 m |\n",
		},
		{
			"a page in a table", "<table><tr><td>logo<td><h2>Site</h2><tr><td>menu<td><h2>Guide</h2>" +
				strings.Repeat("text ", 300) + "</table>", "logo\n\n## Site\n\nmenu\n\n## Guide\n\n" +
				strings.TrimSpace(strings.Repeat("text ", 300)) + "\n",
		},
		{
			"a row that is a frame", "<table><tr><td>a<td>b<tr><td colspan=2><p>" + long + "<ul><li>i</ul><td><tr><td>d<td>e</table>",
			"| a | b |\n| - | - |\n\n" + long + "\n\n- i\n\n| d | e |\n| - | - |\n",
		},
		{
			"tables that lay out a page", "<table><tr><td>menu<td><p>" + long + "<table><tr><td>a<td>b</table><tr><td>d<td>e</table>",
			"menu\n\n" + long + "\n\n| a | b |\n| - | - |\n\n| d | e |\n| - | - |\n",
		},
		{
			"long cells of data", "<table><tr><td rowspan=2><td><p>" + long + "<p>x<tr><td>b<tr><td>c<td><p>" + long +
				"<p>y<tr><td><td>" + long + "</table>",
			"|  | " + long + " x |\n| - | - |\n|  | b |\n| c | " + long + " y |\n|  | " + long + " |\n",
		},
		{
			"formulas with structure", "<p>sum<math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow>" +
				"<mi>n</mi></munderover><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>is</p>" +
				"<math><mi>x<p>y</p>", "sum ∑\\_(i = 1)^n a/(b + 1) is\n\nx\n\ny\n",
		},
		{"links over blocks", `<a href="http://u"><p>a</p>b<br> c </a>d`, "[a](http://u)\n\n[b  \nc](http://u) d\n"},
		{
			"links relative to a stated address", `<base href="https://e.com/d/"><a href="p?q">x</a> <a href="#f">y</a>`,
			"[x](https://e.com/d/p?q) [y](#f)\n",
		},
		{
			"spans without bounds", "<table><tr><td rowspan=99999999 colspan=-4>a<td>b<tr><td rowspan=0>c</table>",
			"| a | b |\n| - | - |\n| a | c |\n",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, html.New(), extract.HTML, []byte(tt.page)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("<p>ascii</p>\n", 200) // longer than the searched start of the page
	for _, tt := range []struct{ what, page, want string }{
		{"undeclared UTF-8, late", filler + "<h1>Grüße</h1>", "Grüße"},
		{"undeclared Latin-1", "<h1>Gr\xfc\xdfe</h1>", "Grüße"},
		{"declared Cyrillic", "<meta charset=windows-1251><h1>\xcf\xf0\xe8</h1>", "При"},
		{"declared Latin-1 that is UTF-8", "<meta charset=iso-8859-1><h1>Grüße</h1>", "Grüße"},
		{"UTF-16", "\xff\xfe<\x00p\x00>\x00\xfc\x00", "ü"},
		{"Japanese", "<meta charset=shift_jis><p>\x93\xfa\x96\x7b</p>", "日本"},
	} {
		if got := nativetest.Markdown(t, html.New(), extract.HTML, []byte(tt.page)); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	page := `<html lang="en-GB"><head><title> A&amp;B </title><meta name="Author" content="Ada"><meta property="article:published_time" content="2024-05-06"><meta name="date" content="late"><meta name=generator content=G></head><body>x`
	doc, err := nativetest.Extract(t, html.New(), extract.HTML, []byte(page), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := extract.Info{
		Format: extract.HTML, Extractor: "native/html", Title: "A&B", Language: "en-GB", Characters: 1,
		Properties: map[string]string{
			"author": "Ada", "published": "2024-05-06", "producer": "G",
		},
	}
	if !reflect.DeepEqual(doc.Info, want) {
		t.Errorf("got %+v", doc.Info)
	}
}

// TestMeta: a meta element may have a name for browsers and one for Open Graph, whose author is an address.
func TestMeta(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ page, property, want string }{
		{`<meta name="description" property="og:description" content="Tides">`, "description", "Tides"},
		{`<meta name="twitter:creator" property="Article:Author" content="Ada">`, "author", "Ada"},
		{`<meta property="article:author" content="HTTPS://e.com/ada"><meta name=author content="Ada">`, "author", "Ada"},
		{`<meta property="article:author" content="http://e.com/ada">`, "author", ""},
		{`<meta name=description content="https://e.com is where tides are">`, "description", "https://e.com is where tides are"},
	} {
		doc, err := nativetest.Extract(t, html.New(), extract.HTML, []byte(tt.page), extract.Limits{})
		if got := doc.Info.Properties[tt.property]; err != nil || got != tt.want {
			t.Errorf("%s: the %s is %q, %v; want %q", tt.page, tt.property, got, err, tt.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, page string
		limits     extract.Limits
		class      taskerr.Class
		message    string
	}{
		{
			"deep nesting", strings.Repeat("<div>", 100_000),
			extract.Limits{},
			taskerr.CorruptionDetected,
			"nested deeper than 512",
		},
		{"too many elements", strings.Repeat("<p>", 1_100_000), extract.Limits{}, taskerr.QuotaExceeded, "elements"},
		{
			"too much text", strings.Repeat("<p>0123456789", 100),
			extract.Limits{Characters: 200},
			taskerr.QuotaExceeded,
			"200 characters",
		},
		{
			"an endless script", `<script>` + strings.Repeat("A", 33<<20),
			extract.Limits{},
			taskerr.QuotaExceeded,
			"32 MB",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			nativetest.Refuses(t, html.New(), extract.HTML, []byte(tt.page), tt.limits, tt.class, tt.message)
		})
	}
}

// TestFormattingDoesNotMultiply: the parser reopens unclosed formatting elements in each paragraph, here 400 in
// each of 5,000, two million in all. The test counts allocations, so it doesn't run in parallel.
func TestFormattingDoesNotMultiply(t *testing.T) { //nolint:paralleltest // see above
	var page strings.Builder
	page.WriteString("<p>")
	for i := range 400 {
		page.WriteString("<font lang=" + strings.Repeat("x", i) + ">")
	}
	page.WriteString("</p>" + strings.Repeat("<p>a</p>", 5000))
	allocations := testing.AllocsPerRun(1, func() {
		doc, err := nativetest.Extract(t, html.New(), extract.HTML, []byte(page.String()), extract.Limits{})
		if err != nil || len(doc.Blocks) != 5000 {
			t.Errorf("got %v", err)
		}
	})
	if allocations > 500_000 {
		t.Errorf("%.0f allocations", allocations)
	}
}

func FuzzPage(f *testing.F) {
	f.Add("<h1>T</h1><ul><li>a<ol><li>b</ol></ul><dl><dt>x<dd>y</dl><pre>z</pre>")
	f.Add("<table><tr><th colspan=2>h<tr><td rowspan=0>a<td><table><tr><td>n</table></table>")
	f.Add("<svg><math><select><p>x<textarea><xmp></svg>&nbsp;&#0;")
	f.Fuzz(func(t *testing.T, page string) { nativetest.Fuzz(t, html.New(), extract.HTML, []byte(page)) })
}

// TestMissingEnds: the text after a missing quote, or a missing end of a comment or a script, is part of that, which the
// result says.
func TestMissingEnds(t *testing.T) {
	t.Parallel()
	lost := strings.Repeat("<p>lost</p>", 100)
	for page, warns := range map[string]bool{
		`<h1>a</h1><p title="b>` + lost: true, `<h1>a</h1><p title="b>` + strings.Repeat(lost, 1000): true,
		"<h1>a</h1><!-- b " + lost: true, "<h1>a</h1><script>" + lost: true,
		"<h1>a</h1><!-- b " + lost + "-->": false, "<h1>a</h1><!-- b " + lost + "--!>": false,
		"<h1>a</h1><script>" + lost + "</script>": false, "<h1>a</h1><p": false, "<h1>a</h1><style/>": true,
	} {
		doc, err := nativetest.Extract(t, html.New(), extract.HTML, []byte(page), extract.Limits{})
		if err != nil || len(doc.Blocks) != 1 || warns != strings.Contains(strings.Join(doc.Info.Warnings, ", "), "ends within") {
			t.Errorf("%.40q…: %+v, %v", page, doc, err)
		}
	}
}
