package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Sources is where settings come from, the strongest first: flags, systemd credentials, files named by NAME_FILE,
// variables. An empty value counts as unset, except in a credential or file.
type Sources struct {
	Flags    map[string]string            // by the setting's name; only those on the command line
	Environ  []string                     // "NAME=value", as os.Environ has it
	Files    map[string]string            // the environment file that a variable of Environ stands in, if it is known
	ReadFile func(string) ([]byte, error) // for NAME_FILE and for $CREDENTIALS_DIRECTORY/NAME or …/tenant_NAME
	List     func(dir string) []string    // the names of the files in $CREDENTIALS_DIRECTORY; nil: they are not looked at
	Hidden   func(path string) string     // why the worker can't read a file that ReadFile can; nil: it can read all of them

	// Shows reports whether the operator has changed which folders the unit of a tenant hides; nil: it hides the usual ones.
	Shows func(client string) bool

	keep map[string]resolved // overrides all sources, for settings that are not live
}

// resolved is a setting's text and where it came from.
type resolved struct {
	text   string
	origin string // in messages: "--client-id", "credential", "CLIENT_ID_FILE", a file, "environment", "default"
	given  bool   // not the default
}

// Find returns the text of a setting and where it was found; empty: it is not set. Like Load's, its error is an *Errors.
func (src Sources) Find(name string) (text Secret, origin string, err error) {
	l := loader{env: environment(src.Environ), src: src}
	i := slices.IndexFunc(Settings(), func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Secret{}, "", fmt.Errorf("%s is not a setting", name)
	}
	found, f := l.find(Settings()[i])
	if f != nil {
		return Secret{}, "", &Errors{Problems: []Problem{{name, f.problem, f.remedy}}}
	}
	if !found.given {
		return Secret{}, "", nil
	}
	return NewSecret(found.text), found.origin, nil
}

// Load reads the settings of the groups. The error is an *Errors with everything that is wrong.
func Load(src Sources, groups Group) (Config, error) {
	l := loader{env: environment(src.Environ), src: src, broken: map[string]bool{}}
	l.cfg.values = map[string]resolved{}
	for _, s := range Settings() {
		if s.Groups&groups == 0 {
			if s.Default != "" {
				_ = s.parse(&l.cfg, s.Default)
			}
			continue
		}
		l.read(s)
		if s.Groups&Queue != 0 && l.cfg.QueueInDatabase() { // QUEUE_BACKEND comes before the database's settings
			groups |= Store
		}
	}
	l.derive()
	l.check(groups)
	l.checkOpenFiles()
	l.checkNames()
	if len(l.problems) > 0 {
		return Config{warnings: l.cfg.warnings}, &Errors{Problems: l.inOrder()}
	}
	return l.cfg, nil
}

type loader struct {
	src      Sources
	env      map[string]string
	cfg      Config
	problems []Problem
	broken   map[string]bool // settings that have a problem of their own
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return env
}

// read finds the setting's value and parses it.
func (l *loader) read(s Setting) {
	found, f := l.find(s)
	if kept, ok := l.src.keep[s.Name]; ok && !s.Live {
		found, f = kept, nil
	}
	if f == nil && found.text != "" {
		f = s.parse(&l.cfg, found.text)
	}
	l.cfg.values[s.Name] = found
	if f != nil {
		l.problem(s.Name, f.problem+whence(found), f.remedy)
	}
}

// whence returns where a wrong value was found, unless that is obvious.
func whence(r resolved) string {
	if !r.given || r.origin == fromEnvironment {
		return ""
	}
	return fmt.Sprintf(" (from %s)", r.origin)
}

const (
	fromEnvironment = "environment"
	fromCredential  = "credential"
	fromDefault     = "default"
)

// credentialPrefix is the prefix of credentials that the unit loads as a folder
// (LoadCredential=tenant:/etc/async-worker/credentials/…): systemd names each ID_FILE.
const credentialPrefix = "tenant_"

func (l *loader) find(s Setting) (resolved, *fault) {
	below, f := l.findBelowFlags(s)
	text, given := l.src.Flags[s.Name]
	text = strings.TrimSpace(text)
	if !given {
		return below, f
	}
	if text == "" {
		return resolved{}, &fault{"--" + s.Flag() + " was given without a value", "give it one, or leave it out"}
	}
	// The unit gives the instance's name by flag; an env file must not turn it into another tenant's worker (I10).
	if s.Name == "CLIENT_ID" && below.given && below.text != text {
		return resolved{}, &fault{
			fmt.Sprintf("--client-id is %s, but %s is %s", quoted(text), below.origin, quoted(below.text)),
			"make them agree, or leave CLIENT_ID out of the environment file: the instance's name decides",
		}
	}
	return resolved{text, "--" + s.Flag(), true}, nil
}

func (l *loader) findBelowFlags(s Setting) (resolved, *fault) {
	if dir := l.env["CREDENTIALS_DIRECTORY"]; dir != "" {
		for _, name := range []string{s.Name, credentialPrefix + s.Name} {
			b, err := l.src.ReadFile(filepath.Join(dir, name))
			if !errors.Is(err, fs.ErrNotExist) {
				return fromFile(b, err, fromCredential)
			}
		}
	}
	if path := strings.TrimSpace(l.env[s.Name+"_FILE"]); path != "" {
		b, err := l.src.ReadFile(path)
		if err == nil && l.src.Hidden != nil {
			l.warnHidden(s, path)
		}
		return fromFile(b, err, s.Name+"_FILE")
	}
	if text := strings.TrimSpace(l.env[s.Name]); text != "" {
		return resolved{text, cmp.Or(l.src.Files[s.Name], fromEnvironment), true}, nil
	}
	return resolved{s.Default, fromDefault, false}, nil
}

// warnHidden warns of a file that the worker can't read. A group or a rule for access may let it, so it is no problem.
func (l *loader) warnHidden(s Setting, path string) {
	why := l.src.Hidden(path)
	if why == "" {
		return
	}
	remedy := "let everybody read it, in a folder such as /etc/ssl"
	if s.Secret {
		remedy = "give its content as a credential: async-worker tenant add TENANT --force --secret-file " + s.Name + "=PATH"
	}
	l.warn(s.Name+"_FILE", "the worker's user can't read the file, unless an ACL or SupplementaryGroups= lets it: "+why, remedy)
}

// fromFile rejects what can't be read: falling through to a weaker source would hide the mistake.
func fromFile(b []byte, err error, origin string) (resolved, *fault) {
	found := resolved{strings.TrimSpace(string(b)), origin, true}
	switch {
	case err != nil:
		reason := "can't be read"
		if errors.Is(err, fs.ErrNotExist) {
			reason = "does not exist"
		} else if errors.Is(err, fs.ErrPermission) {
			reason = "may not be read by this user"
		}
		return resolved{origin: origin, given: true}, &fault{
			"the file that " + origin + " names " + reason, "fix the path or its permissions, or leave " + origin +
				" out",
		}
	case found.text == "":
		return found, &fault{"the file is empty", "write the value into it, or remove it"}
	}
	return found, nil
}

func (l *loader) problem(name, problem, remedy string) {
	l.broken[name] = true
	l.problems = append(l.problems, Problem{name, problem, remedy})
}

// given reports whether the setting was set, correctly or not.
func (l *loader) given(name string) bool { return l.cfg.values[name].given }

// fine reports whether the settings' values, set or default, are valid.
func (l *loader) fine(names ...string) bool {
	for _, name := range names {
		if l.broken[name] {
			return false
		}
	}
	return true
}

// derive computes defaults that depend on other settings.
func (l *loader) derive() {
	c := &l.cfg
	if c.Azure.Container == "" && l.fine("AZURE_STORAGE_CONTAINER") {
		c.Azure.Container = c.ClientID + "-documents"
		if _, read := c.values["AZURE_STORAGE_CONTAINER"]; read {
			c.values["AZURE_STORAGE_CONTAINER"] = resolved{c.Azure.Container, fromDefault, false}
		}
	}
	if c.BlobBackend == BlobDir {
		l.signNothing()
	}
	if c.Extractor == "" && l.fine("EXTRACTOR") {
		c.Extractor = ExtractorNative
		if c.Docling.URL != "" {
			c.Extractor = ExtractorDocling
		}
		if _, read := c.values["EXTRACTOR"]; read {
			c.values["EXTRACTOR"] = resolved{c.Extractor, fromDefault, false}
		}
	}
	c.RuntimeDir = firstPath(l.env["RUNTIME_DIRECTORY"])
	c.CacheDir = firstPath(l.env["CACHE_DIRECTORY"])
}

// firstPath returns the first of systemd's colon-separated folders.
func firstPath(list string) string {
	first, _, _ := strings.Cut(list, ":")
	return first
}

// inOrder sorts the problems in the order of Settings.
func (l *loader) inOrder() []Problem {
	var out []Problem
	for _, s := range Settings() {
		for _, p := range l.problems {
			if p.Name == s.Name {
				out = append(out, p)
			}
		}
	}
	return out
}
