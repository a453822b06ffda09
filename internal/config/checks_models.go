package config

import (
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// openAIService is OpenAI's own, the default of OPENAI_BASE_URL.
const openAIService = "https://api.openai.com/v1"

// checkRerank looks at the settings of the re-ranker.
func (l *loader) checkRerank() {
	for _, name := range []string{"RERANK_MODEL", "RERANK_API_KEY"} {
		if l.given(name) && !l.given("RERANK_URL") {
			l.problem("RERANK_URL", "there is a "+name+" but no address",
				"set it to the whole address of the service, e.g. https://api.cohere.com/v2/rerank, or unset "+name)
		}
	}
	if httpurl.Exposed(l.cfg.Rerank.URL) {
		l.warn("RERANK_URL", "passages of documents travel unencrypted over http", "use https, or a trusted network")
	}
}

func (l *loader) checkModels() {
	l.checkContexts()
	if !l.fine("LLM_PROVIDER") || l.cfg.LLMProvider != ProviderOpenAI {
		return
	}
	endpoint, azureKey := l.given("AZURE_OPENAI_ENDPOINT"), l.given("AZURE_OPENAI_API_KEY")
	switch {
	case endpoint && !azureKey:
		l.noAzureKey()
	case azureKey && !endpoint:
		l.problem("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY is set, but there is no endpoint for it",
			"set it to https://RESOURCE.openai.azure.com, or unset AZURE_OPENAI_API_KEY")
	case !endpoint && !l.given("OPENAI_API_KEY"):
		l.problem("OPENAI_API_KEY", "it is not set, and LLM_PROVIDER is openai",
			"set it (any word for a service that needs no key) or AZURE_OPENAI_*, or set LLM_PROVIDER=offline to "+
				"work without a network")
	}
	if endpoint {
		l.checkPlainModel("AZURE_OPENAI_ENDPOINT", l.cfg.AzureOpenAI.Endpoint, azureKey)
	} else {
		l.checkPlainModel("OPENAI_BASE_URL", l.cfg.OpenAI.BaseURL, l.given("OPENAI_API_KEY"))
	}
	l.checkDimensions()
}

func (l *loader) noAzureKey() {
	l.problem("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT is set, but there is no key for it",
		"set it to a key of the resource (Keys and Endpoint)")
}

// checkOCR demands a service, and the key that it needs, if a model reads pages.
func (l *loader) checkOCR() {
	address, key := l.given("OCR_BASE_URL"), l.given("OCR_API_KEY")
	if key && !address {
		l.problem("OCR_BASE_URL", "there is an OCR_API_KEY but no address",
			"set it to the address of the service, with its /v1, or unset OCR_API_KEY")
		return
	}
	if address && key && httpurl.Exposed(l.cfg.OCR.BaseURL) {
		l.warn("OCR_BASE_URL", "pages and the key travel unencrypted over http",
			"use https, unless the network between them is trusted")
	}
	if !l.fine("OCR_ENGINE") || l.cfg.OCREngine != OCROpenAI {
		return
	}
	if l.fine("PII_MODE") && l.cfg.PII.Mode == PIIRedact {
		const problem = "PII_MODE is redact, but images of pages go to the model as they are"
		if !address {
			l.problem("OCR_ENGINE", problem, "set it to tesseract, or OCR_BASE_URL to a server of your own")
			return
		}
		l.warn("OCR_BASE_URL", problem, "use a server of your own, or OCR_ENGINE=tesseract")
	}
	endpoint := l.given("AZURE_OPENAI_ENDPOINT")
	switch {
	case address:
		if l.cfg.OCR.BaseURL == openAIService && !key {
			l.problem("OCR_API_KEY", "OCR_BASE_URL is OpenAI's, which needs a key, and no other setting's key is sent there",
				"set it to a key of OpenAI's, or unset OCR_BASE_URL to use OPENAI_API_KEY")
		}
	case l.cfg.LLMProvider == ProviderOpenAI: // see checkModels
	case endpoint && !l.given("AZURE_OPENAI_API_KEY"):
		l.noAzureKey()
	case !endpoint && !l.given("OPENAI_API_KEY"):
		l.problem("OCR_ENGINE", "openai needs a service, and none is set",
			"set OCR_BASE_URL, or OPENAI_API_KEY, or AZURE_OPENAI_*; or unset OCR_ENGINE")
	}
}

// checkDimensions knows the dimensions of OpenAI's models (platform.openai.com/docs/guides/embeddings).
func (l *loader) checkDimensions() {
	if !l.fine("EMBEDDING_DIMENSIONS", "OPENAI_EMBEDDING_MODEL") {
		return
	}
	model, n := l.cfg.OpenAI.EmbeddingModel, l.cfg.EmbeddingDimensions
	most := map[string]int{
		"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536,
	}[model]
	switch {
	case most != 0 && n > most:
		l.problem("EMBEDDING_DIMENSIONS", fmt.Sprintf("%s gives at most %d, not %d", model, most, n),
			fmt.Sprintf("set it to %d or less, or choose another OPENAI_EMBEDDING_MODEL", most))
	case model == "text-embedding-ada-002" && n != most:
		l.problem("EMBEDDING_DIMENSIONS", fmt.Sprintf("%s gives %d and no other number", model, most),
			"set it to 1536")
	}
}
