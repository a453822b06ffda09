package task

import (
	"encoding/json"
	"regexp"
	"strings"
)

// W3C Trace Context, level 1, section 3.2: version, trace id, parent id, flags. Versions above 00 may continue after a
// hyphen.
var traceParent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// validTraceParent returns s, or "" if it is malformed: the standard demands that such a header is ignored, not
// rejected.
func validTraceParent(s string) string {
	m := traceParent.FindStringSubmatch(s)
	if m == nil || m[1] == "ff" || strings.Trim(m[2], "0") == "" || strings.Trim(m[3], "0") == "" {
		return ""
	}
	if m[1] == "00" && m[4] != "" {
		return ""
	}
	return s
}

// traceParent reads the field; a malformed one counts as ignored.
func (d *decoder) traceParent() string {
	raw, there := d.take("traceparent")
	if !there {
		return ""
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		s = ""
	}
	valid := validTraceParent(s)
	if valid == "" && s != "" {
		d.ignored = append(d.ignored, "traceparent")
	}
	return valid
}
