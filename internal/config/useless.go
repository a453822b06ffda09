package config

// useless is a setting that has no effect while another setting is as it is.
type useless struct {
	names   []string
	needs   []string // the other settings: if one is wrong, nothing is known
	used    func(*loader) bool
	because string
	remedy  string
}

// uselessSettings lists the settings that depend on another one, which a command that reads them reads as well.
func uselessSettings() []useless {
	return []useless{
		{
			[]string{"BLOB_DIR"},
			[]string{"BLOB_BACKEND"},
			func(l *loader) bool { return l.cfg.BlobBackend == BlobDir },
			"BLOB_BACKEND is not dir: it has no effect", "set BLOB_BACKEND=dir, or unset it",
		},
		{
			[]string{"NATS_URL"},
			[]string{"QUEUE_BACKEND"},
			func(l *loader) bool { return l.cfg.QueueBackend == QueueNATS },
			"QUEUE_BACKEND is not nats: it has no effect", "set QUEUE_BACKEND=nats, or unset it",
		},
		{
			[]string{"CONTEXT_MODEL"},
			[]string{"CONTEXT_MODE"},
			func(l *loader) bool { return l.cfg.Contexts.Mode == ContextModel },
			"CONTEXT_MODE is not model: it has no effect", "set CONTEXT_MODE=model, or unset it",
		},
		{
			[]string{"OCR_BASE_URL", "OCR_API_KEY", "OCR_MODEL"},
			[]string{"OCR_ENGINE"},
			func(l *loader) bool { return l.cfg.OCREngine == OCROpenAI },
			"OCR_ENGINE is not openai: it has no effect", "set OCR_ENGINE=openai, or unset it",
		},
		{
			[]string{"DOCLING_URL"},
			[]string{"EXTRACTOR", "OCR_ENGINE"},
			func(l *loader) bool { return l.cfg.Extractor != ExtractorNative || l.cfg.OCREngine == OCRDocling },
			"EXTRACTOR is native, and OCR_ENGINE is not docling: it has no effect",
			"set EXTRACTOR=docling or EXTRACTOR=auto, or OCR_ENGINE=docling, or unset it",
		},
		{
			[]string{"PII_KINDS", "PII_DETECTOR_URL"},
			[]string{"PII_MODE"},
			func(l *loader) bool { return l.cfg.PII.Mode != PIIOff },
			"PII_MODE is off: personal data are not looked for", "set PII_MODE to tag or redact, or unset it",
		},
		{
			[]string{"HTTP_TOKEN"},
			[]string{"HTTP_ADDR"},
			func(l *loader) bool { return l.given("HTTP_ADDR") },
			"HTTP_ADDR is not: it has no effect", "set HTTP_ADDR, or unset it",
		},
	}
}

// checkUseless warns of settings that have no effect. A setting that was not read is not given.
func (l *loader) checkUseless() {
	for _, u := range uselessSettings() {
		for _, name := range u.names {
			if l.given(name) && l.fine(append(u.needs, name)...) && !u.used(l) {
				l.warn(name, "it is set, but "+u.because, u.remedy)
			}
		}
	}
}
