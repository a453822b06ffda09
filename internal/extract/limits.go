package extract

// WithDefaults returns l with each zero field taken from DefaultLimits.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits
	fill(&l.Bytes, d.Bytes)
	fill(&l.Pages, d.Pages)
	fill(&l.Characters, d.Characters)
	fill(&l.ZipEntries, d.ZipEntries)
	fill(&l.ZipRatio, d.ZipRatio)
	fill(&l.ZipBytes, d.ZipBytes)
	fill(&l.XMLDepth, d.XMLDepth)
	fill(&l.Time, d.Time)
	fill(&l.PageTime, d.PageTime)
	fill(&l.ChildBytes, d.ChildBytes)
	fill(&l.Depth, d.Depth)
	fill(&l.Files, d.Files)
	return l
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
