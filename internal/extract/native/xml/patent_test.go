package xml_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

func TestPatents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ content, want string }{
		"since 2005": {
			`<us-patent-grant><us-bibliographic-data-grant><publication-reference><document-id><kind>B2</kind></document-id>` +
				`</publication-reference><invention-title>Crane</invention-title><us-references-cited><us-citation>x</us-citation>` +
				`</us-references-cited><us-parties><us-applicants><us-applicant><addressbook><orgname>Quay AG</orgname><address><city>Bern` +
				`</city></address></addressbook></us-applicant></us-applicants><inventors><inventor><addressbook><last-name>Muir` +
				`</last-name><first-name>Ada</first-name></addressbook></inventor></inventors></us-parties><assignees><assignee>` +
				`<addressbook><orgname>Quay AG</orgname></addressbook></assignee></assignees></us-bibliographic-data-grant><abstract>` +
				`<p>It lifts:<ul><li>ropes</li></ul></p></abstract><drawings><figure><img/></figure></drawings><description>` +
				`<heading level="1">FIELD</heading><p>Cranes with x<sub>2</sub>.</p><heading level="2">Hooks</heading><p>All.</p>` +
				`</description><us-claim-statement>What is claimed is:</us-claim-statement><claims><claim><claim-text><b>1</b>. A crane:` +
				`<claim-text>a hook;</claim-text><claim-text>a rope.</claim-text></claim-text></claim></claims></us-patent-grant>`,
			"# Crane\n\nQuay AG\n\nAda Muir\n\n## Abstract\n\nIt lifts:\n\n- ropes\n\n## FIELD\n\nCranes with x2.\n\n### Hooks\n\nAll.\n\n" +
				"## Claims\n\n1\\. A crane: a hook; a rope.\n",
		},
		"an application of 2001": {
			`<!DOCTYPE patent-application-publication SYSTEM "pap.dtd" [<!ENTITY M1.TIF SYSTEM "M1.TIF" NDATA TIF>]>` +
				`<patent-application-publication><subdoc-bibliographic-information><document-id><kind-code>A1</kind-code></document-id>` +
				`<technical-information><classification-us><class>1</class></classification-us><title-of-invention>Reagent` +
				`</title-of-invention></technical-information><inventors><first-named-inventor><name><given-name>Ada</given-name>` +
				`<family-name>Muir</family-name></name><residence><city>Bern</city></residence></first-named-inventor></inventors>` +
				`</subdoc-bibliographic-information><subdoc-abstract><paragraph>Short.</paragraph></subdoc-abstract><subdoc-description>` +
				`<paragraph><number>&lsqb;0001&rsqb;</number> It works.</paragraph><heading lvl="1">Example</heading><paragraph>One.` +
				`</paragraph></subdoc-description><subdoc-claims><claim><claim-text>2. As in <dependent-claim-reference><claim-text>` +
				`claim 1</claim-text></dependent-claim-reference> alone.</claim-text></claim></subdoc-claims>` +
				`</patent-application-publication>`,
			"# Reagent\n\nAda Muir\n\n## Abstract\n\nShort.\n\nIt works.\n\n## Example\n\nOne.\n\n## Claims\n\n2\\. As in claim 1 alone.\n",
		},
		"a grant of 2001": {
			`<PATDOC><SDOBI><B100><PDAT>B1</PDAT></B100><B500><B540><STEXT><PDAT>Turbo code</PDAT></STEXT></B540></B500><B700><B720>` +
				`<B721><PARTY-US><NAM><FNM><PDAT>Ada</PDAT></FNM><SNM><STEXT><PDAT>Muir</PDAT></STEXT></SNM></NAM><ADR><CITY>x</CITY>` +
				`</ADR></PARTY-US></B721></B720></B700></SDOBI><SDOAB><BTEXT><PARA><PTEXT><PDAT>Short.</PDAT></PTEXT></PARA></BTEXT>` +
				`</SDOAB><SDODE><H LVL="1"><STEXT><PDAT>FIELD</PDAT></STEXT></H><PARA><PTEXT><PDAT>N&agr;.</PDAT></PTEXT></PARA></SDODE>` +
				`<SDOCL><H LVL="1"><STEXT><PDAT>What is claimed is:</PDAT></STEXT></H><CL><CLM><PARA><PTEXT><PDAT>1. A method:</PDAT>` +
				`</PTEXT></PARA><CLMSTEP><PTEXT><PDAT>storing.</PDAT></PTEXT></CLMSTEP></CLM></CL></SDOCL></PATDOC>`,
			"# Turbo code\n\nAda Muir\n\n## Abstract\n\nShort.\n\n## FIELD\n\nNα.\n\n## Claims\n\nWhat is claimed is:\n\n1\\. A method: storing.\n",
		},
		"a table of parts with different columns": {
			`<us-patent-grant><description><p>See<table><tgroup cols="2"><colspec colname="offset" colwidth="42pt"/>` +
				`<colspec colname="1" colwidth="84pt"/><thead><row><entry/><entry namest="1" nameend="1">TABLE 1</entry></row></thead>` +
				`<tbody><row><entry/><entry namest="offset" nameend="1"/></row></tbody></tgroup><tgroup cols="3"><colspec colname="1" ` +
				`colwidth="42pt"/><colspec colname="2" colwidth="42pt"/><colspec colname="3" colwidth="43pt"/><tbody><row><entry>A</entry>` +
				`<entry>1</entry><entry>2</entry></row></tbody></tgroup></table></p></description></us-patent-grant>`,
			"See\n\n|  | TABLE 1 | TABLE 1 |\n| - | - | - |\n| A | 1 | 2 |\n",
		},
		"widths in inches put no cells below each other": {
			`<us-patent-grant><description><p>See<table><tgroup cols="3"><colspec colname="1" colwidth="1in"/>` +
				`<colspec colname="2" colwidth="1in"/><colspec colname="3" colwidth="8in"/><tbody><row><entry>A</entry><entry>1</entry>` +
				`<entry>x</entry></row></tbody></tgroup><tgroup cols="2"><colspec colname="1" colwidth="6in"/>` +
				`<colspec colname="2" colwidth="4in"/><tbody><row><entry>B</entry><entry>2</entry></row></tbody></tgroup></table></p>` +
				`</description></us-patent-grant>`,
			"See\n\n| A | 1 | x |\n| - | - | - |\n| B | 2 |  |\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := nativetest.Markdown(t, reader(), extract.XML, []byte(`<?xml version="1.0"?>`+"\n"+tt.content))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
