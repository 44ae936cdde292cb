package features

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// boxes is two versions of a node view and a device view, with their files.
func boxes() fstest.MapFS {
	v2 := strings.Replace(one("max by (node) (m) * 2"), "version: 1", "version: 2", 1)
	gpu := strings.NewReplacer("view: box", "view: gpu", "entity: node", "entity: device\nkeys: [node, uid]").Replace(one("max by (node, uid) (g)"))
	return fstest.MapFS{"box.yaml": {Data: []byte(one("max by (node) (m)"))}, "box2.yaml": {Data: []byte(v2)}, "gpu.yaml": {Data: []byte(gpu)}}
}

const serviceHead = "service: mix\nversion: 1\nowner: tests\ndescription: A mix.\n"

func readBoxes(service string) (*Set, error) {
	files := boxes()
	files["mix.yaml"] = &fstest.MapFile{Data: []byte(serviceHead + service)}
	return Read(Source{FS: files})
}

func TestServiceJoinsViews(t *testing.T) {
	set, err := readBoxes("width: 3\nfeatures:\n  - gpu:x\n  - box: [x]\n  - box@v1:x\n")
	if err != nil {
		t.Fatal(err)
	}
	s, ok := set.Service("mix")
	if !ok {
		t.Fatal("no service")
	}
	var refs []string
	for _, c := range s.Columns {
		refs = append(refs, c.Ref()+" as "+c.As)
	}
	if got, want := fmt.Sprint(refs, s.Keys), "[gpu@v1:x as gpu box@v2:x as box@v2 box@v1:x as box@v1] [node uid]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := len(s.Views()); got != 3 {
		t.Errorf("%d views, want 3", got)
	}
}

func TestServiceFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"width: 2\nfeatures: [box:x]\n", "mix.yaml:5: width: 2, and there are 1 features"},
		{"features: [box:x]\n", "mix.yaml:1: width is missing"},
		{"width: 1\nfeatures: [x]\n", `mix.yaml:6: features: "x" has no view: want view:feature`},
		{"width: 1\nfeatures:\n  - nobox:x\n", `mix.yaml:7: features: view "nobox" is not defined`},
		{"width: 1\nfeatures:\n  - box@v3:x\n", `mix.yaml:7: features: view "box@v3" is not defined`},
		{"width: 1\nfeatures:\n  - box@v1:y\n", `mix.yaml:7: features: view box@v1 has no feature "y"`},
		{"width: 2\nfeatures:\n  - box:x\n  - box@v2: [x]\n", "mix.yaml:8: features: box@v2:x is already there at line 7"},
		{"width: 1\nfeatures:\n  - box: x\n", "mix.yaml:7: features: box: want a list of its features"},
		{"width: 1\nkeys: [node, uid]\nfeatures: [box:x]\n", "mix.yaml:6: keys: the features are keyed by (node), not (node, uid)"},
		{"width: 1\nfeatures: []\n", "mix.yaml:6: features: want a list of view:feature"},
		{"width: 1\nbreadth: 1\nfeatures: [box:x]\n", `mix.yaml:6: unknown key "breadth"`},
	} {
		_, err := readBoxes(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	files := boxes()
	files["a.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(serviceHead, "mix", "box", 1) + "width: 1\nfeatures: [box:x]\n")}
	if _, err := Read(Source{FS: files}); err == nil || !strings.Contains(err.Error(), "a.yaml:1: service box has the name of the view") {
		t.Errorf("a service with a view's name: %v", err)
	}
}

// The hash is a contract: it changes with order, shape and meaning, and with nothing else.
func TestHashIsTheContract(t *testing.T) {
	hashOf := func(text string) string {
		t.Helper()
		set, err := readBoxes(text)
		if err != nil {
			t.Fatal(err)
		}
		return set.Services[0].Hash()
	}
	base := hashOf("width: 2\nfeatures: [gpu:x, box@v2:x]\n")
	if got := hashOf("width: 2\nkeys: [uid, node]\nfeatures:\n  - gpu: [x]\n  - box:x\n"); got != base {
		t.Error("the same features, written otherwise, have another hash")
	}
	for _, other := range []string{"width: 2\nfeatures: [box@v2:x, gpu:x]\n", "width: 2\nfeatures: [gpu:x, box@v1:x]\n", "width: 1\nfeatures: [gpu:x]\n"} {
		if hashOf(other) == base {
			t.Errorf("%q has the same hash", other)
		}
	}
	view := func(expr string) string {
		vs, err := Load(fstest.MapFS{"v.yaml": {Data: []byte(one(expr))}})
		if err != nil {
			t.Fatal(err)
		}
		return vs[0].Hash()
	}
	if view("max by (node) (m)") != view("max   by(node)(  m )") {
		t.Error("spaces change the hash of a view")
	}
	if view("max by (node) (m)") == view("min by (node) (m)") {
		t.Error("another expression has the same hash")
	}
}

// What is kept in the registry must mean what the file meant.
func TestDefinitionsReadBack(t *testing.T) {
	set, err := Read(BuiltinSource())
	if err != nil {
		t.Fatal(err)
	}
	var texts []Text
	for _, v := range set.Views {
		texts = append(texts, Text{v.Ref(), v.YAML()})
	}
	for _, s := range set.Services {
		texts = append(texts, Text{s.Ref(), s.YAML()})
	}
	back, err := ReadTexts(texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range set.Views {
		w := *back.Views[i]
		w.File, w.Line, w.Features = v.File, v.Line, append([]Feature(nil), w.Features...)
		for f := range w.Features {
			w.Features[f].Line = v.Features[f].Line
		}
		if !reflect.DeepEqual(v, &w) {
			t.Errorf("%s reads back as another view", v.Ref())
		}
	}
	for i, s := range set.Services {
		if w := back.Services[i]; w.Hash() != s.Hash() || !reflect.DeepEqual(w.Keys, s.Keys) || w.YAML() == "" {
			t.Errorf("%s reads back as another service", s.Ref())
		}
	}
}

func TestReadTextsIsLenientAndClear(t *testing.T) {
	// A rule that came later refuses the name; rows of it exist all the same.
	old := strings.Replace(one("max by (node) (m)"), "view: box", "view: samples", 1)
	set, err := ReadTexts([]Text{{"samples@v1", old}})
	if err != nil || len(set.Views) != 1 {
		t.Errorf("%v, %v", set, err)
	}
	if _, err := ReadTexts([]Text{{"box@v1", "view: [\n"}}); err == nil || !strings.HasPrefix(err.Error(), "box@v1:") {
		t.Errorf("broken text: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range boxes() {
		f.Add(file.Data)
	}
	f.Add([]byte(serviceHead + "width: 1\nfeatures:\n  - box: [x]\n  - box@v1:x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		files := boxes()
		files["fuzz.yaml"] = &fstest.MapFile{Data: text}
		set, err := Read(Source{FS: files})
		if err != nil {
			return
		}
		for _, s := range set.Services {
			if len(s.Columns) == 0 || len(s.Keys) == 0 {
				t.Errorf("service %s is empty", s.Ref())
			}
		}
	})
}

// A model is named for lineage; it is no part of the contract.
func TestServiceNamesItsModel(t *testing.T) {
	with, err := readBoxes("model: placement-gnn\nwidth: 1\nfeatures: [box:x]\n")
	if err != nil {
		t.Fatal(err)
	}
	without, err := readBoxes("width: 1\nfeatures: [box:x]\n")
	if err != nil {
		t.Fatal(err)
	}
	s, bare := with.Services[0], without.Services[0]
	if s.Model != "placement-gnn" || bare.Model != "" || s.Hash() != bare.Hash() {
		t.Errorf("model %q and %q, hash %s and %s", s.Model, bare.Model, s.Hash(), bare.Hash())
	}
	texts := []Text{{"mix", s.YAML()}}
	for _, v := range with.Views {
		texts = append(texts, Text{v.Ref(), v.YAML()})
	}
	if back, err := ReadTexts(texts); err != nil || back.Services[0].Model != s.Model {
		t.Errorf("reads back as %+v, %v", back, err)
	}
}
