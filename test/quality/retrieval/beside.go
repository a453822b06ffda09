package retrieval

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// bm25 ranks with the Python packages bm25s and PyStemmer.
//
//go:embed bm25.py
var bm25 string

// libraryBM25 are the rankings of a library's BM25, by question. venv is a Python environment that has it.
func libraryBM25(ctx context.Context, venv, dir string) ([][]string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(venv, "bin", "python3"), "-c", bm25, dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("BM25 of bm25s: %w: %s", err, stderr.Bytes())
	}
	var rankings [][]string
	if err := json.Unmarshal(out, &rankings); err != nil {
		return nil, fmt.Errorf("BM25 of bm25s: %w", err)
	}
	return rankings, nil
}

// configurations are Postgres' text search configurations by language; others are simple.
var configurations = map[string]string{
	"ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
	"fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian",
	"pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}

// fullText are the rankings of Postgres' own full-text search, stemmed by the language of the first passage: any of
// the words, ordered by ts_rank_cd.
func fullText(ctx context.Context, url string, s Set) ([][]string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	configuration := configurations[s.Passages[0].Language]
	if configuration == "" {
		configuration = "simple"
	}
	if _, err := conn.Exec(ctx, `create temp table plain as select d.filename, to_tsvector($1::text::regconfig, c.content) as words
		from document_chunks c join documents d on d.id = c.document_id and d.client_id = c.client_id`, configuration); err != nil {
		return nil, fmt.Errorf("full text of Postgres: %w", err)
	}
	rankings := make([][]string, len(s.Questions))
	for i, q := range s.Questions {
		rows, err := conn.Query(ctx, `select p.filename
			from plain p, (select replace(plainto_tsquery($1::text::regconfig, $2)::text, ' & ', ' | ')::tsquery) q(any_word)
			where p.words @@ q.any_word order by ts_rank_cd(p.words, q.any_word) desc, p.filename limit $3`,
			configuration, q.Text, depth)
		if err != nil {
			return nil, fmt.Errorf("full text of Postgres: %w", err)
		}
		if rankings[i], err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return nil, fmt.Errorf("full text of Postgres: %w", err)
		}
	}
	return rankings, nil
}
