package store

import (
	"bytes"
	"encoding/json"
)

// Metadata is what the sender of a document says of it, or what a search asks for. Its numbers stay as they are written: a
// double would round those of more than 53 bits.
type Metadata map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*map[string]any)(m)) //nolint:wrapcheck // encoding/json adds the field
}

// Staging opens a staged version.
type Staging struct {
	Holder
	DocumentSet string `json:"document_set"`
	Filename    string `json:"filename"`
	Blob        string `json:"blob"`
}

// StagedVersion is the answer to StageDocument.
type StagedVersion struct {
	DocumentID string
	Version    int            // of the staged version; 1 is a document's first; 0: see SupersededBy
	Active     *ActiveVersion // nil: the document has none
	StagedKeys map[int]string // chunk_key by position, of chunks that an earlier attempt of this job staged
	// SupersededBy is the job of a later message that has made the document what it is, or found it unchanged, while this job
	// had failed or waited. Nothing is staged then, and the job must leave the document as it is. Empty: it has the document.
	SupersededBy string
}

// ActiveVersion is the version of a document that readers see.
type ActiveVersion struct {
	Version       int    `json:"version"`
	ContentSHA256 string `json:"content_sha256"` // of the blob's bytes
	Pipeline      string `json:"pipeline"`       // its extractor, chunker, model and dimensions
	Pages         int    `json:"pages"`
	Chunks        int    `json:"chunks"`
	Characters    int    `json:"characters"`
	Extractor     string `json:"extractor"`
	TextSHA256    string `json:"text_sha256"` // of the extracted text; empty: an old version did not record it
	Format        string `json:"format"`      // as detected; empty: as above
	Blob          string `json:"blob"`        // its source
	SourceETag    string `json:"source_etag"` // of the blob at that time
	// SourceModified is the header Last-Modified of a web server at that time.
	SourceModified string `json:"source_modified"`
	Contexts       int    `json:"contexts"`    // chunks that have a context
	GivenTitle     string `json:"given_title"` // the title in the metadata of its sender
	// Warnings are those of its Reading; nil: an old version did not record them.
	Warnings []string `json:"warnings"`
}

// ChunkContext says where in its document a chunk belongs. It is part of what is embedded and of what a search for words
// compares, and never of the content.
type ChunkContext struct {
	Text string `json:"text"`
	By   string `json:"by"` // the model and the version of its prompt
}

// Chunk is a row of document_chunks.
type Chunk struct {
	Position    int       `json:"position"` // from 0, without gaps
	Content     string    `json:"content"`  // no NUL
	HeadingPath []string  `json:"heading_path"`
	Pages       []int     `json:"pages"` // 1-based, ascending; empty: the format has none
	Kind        string    `json:"kind"`  // text, table, code, list
	Tokens      int       `json:"tokens"`
	Key         string    `json:"chunk_key"`
	Boxes       []Box     `json:"boxes,omitempty"`
	Language    string    `json:"language,omitempty"` // ISO 639-1; empty: the chunk alone does not show it
	Embedding   []float32 `json:"-"`                  // nil: the tenant's embedding of Key and Context
	// Reused means that Embedding was made for another chunk with the same text. A chunk without an Embedding always
	// counts as reused.
	Reused bool `json:"reused,omitempty"`
	// Context and ContextBy are a ChunkContext; empty: none.
	Context   string `json:"context,omitempty"`
	ContextBy string `json:"context_by,omitempty"`
}

// Box is the position of a part of a chunk on a page, in fractions (0-1) of the page from its top left.
type Box struct {
	Page   int     `json:"page"`
	Left   float64 `json:"l"`
	Top    float64 `json:"t"`
	Right  float64 `json:"r"`
	Bottom float64 `json:"b"`
}

// ChunkBatch is up to a few hundred chunks of one staged version.
type ChunkBatch struct {
	Holder
	DocumentID string
	Version    int
	Model      string // of the embeddings
	Chunks     []Chunk
}

// TermsPart are the chunks of one staged version whose words are counted at once: at most Limit (5000) from the position
// From on.
type TermsPart struct {
	Holder
	DocumentID string `json:"document_id"`
	Version    int    `json:"version"`
	Language   string `json:"language"` // that Activation will give to the document
	From       int    `json:"from"`
	Limit      int    `json:"limit"`
}

// The effects of ingest.
const (
	// EffectActivateDocument makes the job's staged version the active one; its args are an Activation.
	// It fails unless the staged chunks have exactly the positions 0..Chunks-1.
	EffectActivateDocument = "activate_document"
	// EffectKeepDocument keeps the active version, updates the data about its source and drops the staged version; its
	// args are a Retention.
	EffectKeepDocument = "keep_document"
	// EffectDeleteDocument removes the document and the rows derived from its text; its args are a Deletion. It
	// adds to the result: document_id (null: there was none), document_set, filename, deleted (false: there was
	// none), chunks_deleted, removed and kept (counts by kind), and kept_blobs (names, at most 100).
	EffectDeleteDocument = "delete_document"
)

// Brief reports whether the effect touches a few rows, so that completions may be committed together. Activating a
// version reads all of its chunks and may remove a thousand of the last one, as deleting a document may.
func (e Effect) Brief() bool {
	return e.Kind != EffectActivateDocument && e.Kind != EffectDeleteDocument
}

// Reading describes what was read of a document's source.
type Reading struct {
	ContentSHA256 string `json:"content_sha256"` // of the bytes
	TextSHA256    string `json:"text_sha256"`    // of the extracted text
	Format        string `json:"format"`
	Pipeline      string `json:"pipeline"`
	Pages         int    `json:"pages"`
	Characters    int    `json:"characters"`
	Extractor     string `json:"extractor"`
	Enrichment
	PageLog any `json:"page_log,omitempty"` // how each page was read; a JSON array as in document_versions.page_log
	// Warnings say what is missing.
	Warnings []string `json:"warnings,omitempty"`
}

// Enrichment is what the text says about a document.
type Enrichment struct {
	Title        string         `json:"title,omitempty"`
	Language     string         `json:"language,omitempty"` // ISO 639-1, a BCP 47 tag, or und
	Outline      []Heading      `json:"outline,omitempty"`  // in reading order
	Properties   map[string]any `json:"properties,omitempty"`
	PersonalData *PersonalData  `json:"personal_data,omitempty"` // nil: nobody looked for it
}

// Heading is an entry of a document's outline. Its parent is the last entry before it with a smaller level.
type Heading struct {
	Level int    `json:"level"` // 1 is the top
	Text  string `json:"text"`
	Page  int    `json:"page,omitempty"`  // 1-based; zero: the format has none
	Chunk *int   `json:"chunk,omitempty"` // position of the chunk in which it begins; nil: unknown
}

// PersonalData counts the personal data in a text; it never holds a value.
type PersonalData struct {
	Mode       string         `json:"mode"`                 // tag or redact
	Detector   string         `json:"detector"`             // with its version
	Found      map[string]int `json:"found"`                // counts by kind
	Incomplete bool           `json:"incomplete,omitempty"` // a part of the text could not be searched
}

// Activation are the arguments of EffectActivateDocument. It adds to the result the data of the version, the number of
// chunks that were embedded for it in any attempt of the job (chunks_embedded), and the number of those whose embedding
// the tenant had already (chunks_reused); tokens_embedded and tokens_reused are the tokens of both.
type Activation struct {
	Reading
	DocumentID string `json:"document_id"`
	Version    int    `json:"version"`
	Chunks     int    `json:"chunks"`
	Blob       string `json:"blob"`
	SourceETag string `json:"source_etag"`
	// SourceModified is a web server's Last-Modified.
	SourceModified string   `json:"source_modified,omitempty"`
	Metadata       Metadata `json:"metadata,omitzero"` // of the payload; nil: the document keeps what it has
	// TermsStaged: this attempt has called StageTerms for all chunks. Otherwise the commit counts their words.
	TermsStaged bool `json:"terms_staged,omitempty"`
}

// Retention are the arguments of EffectKeepDocument.
type Retention struct {
	DocumentID string `json:"document_id"`
	Version    int    `json:"version"` // the staged one to drop
	Blob       string `json:"blob"`
	SourceETag string `json:"source_etag"`
	// SourceModified is a web server's Last-Modified.
	SourceModified string   `json:"source_modified,omitempty"`
	Metadata       Metadata `json:"metadata,omitzero"` // as in Activation
	// of other bytes with the same text; nil: the bytes are the same
	Reading *Reading `json:"reading,omitempty"`
	// of the same bytes, which were read again with less in them; nil: they were not
	Again *Again `json:"again,omitempty"`
}

// Again is what another reading of the same bytes changes about a version that is kept.
type Again struct {
	Pipeline string   `json:"pipeline"`
	Warnings []string `json:"warnings,omitempty"`
}

// Deletion are the arguments of EffectDeleteDocument.
type Deletion struct {
	DocumentID string `json:"document_id"`
	Version    int    `json:"version"` // the staged one: the claim on the document
	// Purged are the blobs of derived documents and decks that are removed already; only their rows are removed. Nil: all
	// such rows are removed, and the blobs stay.
	Purged       []string `json:"purged"`
	BlobsRemoved int      `json:"blobs_removed"` // for the result
}

// DocumentBlobs are the blobs that belong to one document alone.
type DocumentBlobs struct {
	Blobs   []string `json:"blobs"`   // of derived documents
	Decks   []string `json:"decks"`   // of decks; the pictures of NAME.json begin with NAME/
	Sources []string `json:"sources"` // hashes of its bytes, under which other blobs may be kept
}
