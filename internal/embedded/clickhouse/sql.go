package clickhouse

import "strings"

// token is a piece of SQL: text[begin:end].
type token struct {
	begin, end int
	word       bool // a bare identifier or keyword
	ident      bool // word, or a quoted identifier
}

// lexer walks SQL as far as it must to find where a statement's data begins and
// which format it asks for. It knows comments, literals and quoted names, so that
// no keyword is seen inside of one; the engine's parser does the rest.
type lexer struct {
	text string
	at   int
}

// next gives the next token that is not white space or a comment; false at the end.
func (l *lexer) next() (token, bool) {
	l.skip()
	if l.at >= len(l.text) {
		return token{}, false
	}
	t := token{begin: l.at}
	switch c := l.text[l.at]; {
	case c == '\'':
		l.quoted(c)
	case c == '"' || c == '`':
		t.ident = true
		l.quoted(c)
	case c == '$' && l.heredoc():
	case isWord(c):
		for l.at < len(l.text) && isWord(l.text[l.at]) {
			l.at++
		}
		t.word, t.ident = true, true
	default:
		l.at++
	}
	t.end = l.at
	return t, true
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (l *lexer) skip() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "#!") || strings.HasPrefix(rest, "# "):
			l.until("\n", 0)
		case strings.HasPrefix(rest, "/*"):
			l.until("*/", 2)
		default:
			return
		}
	}
}

// until moves behind the next end mark that comes after the first from bytes, or to the end.
func (l *lexer) until(mark string, from int) {
	i := strings.Index(l.text[l.at+from:], mark)
	if i < 0 {
		l.at = len(l.text)
		return
	}
	l.at += from + i + len(mark)
}

// quoted moves behind a literal; a backslash escapes the next byte. A doubled
// quote reads as two literals side by side, which comes to the same.
func (l *lexer) quoted(quote byte) {
	for l.at++; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case '\\':
			l.at++
		case quote:
			l.at++
			return
		}
	}
	l.at = len(l.text)
}

// heredoc moves behind $tag$ … $tag$; false when there is none here.
func (l *lexer) heredoc() bool {
	end := l.at + 1
	for end < len(l.text) && l.text[end] != '$' && isWord(l.text[end]) {
		end++
	}
	if end >= len(l.text) || l.text[end] != '$' {
		return false
	}
	tag := l.text[l.at : end+1]
	if !strings.Contains(l.text[end+1:], tag) {
		return false
	}
	l.until(tag, len(tag))
	return true
}

// is reports whether t is this keyword, which is given in capitals.
func (l *lexer) is(t token, keyword string) bool {
	return t.word && strings.EqualFold(l.text[t.begin:t.end], keyword)
}
