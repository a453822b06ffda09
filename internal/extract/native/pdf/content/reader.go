package content

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// Reader reads the pages of a file. It is not safe for concurrent use.
type Reader struct {
	file     *object.File
	fonts    map[object.Ref]*Font
	standard map[standardFont][]float64 // widths
	widths   int                        // items of the fonts
	layered  bool                       // parts of the pages may not be shown
	filled   bool                       // readers draw the fields of its form themselves
}

// NewReader returns a Reader of a file.
func NewReader(f *object.File) *Reader {
	r := &Reader{file: f, fonts: map[object.Ref]*Font{}, standard: map[standardFont][]float64{}}
	shown := f.Dict(f.Dict(f.Root()["OCProperties"])["D"])
	r.layered = len(f.Array(shown["OFF"])) > 0 || f.Name(shown["BaseState"]) == "OFF"
	r.filled = f.Resolve(f.Dict(f.Root()["AcroForm"])["NeedAppearances"]) == true
	return r
}

// Read interprets a page. What can't be read of it is missing.
func (r *Reader) Read(ctx context.Context, p *object.Page) (*Drawing, error) {
	m, width, height := pageMatrix(p)
	in := &interpreter{ctx: ctx, file: r.file, reader: r, out: &Drawing{Width: width, Height: height}}
	in.state = state{matrix: m, clip: Box{0, 0, width, height}, lineWidth: 1}
	in.state.text.stretch = 1
	in.textMatrix, in.lineMatrix, in.fonts = identity, identity, map[object.Name]*Font{}
	in.out.Unknown = r.layered
	start := in.state
	if err := in.run(&streams{file: r.file, left: r.file.Contents(p)}, p.Resources); err != nil {
		return nil, err
	}
	if in.state, in.saved = start, nil; !in.out.Unknown {
		in.annotations(p)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("read the annotations of a page: %w", err)
	}
	return in.out, nil
}

// matrix returns the matrix that o is or refers to.
func (r *Reader) matrix(o object.Object) (matrix, bool) {
	var numbers []float64
	for _, o := range r.file.Array(o) {
		v, _ := r.file.Number(o)
		numbers = append(numbers, v)
	}
	return toMatrix(numbers)
}
