package ooxml

import "strings"

// Comment returns a reader's comment on a document as one text, with its author and time where they are known; "" if it
// has no text.
func Comment(author, at, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return About(author, at) + text
}

// About returns what precedes the text of a comment.
func About(author, at string) string {
	var about []string
	if author != "" {
		about = append(about, "author: "+author)
	}
	if at != "" {
		about = append(about, "time: "+at)
	}
	if len(about) == 0 {
		return ""
	}
	return "[" + strings.Join(about, ", ") + "]: "
}
