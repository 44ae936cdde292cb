package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"sextant/features"
	"sextant/internal/access"
	"sextant/internal/httpserve"
)

// HTTPOptions of the handler. All but Set and MaxBody may be left out.
type HTTPOptions struct {
	Set         *features.Set
	MaxBody     int64        // bytes of labels, kept in a file of the temporary folder while they are read
	Concurrency int          // sets at once; others are refused until one is done; 1
	Access      *access.Gate // who may ask; nil lets everybody
	Log         *slog.Logger
}

// server answers requests.
type server struct {
	HTTPOptions
	src   Source
	slots chan struct{}
}

// Path is that of the handler.
const Path = "/v1/training-set"

// headers and the trailer of an answer.
const (
	CutoffHeader = "Sextant-Cutoff" // Spec.Cutoff
	RowsTrailer  = "Sextant-Rows"   // rows of the answer, which is whole where it is there
)

// NewHandler answers POST to Path: the body is the labels, the answer is the set.
// All labels are read before the first row is answered, so that a bad one is a 400.
func NewHandler(src Source, o HTTPOptions) (*httpserve.Mux, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	s := &server{o, src, make(chan struct{}, max(o.Concurrency, 1))}
	deny := func(w http.ResponseWriter, _ *http.Request, status int, why string) {
		httpserve.AnswerError(w, status, why)
	}
	mux := httpserve.NewMux(deny)
	mux.Route(Path, o.Access.WholeUntimed(access.Read, deny)(http.HandlerFunc(s.serve)), http.MethodPost)
	return mux, nil
}

// refusal is an error with the status to answer.
type refusal struct {
	status int
	error
}

func bad(err error) error { return refusal{http.StatusBadRequest, err} }

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		w.Header().Set("Retry-After", "10")
		httpserve.AnswerError(w, http.StatusServiceUnavailable, "another training set is being built")
		return
	}
	began, err := s.answer(w, r)
	var no refusal
	switch {
	case err == nil:
	case began: // only a broken connection tells the client that the rest is missing
		s.Log.Error("training set broken off", "err", err)
		panic(http.ErrAbortHandler)
	case errors.As(err, &no):
		httpserve.AnswerError(w, no.status, no.Error())
	default:
		s.Log.Error("training set failed", "err", err)
		w.Header().Set("Retry-After", "10")
		httpserve.AnswerError(w, http.StatusServiceUnavailable, "the store does not answer: see the log of the server")
	}
}

// answer says whether it has begun to write rows.
func (s *server) answer(w http.ResponseWriter, r *http.Request) (began bool, err error) {
	query := r.URL.Query()
	if err := onlyParameters(query); err != nil {
		return false, bad(err)
	}
	spec, err := SpecOf(s.Set, query.Get)
	if err != nil {
		return false, bad(err)
	}
	in, err := byMedia(r.Header.Get("Content-Type"), nil)
	if err != nil {
		return false, refusal{http.StatusUnsupportedMediaType, fmt.Errorf("content-type: %w", err)}
	}
	out, err := byMedia(r.Header.Get("Accept"), Formats[0])
	if err != nil {
		return false, refusal{http.StatusNotAcceptable, fmt.Errorf("accept: %w", err)}
	}
	f, err := s.keep(w, r)
	if err != nil {
		return false, err
	}
	defer f.Close()
	set, err := check(r.Context(), in, f, spec)
	if err != nil {
		return false, bad(err)
	}
	return s.build(w, r, &building{set, in, out, f})
}

// onlyParameters refuses parameters that are none, or twice there: a misspelt one would be
// left out silently.
func onlyParameters(query url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(Parameters, name):
			return fmt.Errorf("%.100q is no parameter: want %s", name, strings.Join(Parameters, ", "))
		case len(query[name]) > 1:
			return fmt.Errorf("%s: is there %d times", name, len(query[name]))
		case query[name][0] == "":
			return fmt.Errorf("%s: is empty", name)
		}
	}
	return nil
}

// building is a request that can be answered.
type building struct {
	set     *Set
	in, out *Format
	labels  File
}

func (s *server) build(w http.ResponseWriter, r *http.Request, b *building) (began bool, err error) {
	labels, err := b.in.Open(r.Context(), b.labels)
	if err != nil {
		return false, err
	}
	defer labels.Release()
	h := w.Header()
	h.Set("Content-Type", b.out.Media)
	h.Set(CutoffHeader, b.set.spec.Cutoff())
	h.Set("Trailer", RowsTrailer)
	lazy := &lazyWriter{f: b.out, to: &countedWriter{w: w}, schema: b.set.Schema()}
	sum, err := b.set.Build(r.Context(), s.src, labels, lazy)
	if err == nil {
		err = lazy.Close()
	}
	h.Set(RowsTrailer, strconv.FormatInt(sum.Rows, 10))
	return lazy.to.began, err
}

// check reads all labels once.
func check(ctx context.Context, in *Format, f File, spec Spec) (*Set, error) {
	labels, err := in.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	defer labels.Release()
	set, err := New(spec, labels.Schema())
	if err != nil {
		return nil, err
	}
	_, err = set.Check(labels)
	return set, err
}

// keep writes the body to a file that is gone when it is closed.
func (s *server) keep(w http.ResponseWriter, r *http.Request) (*os.File, error) {
	// The listener's limit of a minute is made for small requests.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Hour)) // not every writer has one
	f, err := os.CreateTemp("", "sextant-labels-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = io.Copy(f, http.MaxBytesReader(w, r.Body, s.MaxBody))
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		err = refusal{http.StatusRequestEntityTooLarge, fmt.Errorf("labels: larger than %d bytes", s.MaxBody)}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// byMedia finds a format by media type; a client to which all is right gets other.
func byMedia(header string, other *Format) (*Format, error) {
	var known []string
	for _, part := range strings.Split(header, ",") {
		media, _, err := mime.ParseMediaType(part)
		for _, f := range Formats {
			if err == nil && media == f.Media {
				return f, nil
			}
		}
		if other != nil && (header == "" || media == "*/*") {
			return other, nil
		}
	}
	for _, f := range Formats {
		known = append(known, f.Media)
	}
	return nil, fmt.Errorf("%.100q: want one of %s", header, strings.Join(known, ", "))
}

// lazyWriter begins the table with its first rows, so that an error before them can still be
// answered with a status.
type lazyWriter struct {
	f      *Format
	to     *countedWriter
	schema *arrow.Schema
	w      Writer
}

func (l *lazyWriter) open() (err error) {
	if l.w == nil {
		l.w, err = l.f.Create(l.to, l.schema)
	}
	return err
}

func (l *lazyWriter) Write(b arrow.RecordBatch) error {
	if err := l.open(); err != nil {
		return err
	}
	return l.w.Write(b)
}

func (l *lazyWriter) Close() error {
	if err := l.open(); err != nil {
		return err
	}
	return l.w.Close()
}

// countedWriter knows whether anything was written. It hides the other methods of a
// ResponseWriter: Parquet's writer closes what can be closed.
type countedWriter struct {
	w     io.Writer
	began bool
}

func (c *countedWriter) Write(p []byte) (int, error) {
	c.began = true
	return c.w.Write(p)
}
