package rtf_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rtf"
)

// TestCodePages: bytes are read in the code page of their font. \fcharset0 is Windows-1252 for programs that know better
// than to give it to all fonts.
func TestCodePages(t *testing.T) {
	t.Parallel()
	const (
		times, cyrillic = `{\f0\froman\fcharset0 Times New Roman;}`, `{\f1\froman\fcharset204 Times New Roman Cyr;}`
		symbol          = `{\f2\fnil\fcharset2 Symbol;}`
	)
	for _, tt := range []struct{ what, head, fonts, body, want string }{
		{"Word in Russian", `\ansi\ansicpg1251`, times + cyrillic, `\f0 caf\'e9 \f1 \'e9\f0\'e9`, "café йé"},
		{"the default font", `\ansi\ansicpg1251\deff0`, times + cyrillic, `\'e9{\plain\'e9}{\f1\'e9}`, "ééй"},
		{"the Cyrillic font first", `\ansi\ansicpg1251`, cyrillic + times, `\f0\'e9\f1\'e9`, "éй"},
		{"WordPad in Russian", `\ansi\ansicpg1251`, times + `{\f1\fnil\fcharset0 Arial;}` + symbol, `\f0\'cf\'f0\f1\'e8\f2\'b7`, "При•"},
		{
			"charset 0 beside that of a third language", `\ansi\ansicpg1251`, times + `{\f1\fnil\fcharset161 Arial Greek;}`,
			`\f0\'cf\'f0\'e8{\f1\'e1}`, "Приα",
		},
		{"Word in English", `\ansi\ansicpg1252`, times + cyrillic, `\f0\'e9\f1\'e9`, "éй"},
		{"no code page", `\ansi`, times + cyrillic, `\f0\'e9\f1\'e9`, "éй"},
		{"the default charset", `\ansi\ansicpg1251`, times + cyrillic + `{\f3\fnil\fcharset1 Arial;}`, `\f3\'e9`, "й"},
		{"no charset", `\ansi\ansicpg1251`, times + cyrillic + `{\f3\fnil Arial;}`, `\f3\'e9`, "й"},
		{"a code page of a font", `\ansi\ansicpg1251`, times + cyrillic + `{\f3\fnil\fcharset0\cpg1253 Arial;}`, `\f3\'e1`, "α"},
		{"one of a font that has another charset", `\ansi`, `{\f0\fnil\cpg1253\fcharset204 Arial;}`, `\f0\'e1`, "α"},
		{"one before the charset", `\ansi\ansicpg1251`, times + cyrillic + `{\f3\fnil\cpg1253\fcharset0 Arial;}`, `\f3\'e1`, "α"},
		{
			"the fonts of a theme", `\ansi\ansicpg1251`, `{\flomajor\f31500\fbidi \froman\fcharset204\fprq2{\*\panose 02}Times New Roman;}` +
				`{\fhimajor\f31502\fbidi \fswiss\fcharset0\fprq2 Cambria;}`,
			`\f31502\'e9\f31500\'e9`, "éй",
		},
		{
			"Latin letters in Japanese", `\ansi\ansicpg932`, times + `{\f1\fnil\fcharset128 MS Mincho;}`,
			`\loch\af0\hich\af0\dbch\f1 \'93\'fa\hich\af0\dbch\af1\loch\f0 \'e9t\'e9\dbch\f1 \'96\'7b`, "日été本",
		},
		{"a Macintosh", `\mac`, `{\f0\fnil\fcharset77 Geneva;}{\f1\fnil\fcharset0 Arial;}`, `\f0\'8e\f1\'e9`, "éé"},
		{"the label of an item", `\ansi\ansicpg1251`, times + cyrillic, `\pard\ls1{\listtext\f1\'e9)\tab}\f0\'e9`, "- й) é"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			content := []byte(`{\rtf1` + tt.head + `{\fonttbl` + tt.fonts + `}` + tt.body + `\par}`)
			if got := nativetest.Markdown(t, rtf.New(), extract.RTF, content); got != tt.want+"\n" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
