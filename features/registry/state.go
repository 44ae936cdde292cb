// Package registry compares definitions with those that were applied. What was applied is
// a history of records, one for each definition that was applied, retired or restored; what
// runs is the newest record of each version that is not retired.
package registry

import (
	"fmt"
	"time"

	"sextant/features"
)

// The kinds of a definition.
const (
	View    = "view"
	Service = "service"
)

// The events of a record.
const (
	Applied  = "applied"  // the definition is in force
	Retired  = "retired"  // it is no longer evaluated or served; rows stay
	Restored = "restored" // it is in force again
)

// Record is one event in the history of one version.
type Record struct {
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	Version    int       `json:"version"`
	Event      string    `json:"event"`
	At         time.Time `json:"at"`
	Who        string    `json:"who"`
	Hash       string    `json:"hash"`       // of what the definition means: see View.Hash and Service.Hash
	Definition string    `json:"definition"` // YAML, whole, with the fragments written out
}

// Ref names the version: "node_static@v1".
func (r Record) Ref() string { return fmt.Sprintf("%s@v%d", r.Name, r.Version) }

// State is the newest record of each version.
type State struct {
	Active  *features.Set // all that is applied and not retired
	records map[string]Record
}

// NewState makes the state of the newest record of each version. A definition that this
// program cannot read is an error: a newer program wrote it, and rows of it would stop.
func NewState(newest []Record) (*State, error) {
	s := &State{records: make(map[string]Record, len(newest))}
	var texts []features.Text
	for _, r := range newest {
		s.records[r.Ref()] = r
		if r.Event != Retired {
			texts = append(texts, features.Text{File: r.Ref(), YAML: r.Definition})
		}
	}
	set, err := features.ReadTexts(texts)
	if err != nil {
		return nil, fmt.Errorf("read applied definitions: %w", err)
	}
	if n := len(set.Views) + len(set.Services); n != len(texts) {
		return nil, fmt.Errorf("read applied definitions: %d of %d can be read", n, len(texts))
	}
	s.Active = set
	return s, nil
}

// Record is the newest record of "name@v1".
func (s *State) Record(ref string) (Record, bool) {
	r, ok := s.records[ref]
	return r, ok
}

// RecordView is the record of applying a view.
func RecordView(v *features.View) Record {
	return Record{Kind: View, Name: v.Name, Version: v.Version, Event: Applied, Hash: v.Hash(), Definition: v.YAML()}
}

// RecordService is the record of applying a service.
func RecordService(s *features.Service) Record {
	return Record{Kind: Service, Name: s.Name, Version: s.Version, Event: Applied, Hash: s.Hash(), Definition: s.YAML()}
}

// Retire is the record that takes a version out of force, or why it cannot be: it is not
// in force, or a service in force reads the view.
func (s *State) Retire(ref string) (Record, error) {
	r, ok := s.records[ref]
	switch {
	case !ok:
		return r, fmt.Errorf("%s was never applied", ref)
	case r.Event == Retired:
		return r, fmt.Errorf("%s is retired already, since %s by %s", ref, r.At.UTC().Format(time.RFC3339), r.Who)
	}
	for _, x := range s.Active.Services {
		for _, v := range x.Views() {
			if r.Kind == View && v.Ref() == ref {
				return r, fmt.Errorf("service %s reads %s: retire the service first", x.Ref(), ref)
			}
		}
	}
	r.Event = Retired
	return r, nil
}

// Restore is the record that puts a retired version in force again.
func (s *State) Restore(ref string) (Record, error) {
	r, ok := s.records[ref]
	if !ok || r.Event != Retired {
		return r, fmt.Errorf("%s is not retired", ref)
	}
	r.Event = Restored
	return r, nil
}
