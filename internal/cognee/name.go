package cognee

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// DatasetName is the name of the dataset of a tenant's document set: the tenant's id, an underscore, and the set. Bytes
// other than ASCII letters, digits, - and _ are written as ~ and two hexadecimal digits. A tenant's id has no
// underscore, so no two sets of whatever tenants share a name.
func DatasetName(clientID, documentSet string) string {
	var b strings.Builder
	b.WriteString(clientID + "_")
	for _, c := range []byte(documentSet) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "~%02x", c)
		}
	}
	return b.String()
}

// ofTenant reports whether a dataset is one of the tenant's.
func ofTenant(clientID, dataset string) bool { return strings.HasPrefix(dataset, clientID+"_") }

// fileName is the name under which a document is uploaded. Cognee names its row after it, without the extension.
func fileName(documentID string) string { return documentID + ".md" }

// documentOf returns the id of the document that a row of Cognee is named after; false: it is not one of ours.
func documentOf(row string) (string, bool) {
	name := strings.TrimSuffix(row, ".md")
	id, err := uuid.Parse(name)
	return name, err == nil && id.String() == name
}
