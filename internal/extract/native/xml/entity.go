package xml

import (
	"encoding/xml"
	htmlnames "html"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var errEntities = taskerr.Errorf(taskerr.CorruptionDetected,
	"the XML document uses entities that expand without end or name other files: it is not read")

// maxEntity is the longest text that a name of a document may stand for, in bytes.
const maxEntity = 1000

var (
	entity    = pattern.New(`(?s)<!ENTITY\s+([^\s%"']+)\s+(?:"([^"]*)"|'([^']*)'|([^>]*))`)
	reference = pattern.New(`&[^#]|[<%]`)
)

// declare notes the entities that a document declares. One that stands for a short text is used; another, which has
// others in it or names another file, ends the document where it is used. Names of pictures (NDATA), which no text can
// use, and those of the DTD itself (%) are ignored: nothing is read for them.
func declare(d *ooxml.Decoder, directive xml.Directive) error {
	for _, m := range entity.FindAllStringSubmatch("<!"+string(directive), -1) {
		var err error
		switch name, text, other := m[1], m[2]+m[3], m[4]; {
		case other == "" && len(text) <= maxEntity && !reference.MatchString(text):
			err = d.Define(name, htmlnames.UnescapeString(text), errEntities)
		case !strings.Contains(other, "NDATA"):
			err = d.Refuse(name, errEntities)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
