package ooxml

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Extractor returns an extractor that reads packages; see extract.Func. Texts that were cut give a warning.
func Extractor(
	name string, version int,
	read func(ctx context.Context, pkg *Package, limits extract.Limits, emit extract.Emit) (extract.Info, error),
) extract.Extractor {
	return extract.Func(name, version, func(
		ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
	) (extract.Info, error) {
		pkg, err := Open(src.Path, limits)
		if err != nil {
			return extract.Info{}, err
		}
		defer func() { _ = pkg.Close() }() // read-only
		info, err := read(ctx, pkg, limits, emit)
		if pkg.cut {
			info.Warnings = append(info.Warnings, "texts of cells, charts or shapes that are too long were read in part")
		}
		return info, err
	})
}
