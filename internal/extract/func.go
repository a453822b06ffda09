package extract

import "context"

// ReadFunc does what Extractor.Extract does. Its limits have their defaults, and it may leave Format and Extractor of
// its Info empty. A title in Properties replaces Title if a person has written it.
type ReadFunc func(ctx context.Context, src Source, limits Limits, emit Emit) (Info, error)

// Func returns an Extractor with a name and a version that reads with a function.
func Func(name string, version int, read ReadFunc) Extractor { return &function{name, version, read} }

type function struct {
	name    string
	version int
	read    ReadFunc
}

func (f *function) Name() string { return f.name }
func (f *function) Version() int { return f.version }

func (f *function) Extract(ctx context.Context, src Source, limits Limits, emit Emit) (Info, error) {
	info, err := f.read(ctx, src, limits.WithDefaults(), emit)
	if err != nil {
		return Info{}, err
	}
	info.Format, info.Extractor = src.Format, f.name
	if stated := StatedTitle(info.Properties["title"]); stated != "" {
		info.Title = stated
	}
	delete(info.Properties, "title")
	return info, nil
}
