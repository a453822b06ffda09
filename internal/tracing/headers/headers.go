// Package headers reads OTEL_EXPORTER_OTLP_HEADERS, for the settings and for the client of the collector
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables).
package headers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Parse reads "name=value,…" with percent-encoded values. It leaves out headers that no request can carry, and unusable
// says why: older versions took them, and then sent no span. Neither it nor errors quote the text: it may hold a key.
func Parse(text string) (all http.Header, unusable []string, err error) {
	all = http.Header{}
	n := 0
	for pair := range strings.SplitSeq(text, ",") {
		n++
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		switch name = strings.TrimSpace(name); {
		case !found:
			return nil, nil, fmt.Errorf("number %d of its headers is not name=value", n)
		case name == "":
			return nil, nil, fmt.Errorf("number %d of its headers has no name", n)
		case err != nil:
			return nil, nil, fmt.Errorf("number %d of its headers has a value with a %% that is not of a percent-encoded byte", n)
		case !httpguts.ValidHeaderFieldName(name):
			unusable = append(unusable, fmt.Sprintf("number %d of its headers has a name that no header can have", n))
		case !httpguts.ValidHeaderFieldValue(plain):
			unusable = append(unusable, fmt.Sprintf("number %d of its headers has a value with control characters", n))
		default:
			all.Set(name, plain)
		}
	}
	return all, unusable, nil
}
