// Package statapi answers GET /v1/quality: how the values of features were.
package statapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"sextant/features"
	"sextant/features/statistics"
	"sextant/internal/access"
	"sextant/internal/httpserve"
)

// Source knows what was measured.
type Source interface {
	Quality(ctx context.Context, q statistics.Question) ([]statistics.Feature, error)
	QualityHours(ctx context.Context, q statistics.Question) ([]statistics.Hour, error)
}

// Limits of a question.
const (
	byDefault = 24 * time.Hour
	longest   = 32 * 24 * time.Hour
)

// Options of the handler. All but Set may be left out.
type Options struct {
	Set        *features.Set
	Thresholds statistics.Thresholds
	Access     *access.Gate // who may ask; nil lets everybody
	Now        func() time.Time
	Log        *slog.Logger
}

// answer is the body.
type answer struct {
	From     time.Time            `json:"from"`
	To       time.Time            `json:"to"`
	Features []statistics.Feature `json:"features"`
	Hours    []statistics.Hour    `json:"hours,omitempty"` // of one feature
}

// New answers GET /v1/quality. view is a name, which is its newest version, or name@v1; feature is
// one of it; from and to are RFC 3339. Without them it is all features over the last day.
func New(src Source, o Options) *httpserve.Mux {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	no := func(w http.ResponseWriter, _ *http.Request, status int, why string) {
		httpserve.AnswerError(w, status, why)
	}
	mux := httpserve.NewMux(no)
	mux.Route("/v1/quality", o.Access.Whole(access.Read, no)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, status, err := o.question(r)
		if err != nil {
			httpserve.AnswerError(w, status, err.Error())
			return
		}
		a, err := o.ask(r.Context(), src, q)
		if err != nil {
			o.Log.Error("quality of features", "err", err)
			httpserve.AnswerError(w, http.StatusServiceUnavailable, "the store does not answer: see the log of the server")
			return
		}
		httpserve.Answer(w, http.StatusOK, a)
	})), http.MethodGet)
	return mux
}

// question reads the parameters; its int is the status of its error.
func (o *Options) question(r *http.Request) (q statistics.Question, status int, err error) {
	p := r.URL.Query()
	for name := range p {
		if name != "view" && name != "feature" && name != "from" && name != "to" || len(p[name]) > 1 {
			return q, http.StatusBadRequest, fmt.Errorf("parameter %.100q: want view, feature, from and to, once each", name)
		}
	}
	if name := p.Get("view"); name != "" {
		v, ok := o.Set.View(name)
		if !ok {
			return q, http.StatusNotFound, fmt.Errorf("view: %.100q is not in force", name)
		}
		q.View = v.Ref()
		if q.Feature = p.Get("feature"); q.Feature != "" && !has(v, q.Feature) {
			return q, http.StatusNotFound, fmt.Errorf("feature: %.100q is none of %s", q.Feature, v.Ref())
		}
	} else if p.Get("feature") != "" {
		return q, http.StatusBadRequest, fmt.Errorf("feature: say of which view")
	}
	q.To = o.Now()
	for key, t := range map[string]*time.Time{"from": &q.From, "to": &q.To} {
		if text := p.Get(key); text != "" {
			if *t, err = time.Parse(time.RFC3339, text); err != nil {
				return q, http.StatusBadRequest, fmt.Errorf("%s: %.100q is not RFC 3339 with a zone", key, text)
			}
		}
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-byDefault)
	}
	if d := q.To.Sub(q.From); d <= 0 || d > longest || q.From.Unix() < 0 || q.To.Year() > 2100 {
		return q, http.StatusBadRequest, fmt.Errorf("from, to: want up to %d days, from before to", int(longest.Hours()/24))
	}
	return q, 0, nil
}

func has(v *features.View, feature string) bool {
	for i := range v.Features {
		if v.Features[i].Name == feature {
			return true
		}
	}
	return false
}

func (o *Options) ask(ctx context.Context, src Source, q statistics.Question) (a answer, err error) {
	a.From, a.To = q.From.UTC(), q.To.UTC()
	if a.Features, err = src.Quality(ctx, q); err != nil {
		return a, err
	}
	for i := range a.Features {
		o.Thresholds.Judge(&a.Features[i], o.Now())
	}
	if a.Features == nil {
		a.Features = []statistics.Feature{}
	}
	if q.Feature != "" {
		a.Hours, err = src.QualityHours(ctx, q)
	}
	return a, err
}
