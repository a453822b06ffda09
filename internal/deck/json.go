package deck

// Each object of the JSON keeps the fields that this version doesn't know: see Extra.

// MarshalJSON implements json.Marshaler.
func (d Deck) MarshalJSON() ([]byte, error) {
	type plain Deck
	return encodeKeeping(plain(d), d.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Deck) UnmarshalJSON(data []byte) (err error) {
	type plain Deck
	d.Extra, err = decodeKeeping(data, (*plain)(d))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Size) MarshalJSON() ([]byte, error) {
	type plain Size
	return encodeKeeping(plain(s), s.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Size) UnmarshalJSON(data []byte) (err error) {
	type plain Size
	s.Extra, err = decodeKeeping(data, (*plain)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Source) MarshalJSON() ([]byte, error) {
	type plain Source
	return encodeKeeping(plain(s), s.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Source) UnmarshalJSON(data []byte) (err error) {
	type plain Source
	s.Extra, err = decodeKeeping(data, (*plain)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (t Theme) MarshalJSON() ([]byte, error) {
	type plain Theme
	return encodeKeeping(plain(t), t.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Theme) UnmarshalJSON(data []byte) (err error) {
	type plain Theme
	t.Extra, err = decodeKeeping(data, (*plain)(t))
	return err
}

// MarshalJSON implements json.Marshaler.
func (f Fonts) MarshalJSON() ([]byte, error) {
	type plain Fonts
	return encodeKeeping(plain(f), f.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Fonts) UnmarshalJSON(data []byte) (err error) {
	type plain Fonts
	f.Extra, err = decodeKeeping(data, (*plain)(f))
	return err
}

// MarshalJSON implements json.Marshaler.
func (m Media) MarshalJSON() ([]byte, error) {
	type plain Media
	return encodeKeeping(plain(m), m.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Media) UnmarshalJSON(data []byte) (err error) {
	type plain Media
	m.Extra, err = decodeKeeping(data, (*plain)(m))
	return err
}

// MarshalJSON implements json.Marshaler.
func (l Layout) MarshalJSON() ([]byte, error) {
	type plain Layout
	return encodeKeeping(plain(l), l.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Layout) UnmarshalJSON(data []byte) (err error) {
	type plain Layout
	l.Extra, err = decodeKeeping(data, (*plain)(l))
	return err
}

// MarshalJSON implements json.Marshaler.
func (p Placeholder) MarshalJSON() ([]byte, error) {
	type plain Placeholder
	return encodeKeeping(plain(p), p.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Placeholder) UnmarshalJSON(data []byte) (err error) {
	type plain Placeholder
	p.Extra, err = decodeKeeping(data, (*plain)(p))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Slide) MarshalJSON() ([]byte, error) {
	type plain Slide
	return encodeKeeping(plain(s), s.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Slide) UnmarshalJSON(data []byte) (err error) {
	type plain Slide
	s.Extra, err = decodeKeeping(data, (*plain)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (c Comment) MarshalJSON() ([]byte, error) {
	type plain Comment
	return encodeKeeping(plain(c), c.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Comment) UnmarshalJSON(data []byte) (err error) {
	type plain Comment
	c.Extra, err = decodeKeeping(data, (*plain)(c))
	return err
}

// MarshalJSON implements json.Marshaler.
func (p Provenance) MarshalJSON() ([]byte, error) {
	type plain Provenance
	return encodeKeeping(plain(p), p.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Provenance) UnmarshalJSON(data []byte) (err error) {
	type plain Provenance
	p.Extra, err = decodeKeeping(data, (*plain)(p))
	return err
}

// MarshalJSON implements json.Marshaler.
func (a Area) MarshalJSON() ([]byte, error) {
	type plain Area
	return encodeKeeping(plain(a), a.Extra)
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Area) UnmarshalJSON(data []byte) (err error) {
	type plain Area
	a.Extra, err = decodeKeeping(data, (*plain)(a))
	return err
}
