package postgres_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestFirstLetters: stemmers that change the first letter of a word, if it is of ASCII, are those for which aw_marks compares every word.
func TestFirstLetters(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions}))
	var source string
	if err := conn.QueryRow(t.Context(), "select prosrc from pg_proc where proname = 'aw_marks'").Scan(&source); err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`v_whole constant text\[\] := array\[([^\]]+)\]`).FindStringSubmatch(source)
	if list == nil {
		t.Fatal("there is no list")
	}
	rows, err := conn.Query(t.Context(), `
		select c.cfgname, min(w.word), max(stem) from pg_ts_config c
		join pg_ts_config_map m on m.mapcfg = c.oid and m.maptokentype in (1, 2),
		(select chr(a) || chr(b) || chr(d) || x as word from generate_series(97, 122) a, generate_series(97, 122) b,
			generate_series(97, 122) d, unnest(array['aren', 'ating']) x) w,
		unnest(ts_lexize(m.mapdict::regdictionary, w.word)) stem
		where left(stem, 1) <> left(w.word, 1) group by 1`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var config, word, stem string
		if err := rows.Scan(&config, &word, &stem); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(list[1], "'"+config+"'") {
			t.Errorf("%s: %s becomes %s", config, word, stem)
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
}
