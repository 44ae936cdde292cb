package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"sextant/internal/chdb"
)

// Codes of ClickHouse that the front itself answers with or treats apart.
const (
	codeBadArguments     = 36
	codeNotImplemented   = 48
	codeUnknownTable     = 60
	codeSyntaxError      = 62
	codeUnknownQueryType = 78
	codeUnknownDatabase  = 81
	codeTimeout          = 159
	codeReadOnly         = 164
	codeRequiredPassword = 194
	codeTooManyQueries   = 202
	codeNoFreeConnection = 203
	codeTooLarge         = 396
	codeIntoOutfile      = 358
	codeCannotDecompress = 271
	codeCancelled        = chdb.CodeCancelled
	codeAccessDenied     = 497
	codeAuthentication   = 516
	codeUnknown          = chdb.CodeUnknown
)

var names = map[int]string{
	codeBadArguments:     "BAD_ARGUMENTS",
	codeNotImplemented:   "NOT_IMPLEMENTED",
	codeSyntaxError:      "SYNTAX_ERROR",
	codeUnknownQueryType: "UNKNOWN_TYPE_OF_QUERY",
	codeRequiredPassword: "REQUIRED_PASSWORD",
	codeTooManyQueries:   "TOO_MANY_SIMULTANEOUS_QUERIES",
	codeNoFreeConnection: "NO_FREE_CONNECTION",
	codeTooLarge:         "TOO_MANY_ROWS_OR_BYTES",
	codeIntoOutfile:      "INTO_OUTFILE_NOT_ALLOWED",
	codeCannotDecompress: "CANNOT_DECOMPRESS",
	codeCancelled:        "QUERY_WAS_CANCELLED",
	codeAccessDenied:     "ACCESS_DENIED",
	codeAuthentication:   "AUTHENTICATION_FAILED",
	codeUnknown:          "UNKNOWN_EXCEPTION",
}

// fail is an exception of the front in the form of the engine's.
func fail(code int, message string, args ...any) *chdb.Error {
	return &chdb.Error{Code: code, Text: fmt.Sprintf("Code: %d. DB::Exception: %s. (%s)", code, fmt.Sprintf(message, args...), names[code])}
}

// exception makes any error one of ClickHouse's.
func exception(err error) *chdb.Error {
	var e *chdb.Error
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &large):
		return fail(codeTooLarge, "The request's body has more than %d bytes", large.Limit)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fail(codeCancelled, "Query was cancelled")
	}
	return fail(codeUnknown, "%v", err)
}

// status is the HTTP status for an exception, as a server maps them.
func status(code int) int {
	switch code {
	case codeRequiredPassword:
		return http.StatusUnauthorized
	case codeAuthentication, codeReadOnly, codeAccessDenied:
		return http.StatusForbidden
	case codeUnknownTable, 46, 47, codeUnknownDatabase: // unknown function, identifier
		return http.StatusNotFound
	case 6, 27, 38, 41, 53, 72, 115, codeBadArguments, codeSyntaxError, codeUnknownQueryType, codeIntoOutfile: // text that does not parse, unknown setting
		return http.StatusBadRequest
	case codeTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeNotImplemented:
		return http.StatusNotImplemented
	case codeTimeout:
		return http.StatusRequestTimeout
	case codeTooManyQueries, codeNoFreeConnection:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
