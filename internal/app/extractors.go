package app

import (
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
)

// Extractors is the router over all extractors. It needs no service and no settings.
func Extractors() *extract.Router { return extract.NewRouter(native.Extractors(pdf.New())) }
