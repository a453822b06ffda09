package config

// The values of CONTEXT_MODE.
const (
	ContextOff   = "off"
	ContextModel = "model"
)

// Contexts is how chunks get a sentence that says where in their document they belong.
type Contexts struct {
	Mode      string // CONTEXT_MODE: ContextOff (default) or ContextModel
	Model     string // CONTEXT_MODEL; empty: OpenAI.ChatModel
	MaxTokens int    // CONTEXT_MAX_TOKENS, of the questions and answers about one document, 1000-1000000000; default 300000
}

// checkContexts demands a model if one is to write contexts.
func (l *loader) checkContexts() {
	if !l.fine("CONTEXT_MODE", "LLM_PROVIDER") || l.cfg.Contexts.Mode != ContextModel {
		return
	}
	if l.cfg.LLMProvider == ProviderOffline {
		l.problem("CONTEXT_MODE", "it is model, and LLM_PROVIDER is offline: there is no model to ask",
			"unset CONTEXT_MODE, or set LLM_PROVIDER=openai and its key")
	}
}
