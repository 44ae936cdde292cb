package clickhouse

import "strings"

// statement is what the front has to know of a request's SQL.
type statement struct {
	// An INSERT with data after it: head is the statement without FORMAT, and the
	// data, in format, begins at text[data:].
	insert bool
	head   string
	data   int

	format string // INSERT: of the data; otherwise what a trailing FORMAT asks for, "" if none
	many   bool   // more than one statement; the second begins at text[data:]
	file   bool   // INTO OUTFILE or FROM INFILE, which would be this machine's files
	empty  bool   // nothing but comments
	input  bool   // INSERT … SELECT … FROM input(…), whose data the library drops without a word
}

// split reads text, the beginning of a request's SQL and perhaps of its data.
func split(text string) statement {
	l := &lexer{text: text}
	if s, ok := l.insert(); ok {
		return s
	}
	l.at = 0
	return l.other()
}

// insert reads INSERT INTO [TABLE] [FUNCTION] name … {VALUES | FORMAT name}.
func (l *lexer) insert() (statement, bool) {
	if t, ok := l.next(); !ok || !l.is(t, "INSERT") {
		return statement{}, false
	}
	t, ok := l.next()
	for ok && (l.is(t, "INTO") || l.is(t, "TABLE") || l.is(t, "FUNCTION")) {
		t, ok = l.next()
	}
	// t is the table's name, whatever word it is; it may go on behind dots.
	depth, settings, dot := 0, false, false
	for t, ok = l.next(); ok; t, ok = l.next() {
		switch c := l.text[t.begin]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth > 0 || dot:
		case c == ';' || l.is(t, "SELECT") || l.is(t, "WITH") || l.is(t, "WATCH") || l.is(t, "FROM"):
			return statement{}, false
		case l.is(t, "SETTINGS"):
			settings = true
		case l.is(t, "VALUES"):
			return statement{insert: true, head: l.text[:t.begin], format: "Values", data: t.end}, true
		case l.is(t, "FORMAT"):
			return l.insertFormat(t, settings)
		}
		dot = l.text[t.begin] == '.'
	}
	return statement{}, false
}

// insertFormat reads the format's name behind FORMAT, SETTINGS if the statement
// had none before, and then where the data begins: behind the first line break if
// only blanks come before it, else at the first byte that is not blank.
func (l *lexer) insertFormat(format token, settings bool) (statement, bool) {
	name, ok := l.next()
	if !ok || !name.ident {
		return statement{}, false
	}
	s := statement{insert: true, head: l.text[:format.begin], format: strings.Trim(l.text[name.begin:name.end], "`\""), data: name.end}
	if !settings {
		if t, ok := l.next(); ok && l.is(t, "SETTINGS") {
			end := l.settings()
			s.head += l.text[t.begin:end] + " "
			s.data = end
		}
	}
	for s.data < len(l.text) && strings.IndexByte(" \t\f", l.text[s.data]) >= 0 {
		s.data++
	}
	if strings.HasPrefix(l.text[s.data:], "\r\n") {
		s.data++
	}
	if strings.HasPrefix(l.text[s.data:], "\n") {
		s.data++
	}
	return s, true
}

// settings reads name = value [, …] and gives where it ends.
func (l *lexer) settings() int {
	end := l.at
	for {
		name, ok := l.next()
		if !ok || !name.ident {
			return end
		}
		if eq, ok := l.next(); !ok || l.text[eq.begin] != '=' {
			return end
		}
		value, ok := l.next()
		if ok && strings.IndexByte("+-", l.text[value.begin]) >= 0 {
			value, ok = l.next()
		}
		if !ok {
			return end
		}
		end = value.end
		// A number's fraction is a token of its own here.
		for end+1 < len(l.text) && l.text[end] == '.' && isWord(l.text[end+1]) {
			l.at = end + 1
			value, _ = l.next()
			end = value.end
		}
		l.at = end
		if comma, ok := l.next(); !ok || l.text[comma.begin] != ',' {
			return end
		}
	}
}

// other reads any statement but an INSERT with data.
func (l *lexer) other() statement {
	s := statement{empty: true}
	var before token // t's neighbour
	var last token   // the token before t, at depth 0
	depth, ended, settled, inserts := 0, false, false, false
	for t, ok := l.next(); ok; t, ok = l.next() {
		c := l.text[t.begin]
		inserts = inserts || depth == 0 && l.is(t, "INSERT")
		s.input = s.input || inserts && c == '(' && l.is(before, "INPUT")
		before = t
		s.empty = s.empty && c == ';'
		if ended && c != ';' {
			s.many, s.data = true, t.begin
			return s
		}
		switch {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		if depth > 0 {
			continue
		}
		switch {
		case c == ';':
			ended = true
		case l.is(last, "FORMAT") && t.ident:
			s.format, settled = strings.Trim(l.text[t.begin:t.end], "`\""), false
		case l.is(last, "INTO") && l.is(t, "OUTFILE"), l.is(last, "FROM") && l.is(t, "INFILE"):
			s.file = true
		case l.is(t, "SETTINGS"):
			settled = true
		case !settled:
			s.format = "" // it was not the trailing FORMAT
		}
		last = t
	}
	return s
}
