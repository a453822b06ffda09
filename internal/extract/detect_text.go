package extract

import (
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

var (
	htmlStart = pattern.New(`(?is)^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]`)
	htmlBlock = pattern.New(`(?i)^\s*<(?:h[1-6]|p|div|table|ul|ol|title|meta|article|section|main|span|font|center|pre|br|a)[\s/>]`)
	htmlClose = pattern.New(`(?i)</(?:h[1-6]|p|div|table|ul|ol|li|td|tr|a|span|b|body|html)\s*>`)
	svgStart  = pattern.New(`(?is)^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype\s+svg[^>]*>\s*)?<svg[\s>]`)
	xmlStart  = pattern.New(`(?s)^\s*<\?xml[\s?]`)
	htmlRoot  = pattern.New(`(?i)<html[\s>]`)
	xmlRoot   = pattern.New(`(?s)^\s*(?:<!--.*?-->\s*)*(?:<!DOCTYPE\s[^>\[]*(?:\[.*?\]\s*)?>\s*)?<(?:rss|feed|FictionBook|tt|TEI|office:document|w:wordDocument|article\s[^>]*article-type|(?:topic|concept|task|reference)\s[^>]*id)[\s>=]`)
	captions  = pattern.New(`^(?:WEBVTT\s|\s*\d+[ \t]*\r?\n\d+:\d\d:\d\d[,.]\d{3}[ \t]*-->)`)
	mailField = pattern.New(`^(?:Received|Return-Path|Delivered-To|From|To|Subject|Date|Message-ID|MIME-Version|X-[\w-]+|DKIM-Signature|Content-Type):`)
	mailbox   = pattern.New(`^From \S+ [^\n]*\d\d:\d\d[^\n]*\n[!-9;-~]+:`)
	mailMust  = pattern.New(`(?mi)^(?:From|Received|Return-Path|Message-ID|MIME-Version):`)
)

// markdownMarks match Markdown markup; each may occur in a plain text by chance.
var markdownMarks = []*pattern.Pattern{
	pattern.New(`(?m)^#{1,6} \S`),
	pattern.New("(?m)^(?:```|~~~)"),
	pattern.New(`\[[^\]\n]+\]\([^)\s]+\)`),
	pattern.New(`(?m)^\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)+\|?\s*$`),
	pattern.New(`\*\*[^*\s][^*\n]*\*\*`),
	pattern.New(`(?m)^(?:[-*+]|\d+\.) \S`),
}

// detectText distinguishes the kinds of text by the first 64 KiB. An unambiguous start decides, then the
// extension, then what the text looks like.
func detectText(text, name string) Format {
	switch {
	case htmlStart.MatchString(text):
		return HTML
	case svgStart.MatchString(text):
		return Image
	case xmlStart.MatchString(text) && htmlRoot.MatchString(text[:min(len(text), 4096)]):
		return HTML
	case xmlStart.MatchString(text), xmlRoot.MatchString(text):
		return XML
	case captions.MatchString(text):
		return Text
	case mailbox.MatchString(text) && !strings.EqualFold(filepath.Ext(name), ".eml"):
		return MBOX
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd":
		return Markdown
	case ".csv", ".tsv", ".tab":
		return CSV
	case ".htm", ".html", ".xhtml":
		return HTML
	case ".eml":
		return EML
	case ".txt", ".text", ".log":
		return Text
	}
	switch {
	case isMail(text):
		return EML
	case htmlBlock.MatchString(text) && htmlClose.MatchString(text):
		return HTML
	case looksLikeMarkdown(text):
		return Markdown
	case Delimiter(text, false) != 0:
		return CSV
	}
	return Text
}

// isMail recognizes a message by its header: fields from the first line on (RFC 5322).
func isMail(text string) bool {
	header, _, found := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	return found && mailField.MatchString(header) && mailMust.MatchString(header) && strings.Count(header, "\n") >= 1
}

func looksLikeMarkdown(text string) bool {
	marks := 0
	for _, mark := range markdownMarks {
		if mark.MatchString(text) {
			marks++
		}
	}
	return marks >= 2
}
