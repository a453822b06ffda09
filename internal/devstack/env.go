package devstack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// settings are the environment of the worker and of the user's commands.
type settings map[string]string

// environ is "NAME=value" for each, sorted by name.
func (s settings) environ() []string {
	lines := make([]string, 0, len(s))
	for name, value := range s {
		lines = append(lines, name+"="+value)
	}
	slices.Sort(lines)
	return lines
}

// dimensions is EMBEDDING_DIMENSIONS; zero: the default.
func (s settings) dimensions() (int, error) {
	text := s["EMBEDDING_DIMENSIONS"]
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("EMBEDDING_DIMENSIONS is %q, not a number", text)
	}
	return n, nil
}

// passedOn are the variables that the stack passes on: for the models and for logging.
var passedOn = []string{
	"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_EMBEDDING_MODEL", "OPENAI_CHAT_MODEL", "OPENAI_CHAT_CONTEXT",
	"MAX_TASK_TOKENS",
	"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_VERSION",
	"EMBEDDING_DIMENSIONS", "LLM_PROVIDER", "OPENAI_CHAT_CONTEXT", "MAX_TASK_TOKENS", "SUMMARIZE_CONCURRENCY",
	"CONTEXT_MODE", "CONTEXT_MODEL", "CONTEXT_MAX_TOKENS",
	"STEP_TIMEOUT_SEC", "WORKER_CONCURRENCY", "LOG_LEVEL",
}

// modelSettings selects the models' settings: the offline provider unless there is a key or the address of a server.
func modelSettings(environ []string) settings {
	s := settings{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if value != "" && slices.Contains(passedOn, name) {
			s[name] = value
		}
	}
	switch {
	case s["OPENAI_API_KEY"] != "" || s["AZURE_OPENAI_API_KEY"] != "":
	case s["OPENAI_BASE_URL"] != "" && s["LLM_PROVIDER"] != "offline":
		s["OPENAI_API_KEY"] = "none" // such servers rarely need a key
	default:
		s["LLM_PROVIDER"] = "offline"
	}
	return s
}

func (h *home) envPath() string { return filepath.Join(h.dir, "env") }

// writeEnv writes the settings for `set -a; . .dev/env; set +a`, readable only by their owner.
func (h *home) writeEnv(s, extras settings) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The running local stack, for: set -a; . %s; set +a\n", h.rel(h.envPath()))
	for _, part := range []settings{s, extras} {
		for _, line := range part.environ() {
			name, value, _ := strings.Cut(line, "=")
			fmt.Fprintf(&b, "%s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
		}
	}
	h.removeEnv() // an older one may have other permissions
	if err := os.WriteFile(h.envPath(), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write the settings of the local stack: %w", err)
	}
	return nil
}

// removeEnv removes the settings, which are useless when the stack is down.
func (h *home) removeEnv() { _ = os.Remove(h.envPath()) }
