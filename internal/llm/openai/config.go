// Package openai makes embeddings and sends questions with OpenAI, Azure OpenAI, or any service with OpenAI's
// protocol. It batches, keeps the service's rate limits, retries briefly, finds the one input that a service rejects,
// and checks the responses.
package openai

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Defaults of Config.
const (
	DefaultBaseURL        = "https://api.openai.com/v1"
	DefaultModel          = "text-embedding-3-small"
	DefaultDimensions     = 1536
	DefaultConcurrency    = 4
	DefaultRequestTimeout = 30 * time.Second
)

// Config is the service and how to use it. Zero fields take the default.
type Config struct {
	BaseURL    string // OPENAI_BASE_URL, with its version part; default DefaultBaseURL
	APIKey     string // OPENAI_API_KEY; may be empty for a service without keys
	Model      string // OPENAI_EMBEDDING_MODEL; on Azure the name of the deployment; default DefaultModel
	Dimensions int    // EMBEDDING_DIMENSIONS: the length of every vector; default DefaultDimensions
	Azure      *Azure // used instead of BaseURL and APIKey unless nil

	Concurrency    int           // most requests in flight, 1-64; default DefaultConcurrency
	RequestTimeout time.Duration // of one request; default DefaultRequestTimeout

	HTTPClient *http.Client // default: one of its own with a connection for each request in flight
	Limiter    *Limiter     // shared with other users of the same account; default: one of its own
	Urgency    Urgency      // of a Chat's requests; embeddings are Bulk, see Embedder.Questions
	Counter    llm.Counter  // of the model's tokens; default: cl100k_base

	Dependency taskerr.Dependency // to which a Chat's failures are attributed; default taskerr.Chat

	// Names are the settings to name in errors, if they are not those of the embeddings.
	Names Names
}

// Names are names of settings. Empty ones keep their defaults.
type Names struct{ URL, Key, Model string }

func (n Names) over(s settings) settings {
	for _, name := range []struct {
		to   *string
		from string
	}{{&s.url, n.URL}, {&s.key, n.Key}, {&s.model, n.Model}} {
		if name.from != "" {
			*name.to = name.from
		}
	}
	return s
}

// Azure names a resource of Azure OpenAI.
type Azure struct {
	Endpoint   string // AZURE_OPENAI_ENDPOINT, e.g. https://name.openai.azure.com
	APIKey     string // AZURE_OPENAI_API_KEY
	APIVersion string // AZURE_OPENAI_API_VERSION, e.g. 2024-10-21; required: the library's own is too old
}

// settings are the names that errors give an operator.
type settings struct {
	url, key, model string
	parameters      string // those that decide on a request's parameters
	what            string // the service, e.g. "the embedding service"
	gives           string // e.g. "embeddings"
}

// New checks the configuration, without network. Its errors name the settings to fix.
func New(c Config) (*Embedder, error) {
	if c.Model == "" {
		c.Model = DefaultModel
	}
	if c.Dimensions == 0 {
		c.Dimensions = DefaultDimensions
	}
	if c.Concurrency == 0 {
		c.Concurrency = DefaultConcurrency
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	if c.Dimensions < 1 {
		return nil, fmt.Errorf("EMBEDDING_DIMENSIONS is %d; it must be at least 1", c.Dimensions)
	}
	if c.Concurrency < 1 || c.Concurrency > 64 {
		return nil, fmt.Errorf("%d embedding requests at a time; choose 1 to 64", c.Concurrency)
	}
	client, names, err := c.service()
	if err != nil {
		return nil, err
	}
	names.what, names.gives, names.parameters = "the embedding service", "embeddings",
		names.model+" and EMBEDDING_DIMENSIONS"
	if c.Limiter == nil {
		c.Limiter = NewLimiter(c.Concurrency)
	}
	if c.Counter == nil {
		c.Counter = token.New()
	}
	client.HTTPClient = recorder{c.httpClient(names.url)}
	return &Embedder{
		service: service{
			client: api.NewClientWithConfig(client), model: c.Model, timeout: c.RequestTimeout, limiter: c.Limiter,
			urgency: Bulk, names: names,
		},
		dimensions:     c.Dimensions,
		sendDimensions: strings.Contains(c.Model, "text-embedding-3"),
		concurrency:    c.Concurrency,
		counter:        c.Counter,
		learnt:         new(learnt),
	}, nil
}

// httpClient returns the client of a service whose address is in the setting url.
func (c Config) httpClient(url string) *http.Client {
	client := new(http.Client)
	if c.HTTPClient != nil {
		*client = *c.HTTPClient
	} else {
		transport := httpurl.Transport()
		transport.MaxIdleConnsPerHost = c.Concurrency
		client.Transport = tracing.Transport(transport, "model")
	}
	client.Transport = httpurl.SameOrigin(client.Transport, url)
	return client
}

// service converts the configuration to that of the client library.
func (c Config) service() (api.ClientConfig, settings, error) {
	if c.Azure == nil {
		names := settings{url: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", model: "OPENAI_EMBEDDING_MODEL"}
		service := api.DefaultConfig(c.APIKey)
		if c.BaseURL != "" {
			service.BaseURL = c.BaseURL
		}
		if service.BaseURL == DefaultBaseURL && c.APIKey == "" {
			return service, names, errors.New(
				"OPENAI_API_KEY is not set; set it, or LLM_PROVIDER=offline to work without a model service")
		}
		return service, names, checkURL(names.url, service.BaseURL)
	}
	names := settings{
		url: "AZURE_OPENAI_ENDPOINT", key: "AZURE_OPENAI_API_KEY",
		model: "OPENAI_EMBEDDING_MODEL (on Azure the deployment's name)",
	}
	service := api.DefaultAzureConfig(c.Azure.APIKey, c.Azure.Endpoint)
	service.APIVersion = c.Azure.APIVersion
	service.AzureModelMapperFunc = url.PathEscape
	if c.Azure.APIKey == "" {
		return service, names, errors.New("AZURE_OPENAI_API_KEY is not set, but AZURE_OPENAI_ENDPOINT is")
	}
	if c.Azure.APIVersion == "" {
		return service, names, errors.New(
			"AZURE_OPENAI_API_VERSION is not set; set it, e.g. to 2024-10-21")
	}
	return service, names, checkURL(names.url, c.Azure.Endpoint)
}

// checkURL's error does not quote the value: it may hold a key.
func checkURL(setting, value string) error {
	if _, err := httpurl.Parse(value); err != nil {
		return fmt.Errorf("%s is not a URL such as %s", setting, DefaultBaseURL)
	}
	return nil
}
