package access

import (
	"context"
	"slices"
	"strings"
)

// Scope is what a request needs, or a caller may do: an action, and on which feature
// service (read) or push view (push); without a name, on all.
type Scope struct {
	Action string // Read, Push or Admin
	On     string // a name without version; empty: all
}

// The actions of a scope.
const (
	Read  = "read"  // features, by request or query
	Push  = "push"  // rows of push views, task events
	Admin = "admin" // all of the others, and what changes how the server runs
)

var actions = []string{Read, Push, Admin}

// String is the scope as a token file writes it: "read", "read:node_state".
func (s Scope) String() string {
	if s.On == "" {
		return s.Action
	}
	return s.Action + ":" + s.On
}

// covers says whether s permits need. A scope of one name never covers what needs all.
func (s Scope) covers(need Scope) bool {
	return s.Action == Admin || s.Action == need.Action && (s.On == "" || s.On == need.On)
}

// Caller is who sent a request. Nil is the caller of a listener that asks for nothing.
type Caller struct {
	Name   string
	scopes []Scope
	meter  *meter
}

// May says whether the caller has a scope. Of a service or view with a version only the
// name counts.
func (c *Caller) May(need Scope) bool {
	need.On, _, _ = strings.Cut(need.On, "@")
	return c == nil || slices.ContainsFunc(c.scopes, func(s Scope) bool { return s.covers(need) })
}

// some says whether the caller may do the action on anything at all.
func (c *Caller) some(action string) bool {
	return c == nil || slices.ContainsFunc(c.scopes, func(s Scope) bool { return s.Action == Admin || s.Action == action })
}

type callerKey struct{}

// CallerOf is who sent the request of ctx.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}
