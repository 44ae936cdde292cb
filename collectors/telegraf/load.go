package telegraf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tconfig "github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/models"

	"sextant/collectors/plugins"
)

// loaded is one instance of a plugin as the file describes it.
type loaded struct {
	Name      string // unique in the file: cpu, exec-2, or exec:alias
	line      int
	Interval  time.Duration
	precision time.Duration // of times that samples bring along
	input     *models.RunningInput
}

// load makes the plugins of the file, in its order. None of them has been started.
func load(c plugins.Config, o plugins.Options) ([]loaded, error) {
	text, err := read(c.Config)
	if err != nil {
		return nil, err
	}
	file := filepath.Base(c.Config)
	t, err := readTables(file, text)
	if err != nil {
		return nil, err
	}
	cfg := tconfig.NewConfig()
	if err := cfg.LoadConfigData(text, c.Config); err != nil {
		return nil, atLine(file, err)
	}
	if err := cfg.LinkSecrets(); err != nil {
		return nil, atLine(file, err)
	}
	t.hostTag(cfg, o.Node)
	return t.place(cfg, o)
}

// hostTag makes the tag host the node's name where the file does not say otherwise.
func (t *tables) hostTag(cfg *tconfig.Config, node string) {
	if t.agent != nil {
		if own, _ := text(t.agent, "hostname"); own != "" {
			return
		}
	}
	if !cfg.Agent.OmitHostname && node != "" {
		cfg.Tags["host"] = node // the inputs share this map
	}
}

// place gives each input its line, name and interval. The loader keeps the order of the
// instances of one plugin, and only that.
func (t *tables) place(cfg *tconfig.Config, o plugins.Options) ([]loaded, error) {
	every := o.Interval
	if t.agent != nil {
		if _, line := text(t.agent, "interval"); line > 0 {
			every = time.Duration(cfg.Agent.Interval)
		}
	}
	var out []loaded
	seen := map[string]int{} // instances of a plugin so far
	used := map[string]int{} // line of an instance by its name
	for _, in := range cfg.Inputs {
		plugin, nth := in.Config.Name, seen[in.Config.Name]
		seen[plugin]++
		l := loaded{Name: instance(plugin, in.Config.Alias, nth), line: t.inputs[plugin][nth].Line, input: in,
			Interval: cmp.Or(in.Config.Interval, every)}
		l.precision = precision(cmp.Or(in.Config.Precision, time.Duration(cfg.Agent.Precision)), l.Interval)
		if other, twice := used[l.Name]; twice {
			t.fault(l.line, "inputs.%s: %s is already the name of the one in line %d: give it another alias", plugin, l.Name, other)
		}
		used[l.Name] = l.line
		in.Config.StartupErrorBehavior = "error" // starting is tried again at each reading
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b loaded) int { return cmp.Compare(a.line, b.line) })
	if len(out) == 0 && len(t.errs) == 0 {
		t.errs = append(t.errs, fmt.Errorf("%s: there is no [[inputs.*]]", t.file))
	}
	return out, errors.Join(t.errs...)
}

// instance names one of the instances of a plugin.
func instance(plugin, alias string, nth int) string {
	switch {
	case alias != "":
		return plugin + ":" + alias
	case nth > 0:
		return fmt.Sprintf("%s-%d", plugin, nth+1)
	}
	return plugin
}

// precision is Telegraf's rule: what is set, else the unit of the interval, 1 s at most.
func precision(set, interval time.Duration) time.Duration {
	switch {
	case set > 0:
		return set
	case interval >= time.Second:
		return time.Second
	}
	return time.Millisecond
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxFile+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if b.Len() > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	if strings.ContainsRune(b.String(), 0) {
		return nil, fmt.Errorf("%s: not a text", path)
	}
	return b.Bytes(), nil
}
