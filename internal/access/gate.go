// Package access decides who may ask a listener for what, and how much: bearer tokens and
// client certificates with scopes, rates, requests at once, deadlines. Every HTTP API of
// Sextant stands behind a Gate.
package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// rereadEvery is how often the token file is looked at, while requests come.
const rereadEvery = time.Second

// Options of a gate. The zero value lets everything through.
type Options struct {
	TokenFile  string // see readCallers; empty asks for no credential
	Limits     Limits
	Now        func() time.Time      // time.Now
	Registerer prometheus.Registerer // nil registers nothing
	Log        *slog.Logger          // slog.Default; takes a line for each request that is denied
}

// Gate is what stands before the handlers of a listener. A nil gate lets everything through.
type Gate struct {
	opts    Options
	callers atomic.Pointer[callers] // nil: no credential is asked for
	looked  atomic.Int64            // unix ns of the last look at the file
	seen    atomic.Pointer[version] // of the file
	open    *meter                  // of all callers together, where none is known
	places  chan struct{}           // nil: any number of requests at once
	denied  *prometheus.CounterVec
}

// version tells two contents of a file apart.
type version struct {
	changed time.Time
	size    int64
}

// NewGate reads the token file. It is read again when it changes; one that is wrong by then
// leaves the callers as they were.
func NewGate(o Options) (*Gate, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	g := &Gate{opts: o, open: newMeter(o.Limits.Rate), denied: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sextant_access_denied_total", Help: "Requests that were not let through, by HTTP status.",
	}, []string{"code"})}
	if o.Limits.Concurrency > 0 {
		g.places = make(chan struct{}, o.Limits.Concurrency)
	}
	if o.TokenFile != "" {
		if err := g.read(); err != nil {
			return nil, fmt.Errorf("read token: %w", err)
		}
	}
	if o.Registerer == nil {
		return g, nil
	}
	if err := o.Registerer.Register(g.denied); err != nil {
		return nil, fmt.Errorf("access metrics: %w", err)
	}
	return g, nil
}

func (g *Gate) read() error {
	st, err := os.Stat(g.opts.TokenFile)
	if err != nil {
		return err
	}
	g.looked.Store(g.opts.Now().UnixNano())
	g.seen.Store(&version{st.ModTime(), st.Size()})
	cs, err := readCallers(g.opts.TokenFile, g.opts.Limits.Rate)
	if err != nil {
		return err
	}
	g.callers.Store(cs)
	return nil
}

// refresh reads the file again if it changed. One request in a second looks.
func (g *Gate) refresh(now time.Time) {
	last := g.looked.Load()
	if g.opts.TokenFile == "" || now.UnixNano()-last < int64(rereadEvery) || !g.looked.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	st, err := os.Stat(g.opts.TokenFile)
	if err == nil && *g.seen.Load() == (version{st.ModTime(), st.Size()}) {
		return
	}
	if err == nil {
		err = g.read()
	}
	if err != nil {
		g.opts.Log.Error("token file cannot be read again; its callers stay as they were", "err", err)
		return
	}
	g.opts.Log.Info("token file read again", "file", g.opts.TokenFile)
}

// Refuse answers a request that is not let through.
type Refuse func(w http.ResponseWriter, r *http.Request, status int, why string)

// Guard is the middleware of paths that need an action. A caller that may do it on some
// names only passes: the handler asks CallerOf for the name, and Deny answers. Whole is
// for handlers that do not ask.
func (g *Gate) Guard(action string, refuse Refuse) func(http.Handler) http.Handler {
	return g.guard(func(c *Caller) bool { return c.some(action) }, action, refuse)
}

// Whole is Guard where the action on some names is not enough.
func (g *Gate) Whole(action string, refuse Refuse) func(http.Handler) http.Handler {
	return g.guard(func(c *Caller) bool { return c.May(Scope{Action: action}) }, action, refuse)
}

// WholeUntimed is Whole without the deadline, for answers whose size is the caller's to
// choose.
func (g *Gate) WholeUntimed(action string, refuse Refuse) func(http.Handler) http.Handler {
	if g == nil {
		return g.Whole(action, refuse)
	}
	return g.timed(0, func(c *Caller) bool { return c.May(Scope{Action: action}) }, action, refuse)
}

// Untimed is Guard without the deadline, for answers that go on until the client leaves.
func (g *Gate) Untimed(action string, refuse Refuse) func(http.Handler) http.Handler {
	if g == nil {
		return g.Guard(action, refuse)
	}
	return g.timed(0, func(c *Caller) bool { return c.some(action) }, action, refuse)
}

func (g *Gate) guard(may func(*Caller) bool, action string, refuse Refuse) func(http.Handler) http.Handler {
	if g == nil {
		return func(next http.Handler) http.Handler { return next }
	}
	return g.timed(g.opts.Limits.Timeout.D(), may, action, refuse)
}

// timed guards, and ends requests after limit; 0: never.
func (g *Gate) timed(limit time.Duration, may func(*Caller) bool, action string, refuse Refuse) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			now := g.opts.Now()
			g.refresh(now)
			caller, why := g.identify(r)
			if why != "" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="sextant"`)
				g.deny(w, r, caller, refuse, http.StatusUnauthorized, why)
				return
			}
			if !may(caller) {
				g.deny(w, r, caller, refuse, http.StatusForbidden, "the caller has no scope "+action)
				return
			}
			if wait := g.meterOf(caller).take(now); wait > 0 {
				retryAfter(w, wait)
				g.deny(w, r, caller, refuse, http.StatusTooManyRequests, "more requests than the caller's rate")
				return
			}
			if !g.enter() {
				retryAfter(w, time.Second)
				g.deny(w, r, caller, refuse, http.StatusServiceUnavailable, "too many requests at once")
				return
			}
			defer g.leave()
			g.serve(w, r, caller, limit, next)
		})
	}
}

// serve hands the request on with its caller, and with a deadline that a client which does
// not read keeps, too.
func (g *Gate) serve(w http.ResponseWriter, r *http.Request, caller *Caller, d time.Duration, next http.Handler) {
	ctx := r.Context()
	if caller != nil {
		ctx = context.WithValue(ctx, callerKey{}, caller)
	}
	if d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
		rc := http.NewResponseController(w)
		if rc.SetWriteDeadline(time.Now().Add(d)) == nil { // the connection's clock is the kernel's
			// The connection outlives the request.
			defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
		}
	}
	if ctx != r.Context() {
		r = r.WithContext(ctx)
	}
	next.ServeHTTP(w, r)
}

// identify finds the caller, or says what is missing.
func (g *Gate) identify(r *http.Request) (*Caller, string) {
	cs := g.callers.Load()
	if cs == nil {
		return nil, ""
	}
	scheme, token, given := strings.Cut(r.Header.Get("Authorization"), " ")
	if given && strings.EqualFold(scheme, "Bearer") {
		// The look-up is by the hash, so its time tells nothing of any token.
		if c, ok := cs.byToken[sha256.Sum256([]byte(token))]; ok {
			return c, ""
		}
		return nil, "the token is not known: want the header Authorization: Bearer TOKEN"
	}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		if c, ok := cs.byName[r.TLS.VerifiedChains[0][0].Subject.CommonName]; ok {
			return c, ""
		}
	}
	return nil, "want the header Authorization: Bearer TOKEN"
}

func (g *Gate) meterOf(c *Caller) *meter {
	if c == nil {
		return g.open
	}
	return c.meter
}

func (g *Gate) enter() bool {
	if g.places == nil {
		return true
	}
	select {
	case g.places <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g *Gate) leave() {
	if g.places != nil {
		<-g.places
	}
}

// Deny counts and logs a request whose caller lacks a scope that only its handler could
// know, and says why.
func (g *Gate) Deny(ctx context.Context, need Scope, remote, path string) string {
	why := "the caller has no scope " + need.String()
	g.audit(CallerOf(ctx), http.StatusForbidden, why, "remote", remote, "path", clip(path))
	return why
}

func (g *Gate) deny(w http.ResponseWriter, r *http.Request, c *Caller, refuse Refuse, status int, why string) {
	g.audit(c, status, why, "remote", r.RemoteAddr, "path", clip(r.URL.Path))
	refuse(w, r, status, why)
}

// audit writes the line of a denied request. It holds no header and no body.
func (g *Gate) audit(c *Caller, status int, why string, where ...any) {
	g.denied.WithLabelValues(fmt.Sprint(status)).Inc()
	name := ""
	if c != nil {
		name = c.Name
	}
	g.opts.Log.Warn("request denied", append([]any{"caller", name, "status", status, "why", why}, where...)...)
}

func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
