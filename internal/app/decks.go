package app

import (
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/export"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/source"
)

func (t *Tenant) convertDeps(documents *extract.Router, filter *privacy.Filter, web *source.Web, tempDir string) convert.Deps {
	return convert.Deps{
		Bucket: t.Bucket, Web: web, Store: t.Store, Extractor: documents, Limits: t.limits(), Fonts: t.fonts,
		Soffice: soffice.Prints() == nil, TempDir: tempDir, ExtractorNeeds: extractorNeeds(t.Config),
		Chat: t.Chat.Chat, Window: t.Chat.Window, Counter: t.Chat.Counter, MaxTokens: t.Config.MaxTaskTokens, Privacy: filter,
	}
}

func (t *Tenant) exportDeps(tempDir string) export.Deps {
	engine := t.Config.PDFEngine
	if err := soffice.Prints(); err != nil && engine == config.PDFSoffice {
		t.log.Warn("PDF_ENGINE=soffice, but LibreOffice is not installed: exports to PDF fail", "reason", err)
	}
	return export.Deps{
		Bucket: t.Bucket, Store: t.Store, Limits: t.limits(), Fonts: t.fonts, Soffice: engine == config.PDFSoffice,
		Address: t.Config.ExportURL, TempDir: tempDir,
	}
}
