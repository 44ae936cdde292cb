package clickhouse

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"sextant/internal/chdb"
)

// request is what a client asks for besides the statement's text, which is the
// URL's query parameter followed by the body.
type request struct {
	id       string // query_id, or a new one
	query    string // of the URL
	database string
	format   string // default_format
	params   []chdb.Param
	settings []chdb.Setting

	encoding  string // Content-Encoding of the body
	inFrames  bool   // decompress=1: the body is ClickHouse's compressed frames
	outFrames bool   // compress=1: the answer shall be
	waitEnd   bool   // wait_end_of_query=1: no byte before the statement has ended
	buffer    int    // bytes that are held back in the hope of an error with a proper status
	revision  int    // client_protocol_version
	tables    string // boundary of a multipart body with external tables
	accept    string // Accept-Encoding
}

// Limits on what a client may name.
const (
	maxNames   = 1000
	maxID      = 256
	bufferSize = 1 << 20 // http_response_buffer_size of a server
)

// parseRequest reads a request's URL and headers. Parameters that mean nothing to
// the interface are settings, and the engine says if it does not know them.
func parseRequest(r *http.Request) (*request, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fail(codeBadArguments, "URL: %v", err)
	}
	if len(values) > maxNames {
		return nil, fail(codeBadArguments, "URL: %d parameters, more than %d", len(values), maxNames)
	}
	q := &request{
		format: "TabSeparated", buffer: bufferSize,
		database: r.Header.Get("X-ClickHouse-Database"), encoding: r.Header.Get("Content-Encoding"), accept: r.Header.Get("Accept-Encoding"),
	}
	if f := r.Header.Get("X-ClickHouse-Format"); f != "" {
		q.format = f
	}
	if media, p, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && media == "multipart/form-data" {
		q.tables = p["boundary"]
	}
	for name, vs := range values {
		if q.tables != "" && ofTable(name, values) {
			continue
		}
		if err := q.parameter(name, vs[len(vs)-1]); err != nil {
			return nil, err
		}
	}
	if len(q.id) > maxID {
		return nil, fail(codeBadArguments, "query_id: %d bytes, more than %d", len(q.id), maxID)
	}
	if q.id == "" {
		q.id = uuid.NewString()
	}
	if q.setting("log_comment") == "" {
		// The engine gives every statement an id of its own; the client's is found
		// in system.processes by this.
		q.settings = append(q.settings, chdb.Setting{Name: "log_comment", Value: q.id})
	}
	return q, q.readOnly(r.Method)
}

func (q *request) parameter(name, value string) error {
	on := value != "" && value != "0" && value != "false"
	switch name {
	case "query":
		q.query = value
	case "query_id":
		q.id = value
	case "database":
		q.database = value
	case "default_format":
		q.format = value
	case "compress":
		q.outFrames = on
	case "decompress":
		q.inFrames = on
	case "wait_end_of_query":
		q.waitEnd = on
	case "client_protocol_version":
		q.revision, _ = strconv.Atoi(value)
	case "buffer_size":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fail(codeBadArguments, "buffer_size: %q is not a number of bytes", value)
		}
		q.buffer = min(n, 64<<20)
	case "session_id", "session_check", "session_timeout", "close_session":
		return fail(codeNotImplemented, "%s: the embedded ClickHouse has no HTTP sessions, every request is a session of its own", name)
	case "user", "password", "quota_key", "stacktrace": // the first two are read by authenticate
	default:
		if param, ok := strings.CutPrefix(name, "param_"); ok {
			q.params = append(q.params, chdb.Param{Name: param, Value: value})
			return nil
		}
		q.settings = append(q.settings, chdb.Setting{Name: name, Value: value})
	}
	return nil
}

// readOnly makes what is not a POST unable to write, as a server does: readonly = 2
// still lets a statement change settings. It comes last, because under readonly = 1
// no other setting could follow.
func (q *request) readOnly(method string) error {
	level := ""
	rest := q.settings[:0]
	for _, s := range q.settings {
		if s.Name == "readonly" {
			level = s.Value
			continue
		}
		rest = append(rest, s)
	}
	q.settings = rest
	switch method {
	case http.MethodGet, http.MethodHead:
		if level == "" || level == "0" {
			level = "2"
		}
	case http.MethodPost:
	default:
		return fail(codeNotImplemented, "method %s is not supported", method)
	}
	if level != "" {
		q.settings = append(q.settings, chdb.Setting{Name: "readonly", Value: level})
	}
	return nil
}

// setting is the text of a setting of the URL; "" when it is not there.
func (q *request) setting(name string) string {
	for _, s := range q.settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// maxQuery is how many bytes of SQL are read before data.
func (q *request) maxQuery() int {
	n, err := strconv.Atoi(q.setting("max_query_size"))
	if err != nil || n <= 0 {
		return 256 << 10
	}
	return min(n, 64<<20)
}
