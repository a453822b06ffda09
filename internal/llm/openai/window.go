package openai

import "strings"

// DefaultWindow is the context of an unknown model.
const DefaultWindow = 128_000

// windows are the contexts of OpenAI's chat models in tokens, question and answer together, by prefixes of their names;
// the longest prefix counts. Source: platform.openai.com/docs/models.
var windows = map[string]int{
	"gpt-3.5-turbo":          16_385,
	"gpt-3.5-turbo-instruct": 4_096,
	"gpt-35-turbo":           16_385, // as Azure writes it
	"gpt-4":                  8_192,
	"gpt-4-32k":              32_768,
	"gpt-4-turbo":            128_000,
	"gpt-4-1106":             128_000,
	"gpt-4-0125":             128_000,
	"gpt-4-vision":           128_000,
	"gpt-4o":                 128_000,
	"gpt-4.1":                1_047_576,
	"gpt-4.5":                128_000,
	"gpt-5":                  400_000,
	"gpt-5-chat":             128_000,
	"gpt-5.1-chat":           128_000,
	"gpt-5.2-chat":           128_000,
	"gpt-5.3-chat":           128_000,
	"gpt-oss":                131_072,
	"chatgpt-4o":             128_000,
	"o1":                     200_000,
	"o1-mini":                128_000,
	"o1-preview":             128_000,
	"o3":                     200_000,
	"o4-mini":                200_000,
}

// Window returns the context of a chat model in tokens, question and answer together: of OpenAI's models by their
// names, which also the names of deployments on Azure may begin with; of others DefaultWindow.
func Window(model string) int {
	model = strings.TrimPrefix(strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]), "ft:")
	best, window := -1, DefaultWindow
	for prefix, w := range windows {
		if len(prefix) > best && strings.HasPrefix(model, prefix) {
			best, window = len(prefix), w
		}
	}
	return window
}
