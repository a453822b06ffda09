package xml

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// extractionDocument is the XML of what a model has read. Its name and its namespace are none of an invoice, so that no
// program takes it for one before a person has looked at it.
type extractionDocument struct {
	XMLName    xml.Name            `xml:"urn:async-worker:extraction:1 extraction"`
	Review     string              `xml:"review,attr"`
	Source     Source              `xml:"source,attr"`
	Model      string              `xml:"model,attr"`
	Mapping    string              `xml:"mapping,attr"`
	Verdict    string              `xml:"verdict,attr"`
	Confidence string              `xml:"confidence,attr"`
	Fields     []extractionField   `xml:"field"`
	Findings   []extractionFinding `xml:"finding"`
}

type extractionField struct {
	Path  string `xml:"path,attr"`
	Page  int    `xml:"page,attr,omitempty"`
	Value string `xml:",chardata"`
}

type extractionFinding struct {
	Path    string `xml:"path,attr,omitempty"`
	Page    int    `xml:"page,attr,omitempty"`
	Gateway string `xml:"gateway,attr,omitempty"` // what the gateway read
	Problem string `xml:",chardata"`
}

// extraction writes what the model has read, marked for review.
func (w *work) extraction(into string, said reading, c check) (f store.AnswerFile, err error) {
	d := extractionDocument{
		Review: "required", Source: ByModel, Model: c.Model, Mapping: w.payload.Mapping, Verdict: c.Verdict,
		Confidence: fmt.Sprintf("%.3f", c.Confidence),
	}
	for _, s := range said.Fields {
		if s.Value != "" {
			d.Fields = append(d.Fields, extractionField{s.Path, s.Page, s.Value})
		}
	}
	for _, x := range c.Findings {
		d.Findings = append(d.Findings, extractionFinding{x.Path, x.Page, x.Value, x.Problem})
	}
	indent := ""
	if w.payload.Pretty {
		indent = "  "
	}
	text, err := xml.MarshalIndent(d, "", indent)
	if indent == "" {
		text, err = xml.Marshal(d)
	}
	if err != nil {
		return f, fmt.Errorf("write what the model has read: %w", err)
	}
	text = append([]byte(xml.Header), append(text, '\n')...)
	if err := os.WriteFile(into, text, 0o600); err != nil {
		return f, asIO(source.NoRoom(err))
	}
	sum := sha256.Sum256(text)
	f.SHA256, f.Bytes = hex.EncodeToString(sum[:]), int64(len(text))
	return f, c.into(&f)
}
