package chdb

import (
	"regexp"
	"strconv"
	"strings"
)

// Error is an exception of the engine, such as
//
//	Code: 60. DB::Exception: Unknown table expression identifier 't' in scope SELECT 1 FROM t. (UNKNOWN_TABLE)
type Error struct {
	Code int    // ClickHouse's error code; CodeUnknown when the engine gave none
	Text string // the whole text as the engine wrote it, "Code: …" included, without the version
}

// Codes that this program itself gives or tells apart.
const (
	CodeBadArguments = 36
	CodeCancelled    = 394
	CodeUnknown      = 1002
)

func (e *Error) Error() string { return e.Text }

var (
	codePrefix    = regexp.MustCompile(`^Code: (\d+)\. `)
	versionSuffix = regexp.MustCompile(` \(version [0-9.]+( \([a-z ]+\))?\)\s*$`)
)

// notStreamable is how the engine says that it parsed a statement and will not
// run it as a stream: everything but a SELECT. Nothing was executed then.
const notStreamable = "Streaming query is not supported for query"

// NotStreamable reports whether the statement has to be run by Conn.Query.
func (e *Error) NotStreamable() bool {
	return e.Code == CodeBadArguments && strings.Contains(e.Text, notStreamable)
}

// parseError reads the engine's text. Some of its paths add their version, which
// is cut so that one exception reads the same on every path.
func parseError(text string) *Error {
	text = strings.TrimRight(versionSuffix.ReplaceAllString(text, ""), " \n")
	if m := codePrefix.FindStringSubmatch(text); m != nil {
		if code, err := strconv.Atoi(m[1]); err == nil {
			return &Error{Code: code, Text: text}
		}
	}
	return &Error{Code: CodeUnknown, Text: "Code: 1002. DB::Exception: " + text + ". (UNKNOWN_EXCEPTION)"}
}
