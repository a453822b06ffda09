package config

// Row is a setting with its current value.
type Row struct {
	Name   string `json:"name"`
	Value  string `json:"value"`  // "[redacted]" for a secret that is set; empty: unset
	Origin string `json:"origin"` // a flag, "credential", NAME_FILE, an environment file, "environment" or "default"
}

// Effective lists the settings that were read, in the order of Settings.
func (c Config) Effective() []Row {
	var rows []Row
	for _, s := range Settings() {
		r, read := c.values[s.Name]
		if !read {
			continue
		}
		value := r.text
		if s.Secret && value != "" {
			value = redacted
		}
		rows = append(rows, Row{s.Name, value, r.origin})
	}
	return rows
}

// Warnings are settings that look wrong but do no harm. Load returns them even with an error.
func (c Config) Warnings() []Problem { return c.warnings }

// Default returns the default settings, for tests and for commands that need no service. They connect to nothing.
func Default() Config {
	cfg, _ := Load(Sources{}, 0)
	return cfg
}

// Given reports whether the setting was read and is not the default.
func (c Config) Given(name string) bool { return c.values[name].given }
