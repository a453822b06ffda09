package config

func models() []Setting {
	return []Setting{
		{
			Name: "LLM_PROVIDER", Default: ProviderOpenAI, Groups: Models, Live: true,
			Help:   "openai, or offline: no network, lexical hashing embeddings, extractive summaries",
			choice: func(c *Config) *string { return &c.LLMProvider },
			Values: []string{ProviderOpenAI, ProviderOffline},
		},
		{
			Name: "OPENAI_API_KEY", Secret: true, Groups: Models, Live: true,
			Help:  "the key for OPENAI_BASE_URL",
			parse: headerSecret(func(c *Config) *Secret { return &c.OpenAI.APIKey }),
		},
		{
			Name: "OPENAI_BASE_URL", Default: openAIService, Groups: Models, Live: true,
			Help:  "any service with OpenAI's API",
			parse: address(func(c *Config) *string { return &c.OpenAI.BaseURL }, openAIService),
		},
		{
			Name: "OPENAI_EMBEDDING_MODEL", Default: "text-embedding-3-small", Groups: Models, Live: true,
			Help: "the model for embeddings; on Azure OpenAI the deployment's name",
			parse: pattern(func(c *Config) *string { return &c.OpenAI.EmbeddingModel }, modelPattern,
				"use the model's or deployment's name alone"),
		},
		{
			Name: "OPENAI_CHAT_MODEL", Default: "gpt-4o-mini", Groups: Models | Extract, Live: true,
			Help: "the model for chat; on Azure OpenAI the deployment's name",
			parse: pattern(func(c *Config) *string { return &c.OpenAI.ChatModel }, modelPattern,
				"use the model's or deployment's name alone"),
		},
		{
			Name: "OPENAI_CHAT_CONTEXT", Default: "0", Unit: "tokens", Groups: Models | Extract, Live: true,
			Help: "the size of the context of OPENAI_CHAT_MODEL, question and answer together, 2048 to 10000000; " +
				"0: that of OpenAI's model of that name, else 128000",
			parse: zeroOr(func(c *Config) *int { return &c.OpenAI.ChatContext }, 2048, 10_000_000),
		},
		{
			Name: "MAX_TASK_TOKENS", Default: "500000", Unit: "tokens", Groups: Models, Live: true,
			Help: "the most tokens of the chat model that one task may use, questions and answers together, 1000 " +
				"to 1000000000; for the reading of pages there is OCR_MAX_TOKENS",
			parse: integer(func(c *Config) *int { return &c.MaxTaskTokens }, 1000, 1_000_000_000),
		},
		{
			Name: "SUMMARIZE_CONCURRENCY", Default: "4", Unit: "calls", Groups: Models, Live: true,
			Help:  "how many chat requests one summary of a long document makes at a time, 1 to 64",
			parse: integer(func(c *Config) *int { return &c.SummarizeConcurrency }, 1, 64),
		},
		{
			Name: "CONTEXT_MODE", Default: ContextOff, Groups: Models | Extract, Live: true,
			Help: "off, or model: at ingest a model writes a sentence for each new chunk that says where in its document it " +
				"belongs; search uses it and never shows it (docs/documents.md). That takes about 1.5 tokens for each token of " +
				"a new document, and nothing for what was ingested before",
			choice: func(c *Config) *string { return &c.Contexts.Mode },
			Values: []string{ContextOff, ContextModel},
		},
		{
			Name: "CONTEXT_MODEL", Shown: "OPENAI_CHAT_MODEL", Groups: Models | Extract, Live: true,
			Help: "the model for CONTEXT_MODE=model, at the same service; a small one will do; on Azure OpenAI the " +
				"deployment's name",
			parse: pattern(func(c *Config) *string { return &c.Contexts.Model }, modelPattern,
				"use the model's or deployment's name alone"),
		},
		{
			Name: "CONTEXT_MAX_TOKENS", Default: "300000", Unit: "tokens", Groups: Models | Extract, Live: true,
			Help: "the most tokens that the contexts of one document may take, questions and answers together, 1000 to " +
				"1000000000; a document that may take more is ingested without new ones, with a warning",
			parse: integer(func(c *Config) *int { return &c.Contexts.MaxTokens }, 1000, 1_000_000_000),
		},
		{
			Name: "MODEL_CONCURRENCY", Default: "8", Unit: "requests", Groups: Models, Live: true,
			Help: "how many requests to one account of a model service are in flight at a time, 2 to 256; a " +
				"quarter is reserved for chat, and a quarter for embeddings",
			parse: integer(func(c *Config) *int { return &c.ModelConcurrency }, 2, 256),
		},
		{
			Name: "AZURE_OPENAI_ENDPOINT", Groups: Models, Live: true,
			Help: "an Azure OpenAI resource, used instead of OPENAI_* when set",
			parse: address(func(c *Config) *string { return &c.AzureOpenAI.Endpoint },
				"https://RESOURCE.openai.azure.com"),
		},
		{
			Name: "AZURE_OPENAI_API_KEY", Secret: true, Groups: Models, Live: true,
			Help:  "the key for AZURE_OPENAI_ENDPOINT",
			parse: headerSecret(func(c *Config) *Secret { return &c.AzureOpenAI.APIKey }),
		},
		{
			Name: "AZURE_OPENAI_API_VERSION", Default: "2024-10-21", Groups: Models, Live: true,
			Help: "the version of Azure OpenAI's API",
			parse: pattern(func(c *Config) *string { return &c.AzureOpenAI.APIVersion }, versionPattern,
				"use a version such as 2024-10-21 or 2024-12-01-preview"),
		},
		{
			Name: "RERANK_URL", Groups: Models,
			Help: "the whole address of a service that rates what a search finds, with the API of Cohere, Voyage or " +
				"text-embeddings-inference; the question and up to 40 passages are sent to it",
			parse: address(func(c *Config) *string { return &c.Rerank.URL }, "https://api.cohere.com/v2/rerank"),
		},
		{
			Name: "RERANK_MODEL", Groups: Models,
			Help:  "the model at RERANK_URL; unset for text-embeddings-inference, which has one",
			parse: pattern(func(c *Config) *string { return &c.Rerank.Model }, modelPattern, "use the model's name alone"),
		},
		{
			Name: "RERANK_API_KEY", Secret: true, Groups: Models,
			Help:  "the key for RERANK_URL, if it needs one",
			parse: headerSecret(func(c *Config) *Secret { return &c.Rerank.APIKey }),
		},
		{
			Name: "EMBEDDING_DIMENSIONS", Default: "1536", Groups: Models | Store | Schema,
			Help:  "the length of the embedding vectors, 1 to 4000; the schema is made for it",
			parse: integer(func(c *Config) *int { return &c.EmbeddingDimensions }, 1, 4000),
		},
	}
}
