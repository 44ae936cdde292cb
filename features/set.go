package features

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Set is views and the services that read them.
type Set struct {
	Views    []*View    // by name and version
	Services []*Service // by name and version
}

// View finds a view by "name", which is its highest version, or by "name@v2".
func (s *Set) View(ref string) (*View, bool) {
	return newest(s.Views, func(v *View) bool { return ref == v.Name || ref == v.Ref() })
}

// Service finds a service by "name", which is its highest version, or by "name@v2".
func (s *Set) Service(ref string) (*Service, bool) {
	return newest(s.Services, func(x *Service) bool { return ref == x.Name || ref == x.Ref() })
}

// newest is the last one that fits, of definitions in order.
func newest[T any](list []T, fits func(T) bool) (found T, ok bool) {
	for _, x := range slices.Backward(list) {
		if fits(x) {
			return x, true
		}
	}
	return found, false
}

// Sort brings views and services into the order of names and versions.
func (s *Set) Sort() {
	slices.SortFunc(s.Views, func(a, b *View) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Version-b.Version)
	})
	slices.SortFunc(s.Services, func(a, b *Service) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Version-b.Version)
	})
}

// Source is a folder of definitions.
type Source struct {
	Name string // stands before its files where they are named; may be empty
	FS   fs.FS
}

// BuiltinSource is the definitions that come with the program.
func BuiltinSource() Source { return Source{Name: "builtin", FS: builtin} }

// Builtin is the views that come with the program.
func Builtin() ([]*View, error) { return viewsOf(Read(BuiltinSource())) }

// Load reads the views of one folder, as Read does.
func Load(fsys fs.FS) ([]*View, error) { return viewsOf(Read(Source{FS: fsys})) }

func viewsOf(s *Set, err error) ([]*View, error) {
	if err != nil {
		return nil, err
	}
	return s.Views, nil
}

// Read reads every .yaml and .yml file of the sources, at any depth: one view, or one
// service, each. When definitions are wrong the error is a Faults with every fault of
// every file, and no set is returned: one that is half loaded would silently stop
// features that somebody reads.
func Read(sources ...Source) (*Set, error) {
	var docs []document
	var faults Faults
	for _, src := range sources {
		files, err := definitionFiles(src)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := readLimited(src.FS, file)
			if err != nil {
				faults.add(path.Join(src.Name, file), 1, "%v", err)
				continue
			}
			docs = append(docs, parseDocument(path.Join(src.Name, file), text, &faults))
		}
	}
	set := decodeSet(docs, &faults)
	if err := faults.err(); err != nil {
		return nil, err
	}
	return set, nil
}

// Text is a definition that no folder holds, like one that was kept in a store.
type Text struct {
	File string // names it in faults
	YAML string
}

// ReadTexts reads definitions that were valid once. What today's rules would refuse is let
// pass as long as it can be read, since rows of it exist.
func ReadTexts(texts []Text) (*Set, error) {
	var unreadable, ignored Faults
	var docs []document
	for _, t := range texts {
		docs = append(docs, parseDocument(t.File, []byte(t.YAML), &unreadable))
	}
	if err := unreadable.err(); err != nil {
		return nil, err
	}
	return decodeSet(docs, &ignored), nil
}

// Check is what Read would have against a view that is in no file yet.
func Check(v *View) error {
	var faults Faults
	decodeSet([]document{parseDocument(v.Name+".yaml", []byte(v.YAML()), &faults)}, &faults)
	return faults.err()
}

// document is one file, parsed.
type document struct {
	file string
	node *yaml.Node // nil when it cannot be read
}

// isService says whether the file defines a service: the key "service" decides.
func (d document) isService() bool {
	if d.node == nil || d.node.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(d.node.Content); i += 2 {
		if d.node.Content[i].Value == "service" {
			return true
		}
	}
	return false
}

// decodeSet reads the views, then the services over them.
func decodeSet(docs []document, faults *Faults) *Set {
	set := &Set{}
	for _, doc := range docs {
		if doc.node == nil || doc.isService() {
			continue
		}
		d := &decoder{file: doc.file, faults: faults}
		if v := d.view(doc.node); v != nil {
			set.Views = append(set.Views, v)
		}
	}
	checkUnique(set.Views, faults)
	set.Sort()
	for _, doc := range docs {
		if !doc.isService() {
			continue
		}
		d := &decoder{file: doc.file, faults: faults}
		if s := d.service(doc.node, set); s != nil {
			set.Services = append(set.Services, s)
		}
	}
	checkServices(set, faults)
	set.Sort()
	return set
}

// checkServices refuses a second definition of a service's version, and a service with
// the name of a view: a bare name must mean one thing.
func checkServices(set *Set, faults *Faults) {
	first := map[string]*Service{}
	for _, s := range set.Services {
		if w, ok := first[s.Ref()]; ok {
			faults.add(s.File, s.Line, "service %s is already defined at %s:%d", s.Ref(), w.File, w.Line)
			continue
		}
		first[s.Ref()] = s
		if v, ok := set.View(s.Name); ok {
			faults.add(s.File, s.Line, "service %s has the name of the view at %s:%d", s.Name, v.File, v.Line)
		}
	}
}
