package tenants

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// envFile is an environment file in the syntax of EnvironmentFile= (systemd.exec(5)), line by line, to keep the
// comments in place. Continuation lines are not supported.
type envFile struct {
	lines []envLine
}

type envLine struct {
	text        string // as in the file; an assignment is written from name and value
	name, value string // empty name: a comment or an empty line
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseEnv reads an environment file, in the syntax of EnvironmentFile= (systemd.exec(5)), into values by variable.
// Its errors name the line and never show a value.
func ParseEnv(text string) (map[string]string, error) {
	f, err := parseEnv(text)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range f.names() {
		out[name], _ = f.get(name)
	}
	return out, nil
}

// parseEnv reads a file. Its errors name the line and never show a value.
func parseEnv(text string) (*envFile, error) {
	f := &envFile{}
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return f, nil
	}
	for n, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';' {
			f.lines = append(f.lines, envLine{text: line})
			continue
		}
		name, raw, ok := strings.Cut(trimmed, "=")
		name = strings.TrimSpace(name)
		if !ok || !variable.MatchString(name) {
			return nil, fmt.Errorf("line %d is not NAME=value; make it so, or a comment with # in front", n+1)
		}
		value, err := unquote(strings.TrimSpace(raw))
		if err != nil {
			return nil, fmt.Errorf("line %d, %s: %w", n+1, name, err)
		}
		f.lines = append(f.lines, envLine{line, name, value})
	}
	return f, nil
}

// unquote reads a value: plain, in single quotes, or in double quotes with backslash escapes.
func unquote(raw string) (string, error) {
	if raw == "" {
		return "", nil
	}
	quote := raw[0]
	if quote != '"' && quote != '\'' {
		if strings.ContainsAny(raw, "\\\"'") {
			return "", fmt.Errorf("a value with quotes or backslashes must be quoted as a whole, on one line")
		}
		return raw, nil
	}
	var b strings.Builder
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == quote && i == len(raw)-1:
			return b.String(), nil
		case c == quote:
			return "", fmt.Errorf("text follows the closing quote; remove it, or quote it too")
		case c == '\\' && quote == '"' && i+1 < len(raw) && strings.IndexByte("\"\\`$", raw[i+1]) >= 0:
			i++
			b.WriteByte(raw[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("the closing quote is missing; add it at the end of the line")
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]*$`)

// quote writes a value so that both systemd and a shell can read it.
func quote(value string) string {
	if plain.MatchString(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(value) + `"`
}

// get returns a variable's effective value, that of its last line.
func (f *envFile) get(name string) (string, bool) {
	for _, l := range slices.Backward(f.lines) {
		if l.name == name {
			return l.value, true
		}
	}
	return "", false
}

// set sets a variable in its line, or at the end.
func (f *envFile) set(name, value string) {
	line := envLine{name + "=" + quote(value), name, value}
	for i, l := range slices.Backward(f.lines) {
		if l.name == name {
			f.lines[i] = line
			return
		}
	}
	f.lines = append(f.lines, line)
}

// remove removes every line of a variable.
func (f *envFile) remove(name string) {
	f.lines = slices.DeleteFunc(f.lines, func(l envLine) bool { return l.name == name })
}

// names lists the variables, sorted.
func (f *envFile) names() []string {
	names := []string{}
	for _, l := range f.lines {
		if l.name != "" && !slices.Contains(names, l.name) {
			names = append(names, l.name)
		}
	}
	slices.Sort(names)
	return names
}

// environ returns the file's variables as a process would see them.
func (f *envFile) environ() []string {
	var out []string
	for _, name := range f.names() {
		value, _ := f.get(name)
		out = append(out, name+"="+value)
	}
	return out
}

func (f *envFile) String() string {
	var b strings.Builder
	for _, l := range f.lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}
