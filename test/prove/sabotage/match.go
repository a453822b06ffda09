package sabotage

import (
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// lexeme is a token of a text, without what only lays it out.
type lexeme struct {
	text       string
	start, end int // in the text
}

// span is a part of a text.
type span struct{ start, end int }

// goTokens are the tokens of Go code, or of a part of it, without comments, semicolons and trailing commas: where a
// line is broken makes no difference.
func goTokens(text string) (tokens []lexeme) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			return tokens
		case token.SEMICOLON:
			continue
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(tokens); n > 0 && tokens[n-1].text == "," {
				tokens = tokens[:n-1]
			}
		}
		if literal == "" {
			literal = tok.String()
		}
		start := file.Offset(pos)
		tokens = append(tokens, lexeme{literal, start, start + len(literal)})
	}
}

// sqlLexeme is a comment, a word, or any other character that isn't white space.
var sqlLexeme = regexp.MustCompile(`--[^\n]*|\w+|\S`)

// sqlTokens are the tokens of SQL, or of a part of it, without comments. A text in quotes is several.
func sqlTokens(text string) (tokens []lexeme) {
	for _, at := range sqlLexeme.FindAllStringIndex(text, -1) {
		if t := text[at[0]:at[1]]; !strings.HasPrefix(t, "--") {
			tokens = append(tokens, lexeme{t, at[0], at[1]})
		}
	}
	return tokens
}

// sqlStatement is the longest text without a semicolon outside of comments, quotes and dollar quotes.
var sqlStatement = regexp.MustCompile(`(?s)(?:--[^\n]*|'[^']*'|\$\$.*?\$\$|[^;'])+;?`)

// sqlStatements are the statements of a file, each from its first token on.
func sqlStatements(text string) (statements []span) {
	for _, at := range sqlStatement.FindAllStringIndex(text, -1) {
		if tokens := sqlTokens(text[at[0]:at[1]]); len(tokens) > 0 {
			statements = append(statements, span{at[0] + tokens[0].start, at[1]})
		}
	}
	return statements
}

// occurrences are the parts of a text that consist of the tokens of another one.
func occurrences(in, of []lexeme) (found []span) {
	for i := 0; i+len(of) <= len(in); i++ {
		if part := in[i : i+len(of)]; same(part, of) {
			found = append(found, span{part[0].start, part[len(part)-1].end})
		}
	}
	return found
}

func same(a, b []lexeme) bool {
	return slices.EqualFunc(a, b, func(a, b lexeme) bool { return a.text == b.text })
}
