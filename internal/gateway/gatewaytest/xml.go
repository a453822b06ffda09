package gatewaytest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
)

// value writes the next value as an element with a name; the outermost, which has none, writes its members alone. An
// array is its elements with the array's name, one after the other.
func (x *xmlWriter) value(d *json.Decoder, name string, depth int) {
	token, err := d.Token()
	if err != nil {
		return // it was checked
	}
	switch token {
	case json.Delim('['):
		for d.More() {
			x.value(d, name, depth)
		}
		_, _ = d.Token()
		return
	case json.Delim('{'):
		x.open(name, depth)
		inner := depth
		if name != "" {
			inner++
		}
		for d.More() {
			key, _ := d.Token()
			x.value(d, fmt.Sprint(key), inner)
		}
		_, _ = d.Token()
		if name != "" {
			x.line(depth)
			x.WriteString("</" + name + ">")
		}
		return
	}
	x.open(name, depth)
	_ = xml.EscapeText(x, fmt.Append(nil, token)) // a buffer does not fail
	x.WriteString("</" + name + ">")
}

func (x *xmlWriter) open(name string, depth int) {
	if name != "" {
		x.line(depth)
		x.WriteString("<" + name + ">")
	}
}
