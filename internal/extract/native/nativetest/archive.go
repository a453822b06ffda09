package nativetest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Zip makes an archive of parts, given as pairs of name and content.
func Zip(t testing.TB, parts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = io.WriteString(w, parts[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// OfficeRelations is the common prefix of the relation types in Office files.
const OfficeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"

// Relations makes the relations part of an Office file with the ids r0, r1, …, from pairs of type and target.
func Relations(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, `<Relationship Id="r%d" Type="%s%s" Target="%s"/>`, i/2, OfficeRelations, pairs[i], pairs[i+1])
	}
	return "<Relationships>" + b.String() + "</Relationships>"
}
