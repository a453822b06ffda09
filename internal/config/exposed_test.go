package config_test

import (
	"strings"
	"testing"
)

// Load warns of networks for webhooks that include every address or a metadata service, and of a model service that
// is called without encryption over the network.
func TestExposed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ env, name, says string }{
		{"WEBHOOK_ALLOW_CIDRS=0.0.0.0/0", "WEBHOOK_ALLOW_CIDRS", "every address"},
		{"SOURCE_ALLOW_CIDRS=0.0.0.0/0", "SOURCE_ALLOW_CIDRS", "a source_uri may call"},
		{"SOURCE_ALLOW_CIDRS=169.254.0.0/16", "SOURCE_ALLOW_CIDRS", "169.254.169.254"},
		{"SOURCE_ALLOW_CIDRS=10.0.0.0/8", "", ""},
		{"WEBHOOK_ALLOW_CIDRS=10.0.0.0/8,::/0", "WEBHOOK_ALLOW_CIDRS", "every address"},
		{"WEBHOOK_ALLOW_CIDRS=169.254.0.0/16", "WEBHOOK_ALLOW_CIDRS", "169.254.169.254"},
		{"WEBHOOK_ALLOW_CIDRS=169.254.169.254", "WEBHOOK_ALLOW_CIDRS", "169.254.169.254"},
		{"WEBHOOK_ALLOW_CIDRS=fd00::/8", "WEBHOOK_ALLOW_CIDRS", "fd00:ec2::254, fd20:ce::254"},
		{"WEBHOOK_ALLOW_CIDRS=128.0.0.0/1", "WEBHOOK_ALLOW_CIDRS", "169.254.169.254, 168.63.129.16"},
		{"WEBHOOK_ALLOW_CIDRS=100.64.0.0/10", "WEBHOOK_ALLOW_CIDRS", "100.100.100.200"},
		{"WEBHOOK_ALLOW_CIDRS=10.0.0.0/8, 192.168.0.0/16 fd12::/16,127.0.0.0/8", "", ""},
		{
			"LLM_PROVIDER=openai|OPENAI_API_KEY=k|OPENAI_BASE_URL=http://10.0.0.5:8000/v1", "OPENAI_BASE_URL",
			"unencrypted",
		},
		{
			"LLM_PROVIDER=openai|OPENAI_API_KEY=k|OPENAI_BASE_URL=http://model.example/v1", "OPENAI_BASE_URL",
			"unencrypted",
		},
		{"LLM_PROVIDER=openai|OPENAI_API_KEY=k|OPENAI_BASE_URL=http://127.0.0.1:8000/v1", "", ""},
		{"LLM_PROVIDER=openai|OPENAI_API_KEY=k|OPENAI_BASE_URL=http://localhost:8000/v1", "", ""},
		{"LLM_PROVIDER=openai|OPENAI_API_KEY=k|OPENAI_BASE_URL=https://model.example/v1", "", ""},
		{"OPENAI_API_KEY=k|OPENAI_BASE_URL=http://model.example/v1", "", ""}, // OpenAI is not used
	} {
		cfg, problems := load(t, minimal(strings.Split(c.env, "|")...), nil, nil)
		var warned []string
		for _, w := range cfg.Warnings() {
			warned = append(warned, w.Name+": "+w.Problem)
		}
		got := strings.Join(warned, "; ")
		if len(problems) > 0 || (c.name == "") != (got == "") || !strings.HasPrefix(got, c.name) ||
			!strings.Contains(got, c.says) {
			t.Errorf("%s: %v, warned of %q, want %s with %q", c.env, problems, got, c.name, c.says)
		}
	}
}
