package xml

// The three kinds of XML in which the United States Patent and Trademark Office publishes patents and applications: since
// 2005, applications of 2001 to 2004, and grants of 2001 to 2004 (WIPO ST.32). Of the facts about them the title and the
// people are read; the others are numbers of classes, files and other patents.
var (
	patent = merged(cals, dialect{ //nolint:gochecknoglobals // it doesn't change
		"us-bibliographic-data-application": facts, "us-bibliographic-data-grant": facts, "us-parties": facts, "parties": facts,
		"us-applicants": facts, "applicants": facts, "inventors": facts, "assignees": facts,
		"invention-title": docTitle, "us-applicant": byline, "applicant": byline, "inventor": byline, "assignee": byline,
		"addressbook": record, "last-name": surname, "first-name": givenName, "middle-name": field, "suffix": field,
		"orgname": field, "address": skipped, "role": skipped, "nationality": skipped, "residence": skipped,
		"designated-states": skipped, "designated-states-as-inventor": skipped,
		"us-sequence-list-doc": skipped, "drawings": skipped, "us-claim-statement": skipped,
		"abstract": section, "claims": section, "heading": heading, "p": paragraph, "claim": claim, "claim-text": paragraph,
		"ul": list, "ol": numbered, "li": item, "maths": formulas, "br": lineBreak,
	})
	patentApplication = merged(cals, dialect{ //nolint:gochecknoglobals // it doesn't change
		"subdoc-bibliographic-information": facts, "technical-information": facts, "inventors": facts,
		"title-of-invention": docTitle, "first-named-inventor": byline, "inventor": byline, "assignee": byline,
		"name": record, "family-name": surname, "given-name": givenName, "middle-name": field, "name-suffix": field,
		"organization-name": field, "residence": skipped, "authority-applicant": skipped, "address": skipped,
		"assignee-type": skipped, "subdoc-drawings": skipped, "mathematica-file": skipped, "chemdraw-file": skipped,
		"mol-file": skipped, "number": skipped,
		"subdoc-abstract": section, "subdoc-claims": section, "heading": heading, "paragraph": paragraph, "claim": claim,
		"claim-text": paragraph, "unordered-list": list, "ordered-list": numbered, "list-item": item, "math-cwu": formulas,
	})
	patentGrant = merged(cals, dialect{ //nolint:gochecknoglobals // it doesn't change
		"SDOBI": facts, "B500": facts, "B540": docTitle, "B700": facts, "B720": facts, "B721": byline, "B730": facts,
		"B731": byline, "NAM": record, "FNM": givenName, "SNM": surname, "ONM": field, "ADR": skipped, "B732US": skipped,
		"SDODR": skipped, "SDOAB": section, "SDOCL": section, "H": heading, "PARA": paragraph, "CLM": claim,
		"CLMSTEP": paragraph, "UL": list, "OL": numbered, "LI": item, "CWU": formulas,
	})
	cals = dialect{
		"table": table, "thead": headRows, "row": row, "entry": cell, "tgroup": columns, "colspec": column,
	}
)
