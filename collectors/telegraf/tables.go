package telegraf

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	upstream "github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/inputs"
	"github.com/influxdata/telegraf/plugins/parsers"
	"github.com/influxdata/toml"
	"github.com/influxdata/toml/ast"
)

// tables is what the file says before any plugin is made: Telegraf's loader ignores order,
// stops at the first fault and names no file.
type tables struct {
	file   string
	inputs map[string][]*ast.Table // by plugin, in the order of the file
	agent  *ast.Table              // nil: there is none
	errs   []error
}

// readTables parses the text and refuses what the agent does not do.
func readTables(file string, text []byte) (*tables, error) {
	root, err := toml.Parse([]byte(expand(string(text))))
	if err != nil {
		return nil, atLine(file, err)
	}
	t := &tables{file: file, inputs: map[string][]*ast.Table{}}
	for _, name := range slices.Sorted(maps.Keys(root.Fields)) {
		t.top(name, root.Fields[name])
	}
	return t, errors.Join(t.errs...)
}

func (t *tables) fault(line int, format string, a ...any) {
	t.errs = append(t.errs, fmt.Errorf("%s:%d: %s", t.file, line, fmt.Sprintf(format, a...)))
}

// elsewhere says where that is done which a section of Telegraf does.
var elsewhere = map[string]string{
	"outputs":      "the agent has one output, its spool and Kafka",
	"processors":   "processors do not run here: use name_override, tags, and the filters of the input, or a feature view",
	"aggregators":  "aggregators do not run here: windows are the feature views' work",
	"secretstores": "secret stores are not read: use the environment or a file",
}

// top looks at one table of the top level.
func (t *tables) top(name string, v any) {
	table, isTable := v.(*ast.Table)
	why, refused := elsewhere[name]
	switch {
	case refused:
		t.fault(lineOf(v), "%s are refused: %s; supported are [agent], [global_tags] and [[inputs.*]]", name, why)
	case !isTable:
		t.fault(lineOf(v), "%s: want [agent], [global_tags] or [[inputs.*]]", name)
	case name == "agent":
		t.agent = table
		t.checkAgent()
	case name == "global_tags" || name == "tags":
	case name == "inputs":
		for _, plugin := range slices.Sorted(maps.Keys(table.Fields)) {
			t.input(plugin, table.Fields[plugin])
		}
	default:
		t.fault(table.Line, "[%s]: want [agent], [global_tags] or [[inputs.*]]", name)
	}
}

// input takes the tables of one plugin.
func (t *tables) input(plugin string, v any) {
	list, ok := v.([]*ast.Table)
	if !ok {
		t.fault(lineOf(v), "write [[inputs.%s]], with two brackets", plugin)
		return
	}
	t.inputs[plugin] = list
	creator, linked := inputs.Inputs[plugin]
	for _, table := range list {
		if !linked {
			t.fault(table.Line, "inputs.%s is not a part of this agent: %s; it has %s", plugin, addition("inputs", plugin), names(inputs.Inputs))
			continue
		}
		if _, service := creator().(upstream.ServiceInput); service && !polled[plugin] {
			t.fault(table.Line, "inputs.%s is a service input, it listens or subscribes by itself: only plugins that are read at an interval run here", plugin)
		}
		t.checkInput(plugin, table)
	}
}

// addition tells how a package of Telegraf becomes a part of the agent.
func addition(kind, name string) string {
	return fmt.Sprintf("to add it, add to collectors/telegraf/plugins.go the line `_ %q` and build the agent", "github.com/influxdata/telegraf/plugins/"+kind+"/"+name)
}

func names[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// checkInput refuses settings of an input that would otherwise be ignored.
func (t *tables) checkInput(plugin string, table *ast.Table) {
	for _, key := range []string{"collection_jitter", "collection_offset"} {
		t.wantZero(table, "inputs."+plugin+"."+key, key)
	}
	for _, key := range slices.Sorted(maps.Keys(table.Fields)) {
		if plugin == "prometheus" && discovery[key] {
			t.fault(lineOf(table.Fields[key]), "inputs.prometheus.%s is not a part of this agent: use scrape_configs, or build the agent with -tags telegrafprometheus", key)
		}
	}
	if format, line := text(table, "data_format"); format != "" {
		if _, ok := parsers.Parsers[format]; !ok {
			t.fault(line, "inputs.%s: data_format %q is not a part of this agent: %s; it has %s", plugin, format, addition("parsers", format), names(parsers.Parsers))
		}
	}
	if s, line := text(table, "startup_error_behavior"); !slices.Contains([]string{"", "error", "retry", "ignore", "probe"}, s) {
		t.fault(line, "inputs.%s.startup_error_behavior: %q, want error, retry, ignore or probe", plugin, s)
	}
	t.wantInterval(table, "inputs."+plugin+".interval")
}

// wantInterval checks the key interval of a table, where it has one.
func (t *tables) wantInterval(table *ast.Table, path string) {
	s, line := text(table, "interval")
	if d, err := time.ParseDuration(s); line > 0 && (err != nil || d < minInterval) {
		t.fault(line, "%s: %q, want a duration of at least %s", path, s, minInterval)
	}
}

// wantZero refuses a duration that is set.
func (t *tables) wantZero(table *ast.Table, path, key string) {
	s, line := text(table, key)
	if d, err := time.ParseDuration(s); line > 0 && (err != nil || d != 0) {
		t.fault(line, "%s: %q, want \"0s\": the agent spreads its readings itself", path, s)
	}
}

// text is the string under a key and its line; 0 when the key is not there.
func text(table *ast.Table, key string) (string, int) {
	kv, ok := table.Fields[key].(*ast.KeyValue)
	if !ok {
		return "", 0
	}
	if s, ok := kv.Value.(*ast.String); ok {
		return s.Value, kv.Line
	}
	return kv.Value.Source(), kv.Line
}

// lineOf is where a value of the top level begins.
func lineOf(v any) int {
	switch v := v.(type) {
	case *ast.KeyValue:
		return v.Line
	case []*ast.Table:
		return v[0].Line
	case *ast.Table:
		line := v.Line
		for _, f := range v.Fields { // [[outputs.file]] makes the table outputs without a line of its own
			if l := lineOf(f); line == 0 || l < line {
				line = l
			}
		}
		return line
	}
	return 0
}

var (
	variable  = regexp.MustCompile(`\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}\n]*))?\})`)
	lineInErr = regexp.MustCompile(`line (\d+)(?::\{[^}]*\})?: `)
)

// expand puts in the variables of the environment as Telegraf's loader does, near enough
// to find tables and their lines. The settings themselves come from the loader.
func expand(s string) string {
	return variable.ReplaceAllStringFunc(s, func(m string) string {
		g := variable.FindStringSubmatch(m)
		if v, ok := os.LookupEnv(g[1] + g[2]); ok {
			return strings.ReplaceAll(v, "\n", " ")
		}
		return g[3]
	})
}

// atLine puts the file and, where the message has one, the line before an error of
// Telegraf's loader.
func atLine(file string, err error) error {
	msg := err.Error()
	if m := lineInErr.FindStringSubmatchIndex(msg); m != nil {
		return fmt.Errorf("%s:%s: %s", file, msg[m[2]:m[3]], msg[:m[0]]+msg[m[1]:])
	}
	return fmt.Errorf("%s: %s", file, msg)
}
