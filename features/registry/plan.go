package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sextant/features"
)

// Item says what applying would do to one version.
type Item struct {
	Action  string   `json:"action"` // create, update, refuse or keep
	Kind    string   `json:"kind"`   // view or service
	Ref     string   `json:"ref"`
	Note    string   `json:"note,omitempty"`
	Changes []Change `json:"changes,omitempty"`

	view    *features.View
	service *features.Service
}

// The actions of an item.
const (
	Create = "create" // a version that was never applied
	Update = "update" // in place: rows and vectors mean the same
	Refuse = "refuse" // needs a new version
	Keep   = "keep"   // nothing happens, and the note says why that is worth a line
)

// Plan is what differs between definitions and what is in force.
type Plan struct {
	Items []Item `json:"changes"`
}

// Plan compares files with what is in force. With replace, changes that need a new version
// are made in place: rows before and after mean different things then.
func (s *State) Plan(files *features.Set, replace bool) *Plan {
	p := &Plan{}
	for _, v := range files.Views {
		if i, ok := s.view(v, replace); ok {
			p.Items = append(p.Items, i)
		}
	}
	for _, x := range files.Services {
		if i, ok := s.service(x, replace); ok {
			p.Items = append(p.Items, i)
		}
	}
	p.keep(s.Active, files)
	return p
}

func (s *State) view(v *features.View, replace bool) (Item, bool) {
	i := Item{Kind: View, Ref: v.Ref(), view: v}
	old, active := s.Active.View(v.Ref())
	if !active {
		return s.absent(i, fmt.Sprintf("%d features, table %s", len(v.Features), v.Table()))
	}
	i.Changes = DiffViews(old, v)
	for c := range i.Changes {
		s.guard(old, &i.Changes[c])
	}
	return i.decide(v.Name, v.Version, replace)
}

// guard keeps a change of a view from reaching into a service in force: what is dropped, or
// served in place of nothing, is part of its contract.
func (s *State) guard(v *features.View, c *Change) {
	if c.Action != Drop && c.What != "default" {
		return
	}
	for _, x := range s.Active.Services {
		for _, col := range x.Columns {
			if col.View == v && col.Def().Name == c.Feature {
				c.Breaks = true
			}
		}
	}
}

func (s *State) service(x *features.Service, replace bool) (Item, bool) {
	i := Item{Kind: Service, Ref: x.Ref(), service: x}
	old, active := s.Active.Service(x.Ref())
	if !active {
		return s.absent(i, fmt.Sprintf("%d features, keys %s", len(x.Columns), strings.Join(x.Keys, ", ")))
	}
	i.Changes = DiffServices(old, x)
	return i.decide(x.Name, x.Version, replace)
}

// absent decides about a version that is not in force. A retired one stays so until
// somebody restores it, whatever the files say.
func (s *State) absent(i Item, note string) (Item, bool) {
	i.Action, i.Note = Create, note
	if r, ok := s.records[i.Ref]; ok && r.Event == Retired {
		i.Action = Keep
		i.Note = fmt.Sprintf("retired %s by %s: take it out of the files, or restore it", r.At.UTC().Format(time.DateOnly), r.Who)
	}
	return i, true
}

// decide says whether changes may be made in place; false when there are none.
func (i Item) decide(name string, version int, replace bool) (Item, bool) {
	if len(i.Changes) == 0 {
		return i, false
	}
	i.Action = Update
	if slices.ContainsFunc(i.Changes, func(c Change) bool { return c.Breaks }) {
		i.Note = fmt.Sprintf("needs %s@v%d", name, version+1)
		if !replace {
			i.Action = Refuse
		}
	}
	return i, true
}

// keep lists what is in force and in no file.
func (p *Plan) keep(active, files *features.Set) {
	for _, v := range active.Views {
		if w, ok := files.View(v.Ref()); !ok || w == nil {
			p.Items = append(p.Items, Item{Action: Keep, Kind: View, Ref: v.Ref(), Note: "in no file: evaluated until it is retired"})
		}
	}
	for _, x := range active.Services {
		if _, ok := files.Service(x.Ref()); !ok {
			p.Items = append(p.Items, Item{Action: Keep, Kind: Service, Ref: x.Ref(), Note: "in no file: served until it is retired"})
		}
	}
}

// Pending counts the items that applying would carry out.
func (p *Plan) Pending() int { return p.count(Create) + p.count(Update) }

// Refused is an error with every change that needs a new version, or nil.
func (p *Plan) Refused() error {
	var lines []string
	for _, i := range p.Items {
		if i.Action != Refuse {
			continue
		}
		for _, c := range i.Changes {
			if c.Breaks {
				lines = append(lines, fmt.Sprintf("%s: %s %s%s changed: %s, or take the change back", i.where(c), i.Kind, i.Ref, c.subject(), i.Note))
			}
		}
	}
	if lines == nil {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

// where is the file and line of what changed.
func (i Item) where(c Change) string {
	if i.view != nil {
		line := i.view.Line
		if f := find(i.view, c.Feature); f != nil {
			line = f.Line
		}
		return fmt.Sprintf("%s:%d", i.view.File, line)
	}
	return fmt.Sprintf("%s:%d", i.service.File, i.service.Line)
}

func (c Change) subject() string {
	if c.Feature != "" {
		return ": " + c.Feature + ": " + c.What
	}
	return ": " + c.What
}

func (p *Plan) count(action string) int {
	n := 0
	for _, i := range p.Items {
		if i.Action == action {
			n++
		}
	}
	return n
}

// Records are what applying the plan adds to the history.
func (p *Plan) Records() []Record {
	var rs []Record
	for _, i := range p.Items {
		switch {
		case i.Action != Create && i.Action != Update:
		case i.view != nil:
			rs = append(rs, RecordView(i.view))
		default:
			rs = append(rs, RecordService(i.service))
		}
	}
	return rs
}

// Views are the views that applying the plan creates or updates.
func (p *Plan) Views() []*features.View {
	var vs []*features.View
	for _, i := range p.Items {
		if i.view != nil && (i.Action == Create || i.Action == Update) {
			vs = append(vs, i.view)
		}
	}
	return vs
}

// Services are the services that applying the plan creates or updates.
func (p *Plan) Services() []*features.Service {
	var xs []*features.Service
	for _, i := range p.Items {
		if i.service != nil && (i.Action == Create || i.Action == Update) {
			xs = append(xs, i.service)
		}
	}
	return xs
}

// Missing is an error when files say what is not in force yet, or nil. A program that
// starts with files older than what is in force is right: it runs what is in force.
func (s *State) Missing(files *features.Set) error {
	var refs []string
	for _, i := range s.Plan(files, false).Items {
		if i.Action == Create || i.Action == Refuse || slices.ContainsFunc(i.Changes, func(c Change) bool { return c.Action == Add }) {
			refs = append(refs, i.Ref)
		}
	}
	if refs == nil {
		return nil
	}
	return fmt.Errorf("not applied as defined here: %s; see 'sextant features plan', then run 'sextant features apply'", strings.Join(refs, ", "))
}
