package task

import (
	"encoding/json"
	"regexp"
	"strings"
)

// W3C Trace Context, level 1, section 3.2: version, trace id, parent id, flags. Versions above 00 may continue after a
// hyphen. Its parts are of 2, 32, 16 and 2 digits.
var traceParent = regexp.MustCompile(`^([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)(-.*)?$`)

// validTraceParent returns s, or "" if it is malformed: the standard demands that such a header is ignored, not
// rejected.
func validTraceParent(s string) string {
	m := traceParent.FindStringSubmatch(s)
	if m == nil || len(m[1]) != 2 || len(m[2]) != 32 || len(m[3]) != 16 || len(m[4]) != 2 {
		return ""
	}
	if m[1] == "ff" || strings.Trim(m[2], "0") == "" || strings.Trim(m[3], "0") == "" {
		return ""
	}
	if m[1] == "00" && m[5] != "" {
		return ""
	}
	return s
}

// traceParent reads the field; a malformed one counts as unknown.
func (f *fields) traceParent() string {
	raw, there := f.take("traceparent")
	if !there {
		return ""
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		s = ""
	}
	valid := validTraceParent(s)
	if valid == "" && string(raw) != `""` {
		f.members["traceparent"] = raw // for Ignored
	}
	return valid
}
