package xml_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func reader() extract.Extractor { return native.Extractors(nil, nil)[extract.XML] }

func TestKinds(t *testing.T) {
	t.Parallel()
	const prolog = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	for name, tt := range map[string]struct{ content, want string }{
		"journal article": {
			`<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd"><article><front><journal-meta><p>x</p></journal-meta>` +
				`<article-meta><title-group><article-title>On <i>cranes</i></article-title></title-group><abstract><p>Short.</p>` +
				`</abstract></article-meta></front><body><sec><label>1</label><title>Methods</title><p>We lifted&nbsp;it.</p>` +
				`<sec><title>Tools</title><list list-type="order"><list-item><p>one</p><p>more</p></list-item><list-item><p>two</p>` +
				`</list-item></list></sec></sec><table-wrap><caption><p>Loads</p></caption><table><thead><tr><th>Name</th><th>t</th>` +
				`</tr></thead><tbody><tr><td>Ada <b>x</b></td><td>36</td></tr></tbody></table></table-wrap></body><back><ref-list>` +
				`<title>References</title><ref><mixed-citation>Doe J. <article-title>Quays</article-title>. 2020.</mixed-citation>` +
				`</ref></ref-list></back></article>`,
			"# On cranes\n\n## Abstract\n\nShort.\n\n## 1 Methods\n\nWe lifted it.\n\n### Tools\n\n1. one\n\nmore\n\n2. two\n\nLoads\n\n" +
				"| Name | t |\n| - | - |\n| Ada x | 36 |\n\n## References\n\n- Doe J. Quays. 2020.\n",
		},
		"references have the numbers of their volumes and pages, and the article has none": {
			`<article><front><article-meta><title-group><article-title>T</article-title></title-group><volume>7</volume><issue>8</issue>` +
				`<fpage>9</fpage><lpage>10</lpage><elocation-id>e9</elocation-id></article-meta></front><body><p>See ` +
				`<mixed-citation>Doe <volume>5</volume></mixed-citation>.</p></body><back><ref-list><ref><mixed-citation>Smith J. ` +
				`<article-title>On ships</article-title>. <source>Nature</source> <year>2010</year>;<volume>12</volume>(<issue>3</issue>):` +
				`S<fpage>45</fpage>–<lpage>67</lpage>.</mixed-citation></ref></ref-list></back></article>`,
			"# T\n\nSee Doe 5.\n\n- Smith J. On ships. Nature 2010;12(3):S45–67.\n",
		},
		"parts of names, addresses and references are apart": {
			`<article><front><article-meta><title-group><article-title>T</article-title></title-group><contrib-group><contrib><name>` +
				`<surname>André</surname><given-names>Jane</given-names></name><xref>1</xref><xref>2</xref></contrib></contrib-group><aff>` +
				`<label>1</label><institution>Quay House</institution><country>Malta</country></aff></article-meta></front><body><p>` +
				`<italic>in vivo</italic><xref>3</xref> H<sub>2</sub>O</p></body><back><ref-list><ref><element-citation><person-group><name>` +
				`<surname>Nishio</surname><given-names>H</given-names></name><name><surname>Awano</surname><given-names>T</given-names></name>` +
				`</person-group><article-title>Cranes</article-title><source>Nature</source><year>2010</year><volume>12</volume><fpage>45` +
				`</fpage><lpage>67</lpage></element-citation></ref><ref><mixed-citation><year>2011</year><article-title>Q</article-title>` +
				`</mixed-citation></ref></ref-list></back></article>`,
			"# T\n\nJane André 1 2\n\n1 Quay House Malta\n\nin vivo3 H2O\n\n- Nishio H Awano T Cranes Nature 2010 12 45 67\n- 2011 Q\n",
		},
		"an empty row that a cell reaches stays": {
			`<article><body><table><tr><th>a</th><th>b</th></tr><tr><td rowspan="2">A</td><td>1</td></tr><tr><td/></tr><tr><td rowspan="1"/><td/></tr>` +
				`<tr><td>B</td><td>2</td></tr></table></body></article>`,
			"| a | b |\n| - | - |\n| A | 1 |\n| A |  |\n| B | 2 |\n",
		},
		"formulas of cells, each in a language": {
			`<article><body><table><tr><td><inline-formula><math><mi>x</mi></math></inline-formula></td><td><tex-math>$y$</tex-math></td>` +
				`</tr></table></body></article>`,
			"| x | y |\n| - | - |\n",
		},
		"a field called math": {
			`<rows><row><name>Bob</name><math>95</math><reading>88</reading><science>77</science></row></rows>`,
			"Bob  \n95  \n88  \n77\n",
		},
		"a field that is a formula": {
			`<rows><row><name>Bob</name><math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math><reading>88</reading>` +
				`<science>77</science></row></rows>`,
			"Bob  \nx  \n88  \n77\n",
		},
		"names of authors": {
			`<article><front><article-meta><title-group><article-title>T</article-title></title-group><contrib-group><contrib>` +
				`<string-name><given-names>Ada</given-names> <surname>Muir</surname></string-name></contrib><contrib><string-name>` +
				`<surname>Moore</surname>, <given-names>Ben</given-names></string-name></contrib><contrib><surname>Li</surname>` +
				`<given-names>Wei</given-names></contrib><contrib><surname>Only</surname></contrib><contrib><name><surname>Zhang` +
				`</surname><given-names>Wei</given-names></name></contrib><contrib><name><surname>Zhang</surname><given-names>Wei` +
				`</given-names></name></contrib></contrib-group></article-meta></front><body><p>Text.</p></body><back><ref-list><ref>` +
				`<element-citation><name><surname>Awano</surname><given-names>T</given-names></name></element-citation></ref>` +
				`</ref-list></back></article>`,
			"# T\n\nAda Muir\n\nBen Moore\n\nWei Li\n\nOnly\n\nWei Zhang\n\nWei Zhang\n\nText.\n\n- Awano T\n",
		},
		"captions are no headings": {
			`<article><article-title>T</article-title><abstract><sec><title>Why</title><p>So.</p></sec></abstract><abstract>` +
				`<title>Summary</title><p>S.</p></abstract><body><sec><title>Results</title><fig><label>Fig 1</label><caption>` +
				`<title>Loads by year.</title><p>In tonnes.</p></caption></fig><p>They rose.</p></sec></body><back><ack><p>Thanks.` +
				`</p></ack></back></article>`,
			"# T\n\n## Abstract\n\n### Why\n\nSo.\n\n## Summary\n\nS.\n\n## Results\n\nFig 1 Loads by year.\n\nIn tonnes.\n\n" +
				"They rose.\n\n## Acknowledgments\n\nThanks.\n",
		},
		"tables have titles and cells that span others": {
			`<book><title>T</title><chapter><title>C</title><table><title>Loads</title><tgroup><thead><row><entry>Quay</entry>` +
				`<entry>Load</entry></row><row><entry/><entry>t</entry></row></thead><tbody><row><entry morerows="1">A</entry>` +
				`<entry>1</entry></row><row><entry>2</entry></row></tbody></tgroup></table><figure><title>The quay</title></figure>` +
				`<para>End.</para></chapter></book>`,
			"# T\n\n## C\n\nLoads\n\n| Quay | Load |\n| - | - |\n|  | t |\n| A | 1 |\n| A | 2 |\n\nThe quay\n\nEnd.\n",
		},
		"figures, keywords, files and funders of an article": {
			`<article><front><article-meta><article-categories><subj-group><subject>X</subject></subj-group></article-categories>` +
				`<title-group><article-title>H<sub>2</sub>O</article-title><alt-title>Water</alt-title></title-group><contrib-group>` +
				`<contrib><contrib-id>https://orcid.org/1</contrib-id><name><surname>Muir</surname><given-names>Ada</given-names>` +
				`<suffix>Jr</suffix></name><role content-type="https://credit.niso.org/">Methodology</role></contrib><contrib>` +
				`<name name-style="eastern"><surname>Wang</surname><given-names>Li</given-names></name><role>Editor</role></contrib>` +
				`</contrib-group><author-notes><corresp>a@b.example</corresp></author-notes><abstract><p>Short.</p></abstract>` +
				`<kwd-group><title>Organism</title><kwd>Mouse</kwd><kwd>Rat</kwd></kwd-group></article-meta></front><body><sec>` +
				`<title>Methods</title><table-wrap><label>Key table</label><table><tr><th>a</th></tr><tr><td>CO<sub>2</sub></td>` +
				`</tr></table></table-wrap><sec><title>Mice</title><p>We.</p></sec><supplementary-material><label>Form</label>` +
				`</supplementary-material></sec><sec><title>Data</title><fn-group><title>Ethics</title><fn><p>None.</p></fn></fn-group>` +
				`</sec></body></article>`,
			"# H2O\n\nAda Muir Jr\n\nWang Li Editor\n\na@b.example\n\n## Abstract\n\nShort.\n\nOrganism Mouse Rat\n\n## Methods\n\n" +
				"Key table\n\n| a |\n| - |\n| CO2 |\n\n### Mice\n\nWe.\n\nForm\n\n## Data\n\n### Ethics\n\nNone.\n",
		},
		"formulas in TeX, MathML and both": {
			`<article xmlns:mml="http://www.w3.org/1998/Math/MathML"><body><p>Where<inline-formula><tex-math>` +
				`\documentclass{minimal}\begin{document}$$p^{2}$$\end{document}</tex-math></inline-formula>and <inline-formula>` +
				`<alternatives><mml:math><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfrac></mml:math><tex-math>\frac{a}{b}` +
				`</tex-math></alternatives></inline-formula>:</p><disp-formula><label>(1)</label><alternatives><tex-math><![CDATA[$x<y$]]>` +
				`</tex-math><mml:math><mml:mi>x</mml:mi></mml:math></alternatives></disp-formula></body></article>`,
			"Where p^{2} and a/b:\n\n(1) x&lt;y\n",
		},
		"book": {
			`<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">` +
				`<stylesheet>.p{}</stylesheet><description><title-info><genre>sf</genre><book-title>` +
				`Море</book-title></title-info></description><body><section><title><p>Глава 1</p></title><p>Текст.</p><poem><stanza>` +
				`<v>Раз</v><v>два</v></stanza></poem></section></body><binary id="a">AAAA</binary></FictionBook>`,
			"# Море\n\n## Глава 1\n\nТекст.\n\nРаз\n\nдва\n",
		},
		"feed": {
			`<rss version="2.0"><channel><title>News</title><link>http://x</link><item><title>Late crane</title><description>` +
				`<![CDATA[<p>It was <b>late</b>.</p><ul><li>very</li></ul>]]></description></item></channel></rss>`,
			"# News\n\n## Late crane\n\nIt was late.\n\n- very\n",
		},
		"topic": {
			`<topic id="a"><title>Crane</title><shortdesc>Short.</shortdesc><body><ul><li>one<ul><li>deep</li></ul></li></ul>` +
				`<codeblock>a
  b</codeblock><table><tgroup><thead><row><entry>A</entry></row></thead><tbody><row><entry>1</entry></row></tbody></tgroup>` +
				`</table></body></topic>`,
			"# Crane\n\nShort.\n\n- one\n    - deep\n\n```\na\n  b\n```\n\n| A |\n| - |\n| 1 |\n",
		},
		"timed text": {
			`<tt xmlns="http://www.w3.org/ns/ttml"><head><metadata><p>x</p></metadata></head><body><div><p begin="1s">Hello,<br/>` +
				`world.</p></div></body></tt>`,
			"Hello, world.\n",
		},
		"workbook": {
			`<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">` +
				`<Worksheet ss:Name="Loads"><Table><Row><Cell><Data>a</Data></Cell><Cell><Data>b</Data></Cell></Row><Row><Cell>` +
				`<Data>1</Data></Cell><Cell><Data>2</Data></Cell></Row></Table></Worksheet></Workbook>`,
			"# Loads\n\n| a | b |\n| - | - |\n| 1 | 2 |\n",
		},
		"names of characters, texts and pictures": {
			`<!DOCTYPE order [<!ENTITY % iso PUBLIC "ISO"> <!ENTITY ship "Ada &#38; Co"><!ENTITY P1.TIF SYSTEM "P1.TIF" NDATA TIF>` +
				`]><order><b>&lsqb;1&rsqb; &ship;</b><b>&agr;&OHgr; <![CDATA[&agr;]]></b></order>`,
			"\\[1\\] Ada &amp; Co  \nαΩ &amp;agr;\n",
		},
		"Word 2007 in one file": {
			`<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage" xmlns:w="w"><pkg:part><pkg:xmlData>` +
				`<Properties><Template>x</Template></Properties></pkg:xmlData></pkg:part><pkg:part><pkg:xmlData><w:document><w:body>` +
				`<w:p><w:r><w:t>One</w:t></w:r><w:r><w:t>two.</w:t></w:r><w:del><w:r><w:t>x</w:t></w:r></w:del><w:moveFrom><w:r><w:t>y</w:t>` +
				`</w:r></w:moveFrom></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>` +
				`</w:tc></w:tr></w:tbl></w:body></w:document></pkg:xmlData></pkg:part><pkg:part><pkg:binaryData>AAAA</pkg:binaryData>` +
				`</pkg:part></pkg:package>`,
			"Onetwo.\n\n| a |\n| - |\n",
		},
		"another": {
			`<order><id>7</id><line><name>Rope</name><n>3</n></line><note>Please <b>soon</b>, thanks</note></order>`,
			"7  \nRope  \n3\n\nPlease soon, thanks\n",
		},
		"flat OpenDocument": {
			`<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:` +
				`opendocument:xmlns:text:1.0" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>` +
				`<text:h text:outline-level="1">Head</text:h><text:p>Text.</text:p><office:binary-data>` +
				strings.Repeat("A<!---->", 3) + `</office:binary-data><text:p>End.</text:p></office:text></office:body></office:document>`,
			"# Head\n\nText.\n\nEnd.\n",
		},
		"Word 2003": {
			`<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:wx="http://schemas.microsoft.com/` +
				`office/word/2003/auxHint"><w:styles><w:style w:type="paragraph" w:styleId="a1"><w:name w:val="heading 1"/></w:style>` +
				`</w:styles><w:body><wx:sect><w:p><w:pPr><w:pStyle w:val="a1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p><w:p><w:r>` +
				`<w:t>Text.</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl></wx:sect>` +
				`</w:body></w:wordDocument>`,
			"# Head\n\nText.\n\n| a |  |\n| - | - |\n| b |  |\n",
		},
		"changes and comments in Word 2003": {
			`<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:aml="http://schemas.microsoft.com/` +
				`aml/2001/core"><w:body><w:p><w:r><w:t>One </w:t></w:r><aml:annotation w:type="Word.Insertion"><aml:content><w:r>` +
				`<w:t>new</w:t></w:r></aml:content></aml:annotation><aml:annotation w:type="Word.Deletion"><aml:content><w:r><w:delText>` +
				`old</w:delText></w:r></aml:content></aml:annotation><w:r><aml:annotation aml:author="Ada" w:type="Word.Comment">` +
				`<aml:content><w:p><w:r><w:t>Why?</w:t></w:r></w:p></aml:content></aml:annotation></w:r><w:r><w:t> text.</w:t></w:r></w:p>` +
				`</w:body></w:wordDocument>`,
			"One new text.\n\n\\[author: Ada\\]: Why?\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := nativetest.Markdown(t, reader(), extract.XML, []byte(prolog+tt.content))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestManyHeaderRows: the header is as short as that of other formats: what is made of a table repeats it.
func TestManyHeaderRows(t *testing.T) {
	t.Parallel()
	content := `<topic id="a"><body><table><tgroup><thead>` + strings.Repeat(`<row><entry>A</entry></row>`, 60) +
		`</thead><tbody><row><entry>1</entry></row></tbody></tgroup></table></body></topic>`
	doc, err := nativetest.Extract(t, reader(), extract.XML, []byte(content), extract.Limits{})
	if err != nil || len(doc.Blocks) != 1 {
		t.Fatal(doc, err)
	}
	if table := doc.Blocks[0].Table; table.Headers != extract.MaxHeaders || len(table.Rows) != 61 {
		t.Errorf("%d headers of %d rows", table.Headers, len(table.Rows))
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	bomb := `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><a>&b;</a>`
	uses := func(encoding, name, use string) []byte {
		return []byte(`<?xml version="1.0" encoding="` + encoding + `"?><!DOCTYPE a [<!ENTITY ` + name + ` "` +
			strings.Repeat("y", 1000) + `">]><a>` + strings.Repeat("&"+use+";", 10_000) + `</a>`)
	}
	long := strings.Repeat("x", 300)
	nativetest.RefusesAll(t, reader(), extract.XML, []nativetest.Refusal{
		{What: "entity bomb", Content: []byte(bomb), Class: taskerr.CorruptionDetected, Message: "uses entities"},
		{
			What: "external entity", Content: []byte(`<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`),
			Class: taskerr.CorruptionDetected, Message: "uses entities",
		},
		{
			What: "many uses", Content: uses("utf-8", "x", "x"),
			Class: taskerr.CorruptionDetected, Message: "uses entities",
		},
		{
			What: "many uses of a Cyrillic name", Content: uses("windows-1251", "\xe6", "\xe6"),
			Class: taskerr.CorruptionDetected, Message: "uses entities",
		},
		{
			What: "many uses with signs of the encoding", Content: uses("iso-2022-jp", "x", "\x1b(Bx"),
			Class: taskerr.CorruptionDetected, Message: "uses entities",
		},
		{
			What: "many uses of a long name", Content: uses("utf-8", long, long),
			Class: taskerr.CorruptionDetected, Message: "uses entities",
		},
		{
			What: "many uses of a name of some length", Content: uses("utf-8", long[:40], long[:40]),
			Class: taskerr.CorruptionDetected, Message: "uses entities",
		},
		{
			What: "a late use", Content: []byte(`<!DOCTYPE a [<!ENTITY b "&c;">]><a>` + strings.Repeat("word ", 10_000) + `&b;</a>`),
			Class: taskerr.CorruptionDetected, Message: "uses entities",
		},
		{
			What: "depth", Content: []byte("<?xml version='1.0'?>" + strings.Repeat("<a>", 100_000)), Class: taskerr.CorruptionDetected,
			Message: "nested deeper",
		},
		{What: "cut off", Content: []byte("<rss><channel>"), Class: taskerr.CorruptionDetected, Message: "damaged"},
		{
			What: "long text", Content: []byte("<a>" + strings.Repeat("<b>word </b>", 100) + "</a>"), Limits: extract.Limits{Characters: 100},
			Class: taskerr.QuotaExceeded, Message: "characters",
		},
	})
}

func FuzzXML(f *testing.F) {
	f.Add([]byte(`<topic id="a"><title>T</title><body><ul><li>one<ul><li>deep</li></ul></li></ul></body></topic>`))
	f.Add([]byte(`<article><sec><title>T</title><table><tr><td>a<table><tr><td/></tr></table></td></tr></table></sec></article>`))
	f.Add([]byte(`<rss><item><description>&lt;p>a&lt;/p></description></item></rss>`))
	f.Add([]byte(`<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"><office:body/></office:document>`))
	e := reader()
	f.Fuzz(func(t *testing.T, content []byte) { nativetest.Fuzz(t, e, extract.XML, content) })
}
