package deck

// MarshalJSON implements json.Marshaler.
func (e Element) MarshalJSON() ([]byte, error) {
	type plain Element
	return encodeKeeping(plain(e), e.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Element) UnmarshalJSON(data []byte) (err error) {
	type plain Element
	e.Extra, err = decodeKeeping(data, (*plain)(e))
	return err
}

// MarshalJSON implements json.Marshaler.
func (b Box) MarshalJSON() ([]byte, error) {
	type plain Box
	return encodeKeeping(plain(b), b.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Box) UnmarshalJSON(data []byte) (err error) {
	type plain Box
	b.Extra, err = decodeKeeping(data, (*plain)(b))
	return err
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	type plain Text
	return encodeKeeping(plain(t), t.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) (err error) {
	type plain Text
	t.Extra, err = decodeKeeping(data, (*plain)(t))
	return err
}

// MarshalJSON implements json.Marshaler.
func (i Inset) MarshalJSON() ([]byte, error) {
	type plain Inset
	return encodeKeeping(plain(i), i.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Inset) UnmarshalJSON(data []byte) (err error) {
	type plain Inset
	i.Extra, err = decodeKeeping(data, (*plain)(i))
	return err
}

// MarshalJSON implements json.Marshaler.
func (p Paragraph) MarshalJSON() ([]byte, error) {
	type plain Paragraph
	return encodeKeeping(plain(p), p.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Paragraph) UnmarshalJSON(data []byte) (err error) {
	type plain Paragraph
	p.Extra, err = decodeKeeping(data, (*plain)(p))
	return err
}

// MarshalJSON implements json.Marshaler.
func (l List) MarshalJSON() ([]byte, error) {
	type plain List
	return encodeKeeping(plain(l), l.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *List) UnmarshalJSON(data []byte) (err error) {
	type plain List
	l.Extra, err = decodeKeeping(data, (*plain)(l))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Style) MarshalJSON() ([]byte, error) {
	type plain Style
	return encodeKeeping(plain(s), s.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Style) UnmarshalJSON(data []byte) (err error) {
	type plain Style
	s.Extra, err = decodeKeeping(data, (*plain)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (r Run) MarshalJSON() ([]byte, error) {
	type plain Run
	return encodeKeeping(plain(r), r.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Run) UnmarshalJSON(data []byte) (err error) {
	type plain Run
	r.Extra, err = decodeKeeping(data, (*plain)(r))
	return err
}

// MarshalJSON implements json.Marshaler.
func (t Table) MarshalJSON() ([]byte, error) {
	type plain Table
	return encodeKeeping(plain(t), t.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Table) UnmarshalJSON(data []byte) (err error) {
	type plain Table
	t.Extra, err = decodeKeeping(data, (*plain)(t))
	return err
}

// MarshalJSON implements json.Marshaler.
func (r Row) MarshalJSON() ([]byte, error) {
	type plain Row
	return encodeKeeping(plain(r), r.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Row) UnmarshalJSON(data []byte) (err error) {
	type plain Row
	r.Extra, err = decodeKeeping(data, (*plain)(r))
	return err
}

// MarshalJSON implements json.Marshaler.
func (c Cell) MarshalJSON() ([]byte, error) {
	type plain Cell
	return encodeKeeping(plain(c), c.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Cell) UnmarshalJSON(data []byte) (err error) {
	type plain Cell
	c.Extra, err = decodeKeeping(data, (*plain)(c))
	return err
}

// MarshalJSON implements json.Marshaler.
func (p Picture) MarshalJSON() ([]byte, error) {
	type plain Picture
	return encodeKeeping(plain(p), p.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Picture) UnmarshalJSON(data []byte) (err error) {
	type plain Picture
	p.Extra, err = decodeKeeping(data, (*plain)(p))
	return err
}

// MarshalJSON implements json.Marshaler.
func (c Crop) MarshalJSON() ([]byte, error) {
	type plain Crop
	return encodeKeeping(plain(c), c.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Crop) UnmarshalJSON(data []byte) (err error) {
	type plain Crop
	c.Extra, err = decodeKeeping(data, (*plain)(c))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Shape) MarshalJSON() ([]byte, error) {
	type plain Shape
	return encodeKeeping(plain(s), s.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Shape) UnmarshalJSON(data []byte) (err error) {
	type plain Shape
	s.Extra, err = decodeKeeping(data, (*plain)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (c Chart) MarshalJSON() ([]byte, error) {
	type plain Chart
	return encodeKeeping(plain(c), c.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Chart) UnmarshalJSON(data []byte) (err error) {
	type plain Chart
	c.Extra, err = decodeKeeping(data, (*plain)(c))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Series) MarshalJSON() ([]byte, error) {
	type plain Series
	return encodeKeeping(plain(s), s.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Series) UnmarshalJSON(data []byte) (err error) {
	type plain Series
	s.Extra, err = decodeKeeping(data, (*plain)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (p Path) MarshalJSON() ([]byte, error) {
	type plain Path
	return encodeKeeping(plain(p), p.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Path) UnmarshalJSON(data []byte) (err error) {
	type plain Path
	p.Extra, err = decodeKeeping(data, (*plain)(p))
	return err
}
