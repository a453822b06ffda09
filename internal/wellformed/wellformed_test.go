package wellformed_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-7227ef26/async-worker/internal/wellformed"
)

// endless is a text of n equal bytes that takes no memory.
type endless struct {
	n int64
	b byte
}

func (e *endless) Read(b []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), e.n)]
	for i := range b {
		b[i] = e.b
	}
	e.n -= int64(len(b))
	return len(b), nil
}

func TestXML(t *testing.T) {
	t.Parallel()
	const secret = "Mustermann"
	for text, want := range map[string]string{
		`<a/>`: "", `<?xml version="1.0"?><!-- x --><a b="1"><c>&amp;é</c></a>` + "\n": "", "\ufeff<a/>": "",
		"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>": "",
		"": "empty", " \n": "empty", "Mustermann": "outside", "<!-- Mustermann -->": "no root",
		"<a>Mustermann": "in the middle", "<a></b>": "not well-formed", "<a/><b/>": "more than one root",
		"<a/>Mustermann": "outside", `<!DOCTYPE a [<!ENTITY x "Mustermann">]><a>&x;</a>`: "DOCTYPE",
		"<a>&Mustermann;</a>": "entity", strings.Repeat("<a>", 20) + strings.Repeat("</a>", 20): "levels deep",
		`<?xml version="1.0" encoding="x-Mustermann"?><a/>`: "encoding", "<a>\xff</a>": "not well-formed",
		"<html><body>Mustermann<br></body></html>": "not well-formed",
	} {
		err := wellformed.XML(iotest.OneByteReader(strings.NewReader(text)), wellformed.Limits{Depth: 10})
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.60q: %v, want %q", text, err, want)
		case err != nil && strings.Contains(err.Error(), secret):
			t.Errorf("%.60q: the error quotes the document: %v", text, err)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "", `{"a":[1,{"b":null}]}` + "\n": "", "": "empty", "[1]": "not a JSON object", `"a"`: "not a JSON object",
		`{"a":1`: "in the middle", `{"a" 1}`: "not JSON", `{}{}`: "more than one", `{"a":` + strings.Repeat("[", 20): "levels deep",
		`{"a":Mustermann}`: "not JSON",
	} {
		err := wellformed.JSON(iotest.OneByteReader(strings.NewReader(text)), wellformed.Limits{Depth: 10})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// TestReadError: a connection that breaks is not a fault of the document.
func TestReadError(t *testing.T) {
	t.Parallel()
	cut := errors.New("cut off")
	for name, check := range map[string]func(io.Reader, wellformed.Limits) error{
		"xml": wellformed.XML, "json": wellformed.JSON,
	} {
		for _, head := range []string{"", `{"a":`, "<a>x", `<?xml version="1.0" encoding="latin1"?><a>x`} {
			r := io.MultiReader(strings.NewReader(head), iotest.ErrReader(cut))
			if err := check(r, wellformed.Limits{}); !errors.Is(err, cut) && (name == "json") == strings.HasPrefix(head, "{") {
				t.Errorf("%s after %q: %v", name, head, err)
			}
		}
	}
}

// TestHugeTokens: a text, comment, tag or string of 1 GB is refused before it is in memory.
func TestHugeTokens(t *testing.T) {
	t.Parallel()
	for head, check := range map[string]func(io.Reader, wellformed.Limits) error{
		"<a>": wellformed.XML, "<a><!--": wellformed.XML, `<a b="`: wellformed.XML, "<a><![CDATA[": wellformed.XML,
		`<?xml version="1.0" encoding="latin1"?><a>`: wellformed.XML, `{"a":"`: wellformed.JSON,
	} {
		tail := &endless{1 << 30, 'x'}
		err := check(io.MultiReader(strings.NewReader(head), tail), wellformed.Limits{Token: 1 << 20})
		if _, ok := errors.AsType[*wellformed.Error](err); !ok || !strings.Contains(err.Error(), "larger than 1 MB") {
			t.Errorf("%s: %v", head, err)
		}
		if read := 1<<30 - tail.n; read > 4<<20 {
			t.Errorf("%s: %d bytes were read", head, read)
		}
	}
}
