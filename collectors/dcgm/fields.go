package dcgm

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// class says how often a field is refreshed, and by which module.
type class uint8

const (
	fast  class = iota // every watch period
	slow               // once a minute
	prof               // every watch period, by the profiling module
	event              // watched as fast, but its time is that of an event and may be old
)

// scope is a kind of entity that fields belong to.
type scope uint8

const (
	scopeGPU scope = iota
	scopeGI
	scopeCI
	scopeLink
	scopeSwitch
	scopeSwitchLink
	scopeCPU
	scopeCore
	scopes // their number
)

var (
	scopeNames = map[string]scope{"gpu": scopeGPU, "gi": scopeGI, "ci": scopeCI, "link": scopeLink, "switch": scopeSwitch,
		"swlink": scopeSwitchLink, "cpu": scopeCPU, "core": scopeCore}
	classNames = map[string]class{"fast": fast, "slow": slow, "prof": prof, "event": event}
	kindNames  = map[string]prometheus.ValueType{"gauge": prometheus.GaugeValue, "counter": prometheus.CounterValue}
)

// field is a DCGM field that is read, under the name by which dcgm-exporter knows it.
type field struct {
	name   string
	scopes []scope
	class  class
	kind   prometheus.ValueType
	help   string
}

type fields []field

//go:embed fields.csv
var fieldsCSV string

// table is the built-in list.
var table = sync.OnceValue(func() fields {
	fs, err := parseFields(fieldsCSV)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return fs
})

func (fs fields) has(name string) bool {
	return slices.ContainsFunc(fs, func(f field) bool { return f.name == name })
}

// parseFields reads lines of name, entities, class, kind, help. The help may hold commas.
func parseFields(text string) (fields, error) {
	var out fields
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f, err := parseField(line)
		if err == nil && out.has(f.name) {
			err = fmt.Errorf("%s is there twice", f.name)
		}
		if err != nil {
			return nil, fmt.Errorf("fields.csv:%d: %w", n+1, err)
		}
		out = append(out, f)
	}
	return out, nil
}

func parseField(line string) (field, error) {
	cols := strings.SplitN(line, ",", 5)
	if len(cols) != 5 || !fieldName.MatchString(cols[0]) || cols[4] == "" {
		return field{}, fmt.Errorf("%q, want name,entities,class,kind,help", line)
	}
	f := field{name: cols[0], help: cols[4]}
	for _, s := range strings.Fields(cols[1]) {
		sc, ok := scopeNames[s]
		if !ok {
			return field{}, fmt.Errorf("entity %q is unknown", s)
		}
		f.scopes = append(f.scopes, sc)
	}
	var classOK, kindOK bool
	f.class, classOK = classNames[cols[2]]
	f.kind, kindOK = kindNames[cols[3]]
	if len(f.scopes) == 0 || !classOK || !kindOK {
		return field{}, fmt.Errorf("%q: no entity, or an unknown class or kind", line)
	}
	return f, nil
}
