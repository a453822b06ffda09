package config

import (
	"net/netip"
	"strings"
	"time"
)

func documents() []Setting {
	return []Setting{
		{
			Name: "DOCLING_URL", Groups: Extract, Live: true,
			Help:  "the address of a docling-serve that reads documents (docs/docling.md)",
			parse: address(func(c *Config) *string { return &c.Docling.URL }, "http://docling:5001"),
		},
		{
			Name: "DOCLING_API_KEY", Secret: true, Groups: Extract, Live: true,
			Help:  "the key for DOCLING_URL, if it needs one",
			parse: headerSecret(func(c *Config) *Secret { return &c.Docling.APIKey }),
		},
		{
			Name: "EXTRACTOR", Shown: "docling when DOCLING_URL is set, else native", Groups: Extract, Live: true,
			Help:   "what reads documents: native, docling, or auto: docling, and native while it is down",
			choice: func(c *Config) *string { return &c.Extractor },
			Values: []string{ExtractorNative, ExtractorDocling, ExtractorAuto},
		},
		{
			Name: "OCR_ENGINE", Default: OCRTesseract, Groups: Extract, Live: true,
			Help: "what reads pictures of text: tesseract, openai (a vision model behind an OpenAI-compatible " +
				"endpoint), or docling (DOCLING_URL)",
			choice: func(c *Config) *string { return &c.OCREngine },
			Values: []string{OCRTesseract, OCROpenAI, OCRDocling},
		},
		{
			Name: "OCR_MODEL", Shown: "OPENAI_CHAT_MODEL", Groups: Extract, Live: true,
			Help: "the model for OCR_ENGINE=openai, e.g. gpt-4o, allenai/olmOCR-2-7B-1025-FP8; on Azure OpenAI the " +
				"deployment's name",
			parse: pattern(func(c *Config) *string { return &c.OCR.Model }, modelPattern,
				"use the model's or deployment's name alone"),
		},
		{
			Name: "OCR_BASE_URL", Shown: "the service of OPENAI_* or AZURE_OPENAI_*", Groups: Extract, Live: true,
			Help: "another service for OCR_ENGINE=openai, such as your own vLLM server; no key but OCR_API_KEY is " +
				"sent to it",
			parse: address(func(c *Config) *string { return &c.OCR.BaseURL }, "http://vllm:8000/v1"),
		},
		{
			Name: "OCR_API_KEY", Secret: true, Groups: Extract, Live: true,
			Help:  "the key for OCR_BASE_URL, if it needs one",
			parse: headerSecret(func(c *Config) *Secret { return &c.OCR.APIKey }),
		},
		{
			Name: "OCR_CONCURRENCY", Default: "0", Unit: "pages", Groups: Extract, Live: true,
			Help: "how many pages OCR reads at a time, over all tasks, 1 to 64; 0: the number of processors with tesseract, 4 " +
				"with openai, and WORKER_CONCURRENCY with docling. openai without OCR_BASE_URL is also within the three " +
				"quarters of MODEL_CONCURRENCY that chat leaves",
			parse: integer(func(c *Config) *int { return &c.OCR.Concurrency }, 0, 64),
		},
		{
			Name: "OCR_MAX_TOKENS", Default: "0", Unit: "tokens", Groups: Extract, Live: true,
			Help: "the most tokens that one task may use to read pages with OCR_ENGINE=openai, images and answers together, 1000 to " +
				"1000000000; 0: no limit. Tesseract reads the other pages, if it is installed, and the result has a warning (docs/models.md)",
			parse: zeroOr(func(c *Config) *int { return &c.OCR.MaxTokens }, 1000, 1_000_000_000),
		},
		{
			Name: "PARSER_MEMORY_MB", Default: "768", Unit: "MiB", Groups: Extract | Worker,
			Help: "the memory that poppler, tesseract and the decoding of images use together, over all tasks, 384 " +
				"to 1048576; a page that needs more than two thirds of it is not read. The worker itself needs up " +
				"to about 200 more: raise MemoryHigh= and MemoryMax= of the unit, or the container's limit, by as much",
			parse: mebibytes(func(c *Config) *int64 { return &c.ParserMemory }, 384, 1<<20),
		},
		{
			Name: "PII_MODE", Default: PIIOff, Groups: Worker, Live: true,
			Help: "how personal data are treated before text goes to the model and into the index: off, tag (count " +
				"them) or redact (replace them by their kind, e.g. [EMAIL])",
			choice: func(c *Config) *string { return &c.PII.Mode },
			Values: []string{PIIOff, PIITag, PIIRedact},
		},
		{
			Name: "PII_KINDS", Shown: "all that identify a person", Groups: Worker, Live: true,
			Help: "the kinds of personal data to look for, separated by commas: EMAIL, PHONE, IBAN, CREDIT_CARD, " +
				"IP_ADDRESS, NATIONAL_ID, and what PII_DETECTOR_URL finds, e.g. PERSON",
			parse: list(func(c *Config) *[]string { return &c.PII.Kinds }, `^[A-Z][A-Z0-9_]{0,63}$`, strings.ToUpper,
				"use kinds such as EMAIL,PHONE,PERSON"),
		},
		{
			Name: "PII_DETECTOR_URL", Groups: Worker, Live: true,
			Help: "a Presidio analyzer (2.2.361 or newer) that finds personal data in addition to the built-in " +
				"patterns",
			parse: address(func(c *Config) *string { return &c.PII.DetectorURL }, "http://localhost:5002"),
		},
		{
			Name: "PII_DETECTOR_LANGUAGES", Default: "en", Groups: Worker, Live: true,
			Help: "the languages that PII_DETECTOR_URL is set up for (ISO 639-1), separated by commas; text in " +
				"another language is sent as the first one",
			parse: list(func(c *Config) *[]string { return &c.PII.DetectorLanguages }, `^[a-z]{2,3}$`, strings.ToLower,
				"use languages such as en,de"),
		},
		{
			Name: "PDF_ENGINE", Default: PDFNative, Groups: Worker, Live: true,
			Help: "what draws decks as PDF: native, or soffice (LibreOffice, which knows all scripts, fonts and effects, and " +
				"takes some seconds more)",
			choice: func(c *Config) *string { return &c.PDFEngine },
			Values: []string{PDFNative, PDFSoffice},
		},
		{
			Name: "EXPORT_URL_HOURS", Default: "24", Unit: "h", Groups: Worker, Live: true,
			Help: "how long the signed address of an exported deck holds at least, 0 to 144; 0: none is made, as storage " +
				"without an account key or an identity can't sign; always 0 with BLOB_BACKEND=dir",
			parse: duration(func(c *Config) *time.Duration { return &c.ExportURL }, time.Hour, 0, 144),
		},
		{
			Name: "MAX_BLOB_MB", Default: "512", Unit: "MiB", Groups: Extract | Worker, Live: true,
			Help:  "the largest document, 1 to 4096",
			parse: mebibytes(func(c *Config) *int64 { return &c.MaxBlobBytes }, 1, 4096),
		},
		{
			Name: "SOURCE_ALLOW_CIDRS", Groups: Worker, Live: true,
			Help:  "private networks from which documents may be fetched by source_uri, separated by commas",
			parse: prefixes(func(c *Config) *[]netip.Prefix { return &c.SourceAllowCIDRs }),
		},
	}
}
