package summarize

import (
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// The tokens of a call. A document of more than a share of the model's context is summarized in a tree: notes on each
// section, notes on neighbouring notes, and so on, until the rest fits into one call. Sections are small: an edit costs
// one of them and the notes above it, and a model overlooks more in the middle of a long text (Liu et al., "Lost in the
// Middle", TACL 2024).
const (
	contextShare  = 60   // percent of the context that a question may fill
	sectionTokens = 4000 // of a section, at most
	mergeTokens   = 8000 // of the notes that one call merges, at most
	leastSection  = 400
)

// node is one call of a model: on passages [first, end), or on the notes of parts.
type node struct {
	first, end int
	parts      []*node
	order      *order // of the last call; nil: it takes notes
	key        string // hash of everything that its answer depends on
	depth      int    // 0: on passages

	notes *notes // set when it is done
}

// notes are the answer of a node.
type notes struct {
	Summary string  `json:"summary"`
	Points  []point `json:"points"`
	Omitted []run   `json:"omitted,omitempty"` // what could not be summarized

	heading []string // of the first passage
}

// point is a key point with the hashes of the passages that it cites, which don't change when pages move.
type point struct {
	Text     string   `json:"text"`
	Passages []string `json:"passages"`
}

// run is a run of passages that was left out, by the hashes of its first and last.
type run struct {
	First  string `json:"first"`
	Last   string `json:"last"`
	Reason string `json:"reason"` // of the reasons below
}

// Why a model said nothing about a section.
const (
	reasonFiltered = "the service's content filter refused it"
	reasonRefused  = "the model refused to summarize it"
)

// empty reports whether nothing of the node could be summarized.
func (n *notes) empty() bool { return len(n.Points) == 0 }

// plan is the tree for a document. It depends only on the passages, not on answers, so that its cost is known before
// the first call.
type plan struct {
	root  *node
	nodes []*node // all, with parts before their parents
}

// newPlan returns the tree. window is the model's context in tokens; whole: a single call, if the document fits.
func (w *work) newPlan(window int, whole bool) plan {
	share := window * contextShare / 100
	p := plan{}
	last := w.order()
	all := &node{end: len(w.doc.passages), order: &last}
	if w.doc.tokens <= share && whole {
		if q := w.question(all); w.tokens(q) <= share {
			p.add(w, all)
			return p
		}
	}
	room := max(min(sectionTokens, share)-schemaTokens-w.tokens(ofPassages(nil, nil)), leastSection)
	if w.doc.tokens <= 4*room { // it would fit, but whole is false: make several sections
		room = max(w.doc.tokens/4, leastSection)
	}
	level := w.leaves(&p, room)
	merge := max(min(mergeTokens, share)/typicalNotes, 2)
	for len(level) > merge {
		level = p.merge(w, level, merge)
	}
	p.add(w, &node{end: len(w.doc.passages), parts: level, order: &last})
	return p
}

// leaves returns the calls on the sections of the document.
func (w *work) leaves(p *plan, room int) []*node {
	row := make([]seam, len(w.doc.passages))
	for i, of := range w.doc.passages {
		row[i] = seam{of.tokens, of.bond, of.opening}
	}
	begins := sections(row, room)
	level := make([]*node, len(begins))
	for i, first := range begins {
		end := len(row)
		if i+1 < len(begins) {
			end = begins[i+1]
		}
		level[i] = &node{first: first, end: end}
		p.add(w, level[i])
	}
	return level
}

// merge joins neighbours of a level, up to a limit, at the seams of the document.
func (p *plan) merge(w *work, level []*node, most int) []*node {
	row := make([]seam, len(level))
	for i, n := range level {
		of := w.doc.passages[n.first]
		row[i] = seam{1, of.bond, of.opening}
	}
	begins := append(sections(row, most), len(level))
	var above []*node
	for i, first := range begins[:len(begins)-1] {
		parts := level[first:begins[i+1]]
		if len(parts) == 1 {
			above = append(above, parts[0])
			continue
		}
		n := &node{first: parts[0].first, end: parts[len(parts)-1].end, parts: parts}
		p.add(w, n)
		above = append(above, n)
	}
	return above
}

// add adds a node and sets its key and depth.
func (p *plan) add(w *work, n *node) {
	texts := []string{promptVersion, w.deps.Chat.Model()}
	for _, part := range n.parts {
		n.depth = max(n.depth, part.depth+1)
		texts = append(texts, part.key)
	}
	if len(n.parts) == 0 {
		for _, of := range w.doc.passages[n.first:n.end] {
			texts = append(texts, of.hash)
		}
	}
	if o := n.order; o != nil {
		texts = append(texts, "summary", string(o.style), o.language, strconv.Itoa(o.words), o.title)
	}
	n.key = hashOf(texts...)
	p.root = n
	p.nodes = append(p.nodes, n)
}

// pending returns the nodes to ask: those that are not done and whose parent isn't either.
func (p plan) pending() []*node {
	needed := map[*node]bool{p.root: true}
	var open []*node
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := p.nodes[i]
		if n.notes != nil || !needed[n] {
			continue
		}
		open = append(open, n)
		for _, part := range n.parts {
			needed[part] = true
		}
	}
	return open
}

// question returns the question of a node. The parts of a node must be done.
func (w *work) question(n *node) llm.Question {
	if len(n.parts) == 0 {
		return ofPassages(w.doc.passages[n.first:n.end], n.order)
	}
	var parts []notes
	for _, part := range n.parts {
		if !part.notes.empty() {
			parts = append(parts, *part.notes)
		}
	}
	return ofNotes(parts, n.order)
}

// tokens returns the approximate cost of a question, without its answer.
func (w *work) tokens(q llm.Question) int {
	n := w.deps.Counter.Count(q.System) + w.deps.Counter.Count(q.Text) + schemaTokens
	for _, turn := range q.Turns {
		n += w.deps.Counter.Count(turn.Text)
	}
	return n
}

// highestCost returns the highest possible cost of a node: question and answer.
func (w *work) highestCost(n *node) int {
	answer := noteTokens
	if n.order != nil {
		answer = n.order.maxTokens()
	}
	asks := w.tokens(ofNotes(nil, n.order)) + len(n.parts)*noteTokens
	if len(n.parts) == 0 {
		asks = w.tokens(w.question(n))
	}
	return asks + w.room.answer(answer, asks)
}
