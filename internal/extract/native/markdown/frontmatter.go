package markdown

import (
	"bytes"
	"strings"
)

const (
	maxFrontMatter = 64 << 10 // bytes
	maxProperty    = 1 << 10  // bytes
)

// frontMatter splits the front matter off the start of a file: YAML between --- or TOML between +++. It reads
// only plain "key: value" lines and ignores the others.
func frontMatter(source []byte) ([]byte, map[string]string) {
	for _, form := range []struct{ fence, separator string }{{"---", ":"}, {"+++", "="}} {
		opening, rest, found := bytes.Cut(source, []byte("\n"))
		if !found || strings.TrimRight(string(opening), " \t\r") != form.fence {
			continue
		}
		matter, body, found := cutFence(rest, form.fence)
		if properties := keys(matter, form.separator); found && len(properties) > 0 {
			return body, properties
		}
	}
	return source, nil
}

func cutFence(source []byte, fence string) (matter, body []byte, found bool) {
	for at := 0; at < len(source) && at < maxFrontMatter; {
		line, _, _ := bytes.Cut(source[at:], []byte("\n"))
		end := min(at+len(line)+1, len(source))
		if trimmed := strings.TrimRight(string(line), " \t\r"); trimmed == fence || fence == "---" && trimmed == "..." {
			return source[:at], source[end:], true
		}
		at = end
	}
	return nil, nil, false
}

func keys(matter []byte, separator string) map[string]string {
	properties := map[string]string{}
	for line := range strings.Lines(string(matter)) {
		key, value, found := strings.Cut(line, separator)
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || key == "" || strings.ContainsAny(key, " \t#\"'") || line[0] == ' ' || line[0] == '\t' {
			continue
		}
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		properties[strings.ToLower(key)] = value[:min(len(value), maxProperty)]
	}
	return properties
}
