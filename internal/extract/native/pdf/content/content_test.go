package content_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// draw interprets a content stream on a page of 200 by 100 points. form is the content of the form X. What page has after
// a bar is of the catalog.
func draw(ctx context.Context, stream, form, page string) (*content.Drawing, error) {
	page, catalog, _ := strings.Cut(page, "|")
	file := fmt.Sprintf("%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R %s >>\nendobj\n"+
		"2 0 obj\n<< /Type /Pages /Kids [3 0 R] >>\nendobj\n"+
		"3 0 obj\n<< /Type /Page /MediaBox [0 0 200 100] %s /Contents 4 0 R /Resources << /XObject << /X 5 0 R >>"+
		" /ExtGState << /Clear << /ca 0 /CA 0 >> /Set << /Font [6 0 R 10] >> >> /Font << "+fonts+" >> >> >>\nendobj\n"+
		"4 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n"+
		"5 0 obj\n<< /Subtype /Form /BBox [0 0 50 50] /Matrix [1 0 0 1 100 0] /Length %d >>\nstream\n%s\nendstream\nendobj\n"+
		"6 0 obj\n%s\nendobj\n", catalog, page, len(stream), stream, len(form), form, strings.TrimPrefix(fonts[:strings.Index(fonts, "/G ")], "/F"))
	f, err := object.Open(context.WithoutCancel(ctx), strings.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	p, _ := f.Pages()()
	return content.NewReader(f).Read(ctx, p)
}

func TestLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream, form, page string
		lines, fills       []string
	}{
		"stroke":        {stream: "2 w 10 20 m 150 20 l S", lines: []string{"10,80-150,80 2"}},
		"thin area":     {stream: "10 20 140 1 re f", lines: []string{"10,79.5-150,79.5 1"}},
		"area":          {stream: "10 20 140 30 re f", fills: []string{"10,50-150,80"}},
		"white area":    {stream: "1 g 10 20 140 30 re f", fills: []string{"10,50-150,80 white"}},
		"light area":    {stream: "0.9 0.9 1 rg 10 20 140 30 re f", fills: []string{"10,50-150,80"}},
		"frame":         {stream: "10 20 140 30 re S", lines: []string{"10,50-10,80 1", "10,50-150,50 1", "10,80-150,80 1", "150,50-150,80 1"}},
		"closed":        {stream: "10 20 m 50 20 l 50 60 l h S", lines: []string{"10,80-50,80 1", "50,40-50,80 1"}},
		"slanted":       {stream: "10 20 m 150 70 l S"},
		"curve":         {stream: "10 20 m 20 30 30 30 150 20 c S"},
		"no paint":      {stream: "10 20 m 150 20 l n"},
		"transparent":   {stream: "/Clear gs 10 20 m 150 20 l S 10 20 90 30 re f"},
		"scaled":        {stream: "q 2 0 0 2 10 0 cm 10 20 m 50 20 l S Q 0 0 m 10 0 l S", lines: []string{"0,100-10,100 1", "30,60-110,60 2"}},
		"clipped":       {stream: "0 0 100 100 re W n 10 20 m 150 20 l S", lines: []string{"10,80-100,80 1"}},
		"off the page":  {stream: "10 20 m 950 20 l S", lines: []string{"10,80-200,80 1"}},
		"form":          {stream: "/X Do", form: "10 20 m 80 20 l S", lines: []string{"110,80-150,80 1"}},
		"form of self":  {stream: "/X Do", form: "10 20 m 40 20 l S /X Do", lines: nil},
		"turned":        {stream: "10 20 m 150 20 l S", page: "/Rotate 90", lines: []string{"20,10-20,150 1"}},
		"upside down":   {stream: "10 20 m 150 20 l S", page: "/Rotate 180", lines: []string{"50,20-190,20 1"}},
		"turned left":   {stream: "10 20 m 150 20 l S", page: "/Rotate 270", lines: []string{"80,50-80,190 1"}},
		"broken":        {stream: "10 20 m ] >> 150 20 l (", lines: nil},
		"wrong numbers": {stream: "1e9999 99999999999999999999999 m 1 l S -1 0 0 0 0 0 cm 5 5 m 9 5 l S"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := draw(t.Context(), c.stream, c.form, c.page)
			if err != nil {
				t.Fatal(err)
			}
			if name == "form of self" {
				if len(d.Lines) == 0 || len(d.Lines) > 20 {
					t.Errorf("%d lines", len(d.Lines))
				}
				return
			}
			var lines, fills []string
			for _, l := range d.Lines {
				lines = append(lines, fmt.Sprintf("%g,%g-%g,%g %g", l.Left, l.Top, l.Right, l.Bottom, l.Thick))
			}
			for _, f := range d.Fills {
				white := ""
				if f.White {
					white = " white"
				}
				fills = append(fills, fmt.Sprintf("%g,%g-%g,%g%s", f.Left, f.Top, f.Right, f.Bottom, white))
			}
			slices.Sort(lines)
			if !slices.Equal(lines, c.lines) || !slices.Equal(fills, c.fills) {
				t.Errorf("lines %q, areas %q, want %q and %q", lines, fills, c.lines, c.fills)
			}
		})
	}
}

// A page that draws a million lines is given up, and so is one whose task has ended.
func TestBounds(t *testing.T) {
	t.Parallel()
	if _, err := draw(t.Context(), strings.Repeat("1 1 m 9 1 l S\n", 1_000_000), "", ""); !errors.Is(err, content.ErrTooMuch) {
		t.Errorf("got %v", err)
	}
	d, err := draw(t.Context(), strings.Repeat("1 1 99 99 re ", 200_000)+"S", "", "")
	if err != nil || len(d.Lines) > 100_000 {
		t.Errorf("%d lines, %v", len(d.Lines), err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the task was canceled")
	cancel(stop)
	if _, err := draw(ctx, strings.Repeat("1 1 m 9 1 l S\n", 10_000), "", ""); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// An image is noted where it is shown, be it within the content or in a form, unless it is transparent.
func TestImages(t *testing.T) {
	t.Parallel()
	const image = " BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q "
	for name, c := range map[string]struct{ stream, form, page, want string }{
		"on the page":  {stream: "q 50 0 0 30 10 20 cm" + image, want: "[{10 50 60 80}]"},
		"lying":        {stream: "q 0 50 -30 0 40 20 cm" + image, want: "[{10 30 40 80}]"},
		"turned page":  {stream: "q 50 0 0 30 10 20 cm" + image, page: "/Rotate 90", want: "[{20 10 50 60}]"},
		"clipped":      {stream: "0 0 30 100 re W n q 50 0 0 30 10 20 cm" + image, want: "[{10 50 30 80}]"},
		"in a form":    {stream: "/X Do", form: "q 500 0 0 500 0 0 cm" + image, want: "[{100 50 150 100}]"},
		"transparent":  {stream: "/Clear gs q 50 0 0 30 10 20 cm" + image, want: "[]"},
		"off the page": {stream: "q 50 0 0 30 900 20 cm" + image, want: "[]"},
	} {
		d, err := draw(t.Context(), c.stream, c.form, c.page)
		if err != nil || fmt.Sprint(d.Images) != c.want {
			t.Errorf("%s: got %v, want %s (%v)", name, d.Images, c.want, err)
		}
	}
}
