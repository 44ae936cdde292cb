package clickhouse

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"sextant/internal/chdb"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ping":
		io.WriteString(w, "Ok.\n")
		return
	case "/", "/query":
	default:
		http.Error(w, "There is no handle "+r.URL.Path, http.StatusNotFound)
		return
	}
	q, err := parseRequest(r)
	if err != nil {
		q = &request{}
	}
	h := w.Header()
	h.Set("X-ClickHouse-Server-Display-Name", "sextant")
	h.Set("X-ClickHouse-Timezone", s.zone)
	h.Set("X-ClickHouse-Query-Id", q.id)
	o := s.newOutput(w, q)
	defer o.release()
	begun := time.Now()
	if err == nil {
		err = s.answer(r, q, o)
	}
	if err == nil {
		err = o.finish()
	}
	s.metrics.observe(err, o.stats, time.Since(begun))
	if err != nil {
		e := exception(err)
		s.cfg.Logger.Debug("clickhouse: statement failed", slog.String("query_id", q.id), slog.Int("code", e.Code), slog.String("err", e.Text))
		// A client that still sends its body would not see an answer before the
		// connection is reset: what is left of the body is read, within bounds.
		_, _ = io.CopyN(io.Discard, r.Body, maxDrain)
		o.fail(e)
	}
}

// maxDrain is how much of a body is read for nothing.
const maxDrain = 64 << 20

// answer runs the request's statement in a session of its own.
func (s *Server) answer(r *http.Request, q *request, o *output) error {
	if err := local(r); err != nil {
		return err
	}
	if err := s.authenticate(r); err != nil {
		return err
	}
	if r.Method == http.MethodGet && q.query == "" {
		q.format = "TabSeparated"
		o.open(q.format)
		_, err := io.WriteString(o, "Ok.\n")
		return err
	}
	ctx := r.Context()
	if err := s.slots.acquire(ctx); err != nil {
		return err
	}
	defer s.slots.release()
	conn, err := s.engine.Connect(q.settings...)
	if err != nil {
		return err
	}
	defer conn.Close()
	if q.database != "" {
		if err := conn.Exec(ctx, "USE "+quoteName(q.database)); err != nil {
			return err
		}
	}
	body, done, err := q.body(o.w, r, s.cfg.MaxBody)
	if err != nil {
		return err
	}
	defer done()
	if q.tables != "" {
		if body, err = q.externalTables(ctx, conn, body, r.URL.Query()); err != nil {
			return err
		}
	}
	return s.run(ctx, &session{conn: conn, q: q, body: body}, o)
}

// quoteName makes s an identifier of SQL.
func quoteName(s string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(s) + "`"
}

// session is one request at work.
type session struct {
	conn *chdb.Conn
	q    *request
	body io.Reader
}

func (s *Server) run(ctx context.Context, x *session, o *output) error {
	limit := x.q.maxQuery()
	text, complete, err := x.q.sql(x.body, limit)
	if err != nil {
		return err
	}
	if x.q.hello(text) {
		o.open("Native")
		b, err := s.helloBlock(x.q.revision)
		if err != nil {
			return err
		}
		_, err = o.Write(b)
		return err
	}
	st := split(text)
	switch {
	case st.empty && complete:
		return fail(codeSyntaxError, "Empty query")
	case st.file:
		return fail(codeIntoOutfile, "INTO OUTFILE and FROM INFILE are not allowed")
	case st.insert:
		return x.insert(ctx, text, st, o)
	case !complete:
		return fail(codeSyntaxError, "Syntax error: failed at position %d: Max query size exceeded (can be increased with the `max_query_size` setting)", limit)
	case st.input:
		return fail(codeNotImplemented, "INSERT SELECT from input() does not work in the embedded ClickHouse: insert the data itself, or into a table with a materialized view")
	case st.many:
		return fail(codeSyntaxError, "Syntax error (Multi-statements are not allowed): failed at position %d", st.data)
	}
	return s.statement(ctx, x, text, st, o)
}

// insert moves the data from the body to the engine in chunks; nothing holds it whole.
func (x *session) insert(ctx context.Context, text string, st statement, o *output) error {
	in, err := x.conn.Insert(ctx, st.head, st.format, x.q.params...)
	if err != nil {
		return err
	}
	defer in.Close()
	o.stats, err = pump(in, []byte(text[st.data:]), x.body)
	return err
}

// pump gives an insert the first bytes and then all of body, and ends it. When
// body fails, the caller's Close cancels the insert: data that was cut must not
// end like complete data.
func pump(in *chdb.Insert, first []byte, body io.Reader) (chdb.Stats, error) {
	ok := in.Append(first)
	chunk := chunks.Get().(*[chunkSize]byte)
	defer chunks.Put(chunk)
	for more := true; ok && more; {
		n, err := io.ReadFull(body, chunk[:])
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			more = false
		default:
			return chdb.Stats{}, err
		}
		ok = in.Append(chunk[:n])
	}
	return in.Done()
}

// statement runs anything else and sends its result.
func (s *Server) statement(ctx context.Context, x *session, text string, st statement, o *output) error {
	name := st.format
	if name == "" {
		name = x.q.format
	}
	o.open(name)
	if x.q.waitEnd {
		o.limit, o.strict = int(s.cfg.MaxBuffered), true
	}
	if x.q.streams(name) {
		err := x.stream(ctx, text, o)
		if e := (*chdb.Error)(nil); !errors.As(err, &e) || !e.NotStreamable() {
			return err
		}
	}
	r, err := x.conn.Query(ctx, text, x.q.format, x.q.params...)
	if err != nil {
		return err
	}
	defer r.Close()
	o.stats = r.Stats()
	if n := len(r.Bytes()); n > int(s.cfg.MaxBuffered) {
		return fail(codeTooLarge, "The answer has %d bytes, more than the %d that format %s may take in memory", n, s.cfg.MaxBuffered, name)
	}
	_, err = o.Write(r.Bytes())
	return err
}

func (x *session) stream(ctx context.Context, text string, o *output) error {
	r, err := x.conn.Stream(ctx, text, x.q.format, x.q.params...)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		o.stats = r.Stats()
		if err != nil || b == nil {
			return err
		}
		if _, err := o.Write(b); err != nil {
			return err
		}
		o.flush()
	}
}
