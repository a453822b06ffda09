package chunk

// cut returns how many of the pending items form the next chunk, or zero if that is not known yet. With final,
// no more items belong to them.
//
// Where a section is longer than a chunk, the cut is anchored in the content, so that it stays when the text
// around it changes. Of the positions within reach (between half and one and a half of the target) at the
// loosest bond, the cut is the one whose preceding item's end has the smallest hash. Two runs of items that
// differ at their start soon agree on such a position, and from there on are cut alike. It is the local minimum
// of Bjørner, Blass, Gurevich: "Content-Dependent Chunking for Differential Compression, the Local Maximum
// Approach" (2010), over items instead of bytes; the idea of content-defined boundaries is that of LBFS
// (Muthitacharoen, Chen, Mazières, SOSP 2001).
func (c *Chunker) cut(final bool) int {
	end, closed := c.subsection(final)
	if end == 0 {
		return 0
	}
	shortest := max(c.config.Min, c.config.Target/2)
	longest := min(c.config.Max, c.config.Target*3/2)
	size, rest := c.opening(), 0
	for _, i := range c.items[:end] {
		rest += i.tokens
	}
	whole := size + rest
	switch {
	case closed && whole <= longest:
		return end
	case !closed && whole <= c.config.Max:
		return 0
	}
	best, last := 0, 1
	for k, i := range c.items[:end] {
		if k > 0 {
			if size > c.config.Max {
				break
			}
			if i.bond < tight || c.items[last].bond == tight {
				last = k
			}
			if i.bond < tight && size >= shortest && size <= longest && rest >= c.config.Min &&
				(best == 0 || c.better(k, best)) {
				best = k
			}
		}
		size += i.tokens
		rest -= i.tokens
	}
	switch {
	case best > 0:
		return best
	case closed && whole <= c.config.Max:
		return end
	}
	return min(last, end)
}

// better reports whether the position before item a is better for a cut than the one before item b.
func (c *Chunker) better(a, b int) bool {
	if x, y := c.items[a].bond, c.items[b].bond; x != y {
		return x < y
	}
	return c.items[a-1].hash < c.items[b-1].hash
}

// opening returns the number of tokens before the first item.
func (c *Chunker) opening() int { return c.items[0].context().tokens + c.items[0].ahead }

// subsection returns how many items precede the first subsection that begins a new chunk, and whether they are
// complete. A subsection is merged with what precedes it if that is too little, if it is itself the last and too small,
// or if both are small parts of the same section.
func (c *Chunker) subsection(final bool) (end int, closed bool) {
	size, rest := c.opening(), c.total
	for k := range c.items {
		i := &c.items[k]
		if k > 0 && i.section {
			merge, known := size < c.config.Min, true
			if !merge {
				merge, known = c.joins(k, size, final)
			}
			switch {
			case merge:
				i.section = false
				c.sections--
			case known && rest >= c.config.Min:
				return k, true
			case !final:
				return 0, false
			}
		}
		size += i.tokens
		rest -= i.tokens
	}
	return len(c.items), final
}

// joins reports whether the subsection that begins at item k joins the size tokens before it: if it is below the heading
// that all of them are below, and both together are small. known is false while that depends on what follows.
func (c *Chunker) joins(k, size int, final bool) (joins, known bool) {
	if !c.items[k].under.parent.within(c.items[0].context()) {
		return false, true
	}
	for j, i := range c.items[k:] {
		if j > 0 && i.section {
			return true, true
		}
		if size += i.tokens; size > c.config.Small {
			return false, true
		}
	}
	return final, final
}
