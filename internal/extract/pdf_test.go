package extract_test

import "github.com/seed-7227ef26/async-worker/internal/extract"

func pdfExtractor() extract.Extractor { return nil }
