package clickhouse

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sextant/features"
	"sextant/features/registry"
)

// registered reads a view of these features and a service of the first.
func registered(t *testing.T, version string, columns ...string) *features.Set {
	t.Helper()
	view := "view: node_r\nversion: " + version + "\nentity: node\ntier: static\ninterval: 10s\nttl: 1m\nowner: o\ndescription: d\nfeatures:\n"
	for _, c := range columns {
		view += "  - {name: " + c + ", expr: max by (node) (" + c + "), dtype: float64, description: d}\n"
	}
	service := "service: state_r\nversion: " + version + "\nowner: o\ndescription: d\nwidth: 1\nfeatures: [\"node_r:" + columns[0] + "\"]\n"
	set, err := features.Read(features.Source{FS: fstest.MapFS{"v.yaml": {Data: []byte(view)}, "s.yaml": {Data: []byte(service)}}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func planOf(t *testing.T, db *DB, set *features.Set) *registry.Plan {
	t.Helper()
	s, err := db.Registry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Plan(set, false)
}

func TestRegistryKeepsWhatIsInForce(t *testing.T) {
	db := openDB(t)
	at := time.UnixMilli(t0)
	steps := []*features.Set{registered(t, "1", "a", "b"), registered(t, "1", "a", "c"), registered(t, "2", "a")}
	for i, set := range steps {
		p := planOf(t, db, set)
		if p.Pending() == 0 || p.Refused() != nil {
			t.Fatalf("step %d: %d pending, %v", i, p.Pending(), p.Refused())
		}
		for range 2 { // the second is that of a program that died before it said so
			if err := db.Apply(t.Context(), p, "me@here", at.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if n := planOf(t, db, set).Pending(); n != 0 {
			t.Errorf("step %d: %d pending after apply", i, n)
		}
	}
	if got, want := text(t, db, "feature", "{db}.feature_views FINAL WHERE name = 'node_r' AND version = 1 ORDER BY feature"), []string{"a", "c"}; !slices.Equal(got, want) {
		t.Errorf("features %q, want %q", got, want)
	}
	if got, want := text(t, db, "name", "system.columns WHERE database = '"+db.cfg.Database+"' AND table = 'features_node_r_v1' AND name IN ('a', 'b', 'c') ORDER BY name"), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q: a dropped one stays", got, want)
	}
	if got, want := text(t, db, "version, position, view, view_version, feature, dtype, keys[1]", "{db}.feature_services FINAL ORDER BY version"),
		[]string{"1 0 node_r 1 a Float64 node", "2 0 node_r 2 a Float64 node"}; !slices.Equal(got, want) {
		t.Errorf("services %q, want %q", got, want)
	}
	history, err := db.FeatureHistory(t.Context(), "node_r")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range history {
		got = append(got, r.Ref()+" "+r.Event+" "+r.Who+" "+r.At.UTC().Format("05"))
		if !strings.Contains(r.Definition, "expr: max by (node) (a)") || len(r.Hash) != 64 {
			t.Errorf("%s: hash %q, definition\n%s", r.Ref(), r.Hash, r.Definition)
		}
	}
	second := at.UTC().Format("05")
	if len(got) != 3 || got[0] != "node_r@v1 applied me@here "+second {
		t.Errorf("history %q", got)
	}
	retire(t, db, "state_r@v1", "node_r@v1")
	if got, want := text(t, db, "name, version", "{db}.feature_registry WHERE active ORDER BY name"), []string{"node_r 2", "state_r 2"}; !slices.Equal(got, want) {
		t.Errorf("in force %q, want %q", got, want)
	}
}

func retire(t *testing.T, db *DB, refs ...string) {
	t.Helper()
	for _, ref := range refs {
		s, err := db.Registry(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Retire(ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Record(t.Context(), []registry.Record{r}, "me@here", time.UnixMilli(t0+60_000)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefusedPlanChangesNothing(t *testing.T) {
	db := openDB(t)
	first := registered(t, "1", "a", "b")
	if err := db.Apply(t.Context(), planOf(t, db, first), "me", time.UnixMilli(t0)); err != nil {
		t.Fatal(err)
	}
	// The service reads a.
	p := planOf(t, db, registered(t, "1", "b", "new"))
	if err := db.Apply(t.Context(), p, "me", time.UnixMilli(t0)); err == nil || !strings.Contains(err.Error(), "needs node_r@v2") {
		t.Errorf("%v", err)
	}
	if got := text(t, db, "name", "system.columns WHERE database = '"+db.cfg.Database+"' AND table = 'features_node_r_v1' AND name = 'new'"); len(got) != 0 {
		t.Error("a column of a refused plan")
	}
}

func TestRegistryOfNoSchema(t *testing.T) {
	db := openDB(t)
	if err := db.Exec(t.Context(), "DROP DATABASE {db} SYNC"); err != nil {
		t.Fatal(err)
	}
	if p := planOf(t, db, registered(t, "1", "a")); p.Pending() != 2 {
		t.Errorf("%d pending, want a view and a service", p.Pending())
	}
}

// A view of any entity is written and read back by all of its keys.
func TestRowsOfEveryEntity(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	for i, keys := range [][]string{{"node", "uid"}, {"node", "uid", "slice"}, {"node", "src", "dst"}, {"task"}, {"queue"}, {"tenant"}, {"cluster"}} {
		v := testView()
		v.Name, v.Keys, v.Version = "entity_"+keys[len(keys)-1], keys, i+1
		apply(t, db, v)
		rows := testRows(v, "x", t0, 0.5)
		rows.Keys = nil
		for _, k := range keys {
			rows.Keys = append(rows.Keys, []string{"a " + k})
		}
		writeRows(t, s, rows)
		back, err := db.LatestRows(t.Context(), v, 0)
		if err != nil || len(back.Tick) != 1 {
			t.Fatalf("%v: %v, %v", keys, back, err)
		}
		for k, key := range keys {
			if back.Keys[k][0] != "a "+key {
				t.Errorf("%v: key %s is %q", keys, key, back.Keys[k][0])
			}
		}
	}
}
