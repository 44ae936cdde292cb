package features

import (
	"regexp"
	"slices"
)

// TasksAt is the SQL view that SQLTasks and SQLAllTasks stand for.
const TasksAt = "tasks_at"

// SQLRead is a table or view of the store that the SQL of a view reads.
type SQLRead struct {
	Name  string   // without the database
	Words []string // the names that stand in the SELECT that reads it, those it only gives out left out
}

// SQLReads is what the SQL of the view reads, in the order of its text.
func (v *View) SQLReads() []SQLRead {
	bare, err := bareSQL(v.SQL)
	if err != nil {
		return nil // Read refuses it
	}
	var reads []SQLRead
	for _, at := range placeholder.FindAllStringIndex(bare, -1) {
		name := ""
		switch bare[at[0]:at[1]] {
		case SQLDatabase:
			name = tableName(v.SQL[at[1]:])
		case SQLTasks, SQLAllTasks:
			name = TasksAt
		}
		if name == "" {
			continue
		}
		words := wordsOf(selectAround(bare, at[0]))
		if i := slices.IndexFunc(reads, func(r SQLRead) bool { return r.Name == name }); i >= 0 {
			reads[i].Words = append(reads[i].Words, words...)
			continue
		}
		reads = append(reads, SQLRead{Name: name, Words: words})
	}
	for i := range reads {
		slices.Sort(reads[i].Words)
		reads[i].Words = slices.Compact(reads[i].Words)
	}
	return reads
}

var tableRef = regexp.MustCompile("^\\s*\\.\\s*(?:([A-Za-z_][A-Za-z0-9_]*)|`([^`]+)`|\"([^\"]+)\")")

// tableName is the name that text, which follows the database, begins with.
func tableName(text string) string {
	m := tableRef.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1] + m[2] + m[3]
}

// selectAround is the text within the innermost parentheses around a place, or all of it.
func selectAround(bare string, at int) string {
	from, depth := 0, 0
	for i := at - 1; i >= 0; i-- {
		if bare[i] == ')' {
			depth++
		} else if bare[i] == '(' {
			if depth--; depth < 0 {
				from = i + 1
				break
			}
		}
	}
	to, depth := len(bare), 0
	for i := at; i < len(bare); i++ {
		if bare[i] == '(' {
			depth++
		} else if bare[i] == ')' {
			if depth--; depth < 0 {
				to = i
				break
			}
		}
	}
	return bare[from:to]
}

// AllColumns is the word of a SELECT that takes every column.
const AllColumns = "*"

var (
	givenOut  = regexp.MustCompile(`(?i)\bAS\s+[A-Za-z_][A-Za-z0-9_]*`)
	wholeRows = regexp.MustCompile(`(?i)(?:\bSELECT(?:\s+DISTINCT)?|,)\s*(?:[A-Za-z_][A-Za-z0-9_]*\s*\.\s*)?\*`)
)

// wordsOf are the words of a text but those that AS introduces.
func wordsOf(text string) []string {
	words := sqlWord.FindAllString(givenOut.ReplaceAllString(text, " "), -1)
	if wholeRows.MatchString(text) {
		words = append(words, AllColumns)
	}
	return words
}
