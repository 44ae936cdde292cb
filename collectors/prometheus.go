package collectors

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	promcommon "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	yamlv2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"

	"sextant/collectors/promconfig"
)

func promDuration(d time.Duration) model.Duration { return model.Duration(d) }

// decodePrometheus reads Prometheus' sections with Prometheus' own types, one job at a
// time, so that a fault in one does not hide those of the others.
func (c *Config) decodePrometheus(name string, doc *document) error {
	if err := c.decodeGlobal(name, doc); err != nil {
		return err // each job inherits from it
	}
	jobs, errs := c.decodeJobs(name, doc)
	for _, j := range jobs {
		j.SetDirectory(dirOf(name))
	}
	c.Scrape = jobs
	files, err := c.decodeFiles(name, doc)
	c.Scrape = append(c.Scrape, files...)
	errs = append(errs, err, uniqueJobs(name, c.Scrape))
	return errors.Join(errs...)
}

// decodeGlobal reads the global section. Its scrape_interval defaults to 10 s here, not
// to Prometheus' minute.
func (c *Config) decodeGlobal(name string, doc *document) error {
	s, ok := doc.section("global")
	if !ok || s.value.Tag == "!!null" {
		return nil
	}
	var out struct {
		Global promconfig.GlobalConfig `yaml:"global"`
	}
	if err := yamlv2.UnmarshalStrict(doc.only(func(key string) bool { return key == "global" }), &out); err != nil {
		return located(name, s.from, "global", err)
	}
	g := out.Global
	if child(s.value, "scrape_interval") == nil {
		g.ScrapeInterval = promDuration(DefaultInterval)
		if child(s.value, "scrape_timeout") == nil {
			g.ScrapeTimeout = g.ScrapeInterval
		}
		if g.ScrapeTimeout > g.ScrapeInterval {
			return fmt.Errorf("%s:%d: global: scrape_timeout %s is longer than scrape_interval %s", name, s.from, g.ScrapeTimeout, g.ScrapeInterval)
		}
	}
	g.ExternalLabels = expand(g.ExternalLabels)
	c.Global = g
	return nil
}

// expand replaces $NAME and ${NAME} in external labels by the environment's values.
func expand(ls labels.Labels) labels.Labels {
	b := labels.NewBuilder(ls)
	ls.Range(func(l labels.Label) {
		b.Set(l.Name, os.Expand(l.Value, func(v string) string {
			if v == "$" {
				return "$"
			}
			return os.Getenv(v)
		}))
	})
	return b.Labels()
}

// decodeJobs reads scrape_configs, each job from its own lines.
func (c *Config) decodeJobs(name string, doc *document) ([]*promconfig.ScrapeConfig, []error) {
	s, ok := doc.section("scrape_configs")
	if !ok || s.value.Tag == "!!null" {
		return nil, nil
	}
	if s.value.Kind != yaml.SequenceNode || s.value.Style&yaml.FlowStyle != 0 {
		return nil, []error{fmt.Errorf("%s:%d: scrape_configs must be a list, one job below the other", name, s.from)}
	}
	var jobs []*promconfig.ScrapeConfig
	var errs []error
	for i, item := range s.value.Content {
		from, to := doc.dashOf(item.Line, s.from), s.to
		if i+1 < len(s.value.Content) {
			to = doc.dashOf(s.value.Content[i+1].Line, s.from) - 1
		}
		text := doc.keepLines(func(line int) bool { return line == s.from || line >= from && line <= to })
		got, err := c.decodeJob(text)
		if err != nil {
			errs = append(errs, located(name, lineOf(item), jobName(item), err))
			continue
		}
		jobs = append(jobs, got...)
	}
	return jobs, errs
}

func (c *Config) decodeJob(text []byte) ([]*promconfig.ScrapeConfig, error) {
	var out promconfig.ScrapeConfigs
	if err := yamlv2.UnmarshalStrict(text, &out); err != nil {
		return nil, err
	}
	for _, s := range out.ScrapeConfigs {
		if err := s.Validate(c.Global); err != nil {
			return nil, err
		}
	}
	return out.ScrapeConfigs, nil
}

// decodeFiles reads the jobs of the files that scrape_config_files name by pattern.
func (c *Config) decodeFiles(name string, doc *document) ([]*promconfig.ScrapeConfig, error) {
	s, ok := doc.section("scrape_config_files")
	if !ok {
		return nil, nil
	}
	var patterns []string
	if err := s.value.Decode(&patterns); err != nil {
		return nil, fmt.Errorf("%s:%d: scrape_config_files must be a list of file patterns", name, s.from)
	}
	var jobs []*promconfig.ScrapeConfig
	var errs []error
	for _, p := range patterns {
		files, err := filepath.Glob(promcommon.JoinDir(dirOf(name), p))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: pattern %q: %w", name, s.from, p, err))
		}
		for _, f := range files {
			got, err := c.decodeFile(f)
			jobs = append(jobs, got...)
			errs = append(errs, err)
		}
	}
	return jobs, errors.Join(errs...)
}

func (c *Config) decodeFile(file string) ([]*promconfig.ScrapeConfig, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	doc, err := parseDocument(file, data)
	if err != nil || doc == nil {
		return nil, err
	}
	for _, s := range doc.sections {
		if s.key != "scrape_configs" {
			return nil, fmt.Errorf("%s:%d: unknown key %q: only scrape_configs may stand here", file, s.from, s.key)
		}
	}
	jobs, errs := c.decodeJobs(file, doc)
	for _, j := range jobs {
		j.SetDirectory(filepath.Dir(file))
	}
	return jobs, errors.Join(errs...)
}

func uniqueJobs(name string, jobs []*promconfig.ScrapeConfig) error {
	var errs []error
	seen := map[string]bool{}
	for _, j := range jobs {
		if seen[j.JobName] {
			errs = append(errs, fmt.Errorf("%s: job_name %q is used twice", name, j.JobName))
		}
		seen[j.JobName] = true
	}
	return errors.Join(errs...)
}

// located puts file and line before a decoder's error. Where the decoder knows no line,
// that of the job stands.
func located(name string, line int, what string, err error) error {
	if te := (*yamlv2.TypeError)(nil); errors.As(err, &te) {
		var errs []error
		for _, e := range te.Errors {
			errs = append(errs, plain(fmt.Errorf("%s: %s", name, e)))
		}
		return errors.Join(errs...)
	}
	return fmt.Errorf("%s:%d: %s: %s", name, line, what, strings.TrimPrefix(err.Error(), "yaml: "))
}

// dashOf is the line of the dash before a list's item: the item's own, or one above.
func (d *document) dashOf(line, floor int) int {
	for l := line; l > floor; l-- {
		if strings.HasPrefix(strings.TrimSpace(d.lines[l-1]), "-") {
			return l
		}
	}
	return line
}

// lineOf points at the most likely cause inside a job: an expression that does not
// compile. Otherwise it is the job's first line.
func lineOf(item *yaml.Node) int {
	for _, list := range []string{"relabel_configs", "metric_relabel_configs"} {
		rules := child(item, list)
		if rules == nil {
			continue
		}
		for _, rule := range rules.Content {
			if re := child(rule, "regex"); re != nil {
				if _, err := relabel.NewRegexp(re.Value); err != nil {
					return re.Line
				}
			}
		}
	}
	return item.Line
}

func jobName(item *yaml.Node) string {
	if n := child(item, "job_name"); n != nil {
		return fmt.Sprintf("job %q", n.Value)
	}
	return "job without job_name"
}

// child returns the value of a key of a mapping, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
