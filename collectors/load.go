package collectors

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"sextant/collectors/plugins"
	"sextant/internal/config"
)

// EnvPrefix begins the environment variables that override the agent's own keys:
// SEXTANT_KAFKA_BROKERS for kafka.brokers, SEXTANT_NODE for node.
const EnvPrefix = "SEXTANT"

// LoadWith reads the file (none when empty: the defaults), then the environment through
// lookup, as os.LookupEnv is one, then checks the whole. It returns every fault at once,
// each with file and line or with its key.
// The section telegraf is for the runner, if the program has one.
func LoadWith(file string, lookup func(string) (string, bool), runner ...plugins.Runner) (*Config, error) {
	var data []byte
	if file != "" {
		var err error
		if data, err = readFile(file); err != nil {
			return nil, err
		}
	}
	return Parse(file, data, lookup, runner...)
}

// Parse is LoadWith for a text that was already read; name stands for the file in messages,
// and relative file names in the text are relative to its directory.
func Parse(name string, data []byte, lookup func(string) (string, bool), runner ...plugins.Runner) (*Config, error) {
	c := Defaults()
	if len(runner) > 0 {
		c.plugins = runner[0]
	}
	if err := c.decode(name, data); err != nil {
		return nil, err
	}
	c.setDirectory(dirOf(name))
	if err := config.Environ(EnvPrefix, &c.Section, lookup); err != nil {
		return nil, err
	}
	if c.Node == "" {
		c.Node, _ = os.Hostname()
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("%s:\n%w", title(name), err)
	}
	return &c, nil
}

func title(name string) string {
	if name == "" {
		return "configuration"
	}
	return name
}

// prometheusKeys are the top-level keys that are Prometheus' own and mean here what they
// mean there.
var prometheusKeys = map[string]bool{"global": true, "scrape_configs": true, "scrape_config_files": true}

// foreignKeys are Prometheus' own too, but belong to what the agent is not.
var foreignKeys = map[string]bool{"rule_files": true, "alerting": true, "remote_write": true, "remote_read": true,
	"storage": true, "tracing": true, "otlp": true, "runtime": true}

// decode fills c from the text. Each top-level key goes to the decoder that owns it: the
// others' lines are blanked, so that line numbers stay true.
func (c *Config) decode(name string, data []byte) error {
	doc, err := parseDocument(name, data)
	if err != nil || doc == nil {
		return err
	}
	var errs []error
	own := doc.only(func(key string) bool { return !prometheusKeys[key] && !foreignKeys[key] })
	for _, s := range doc.sections {
		if foreignKeys[s.key] {
			errs = append(errs, fmt.Errorf("%s:%d: %s is not a part of the agent", name, s.from, s.key))
		}
	}
	errs = append(errs, plain(config.Decode(name, own, &c.Section)))
	errs = append(errs, c.decodePrometheus(name, doc))
	return errors.Join(errs...)
}

// document is a YAML text whose top level is a block mapping.
type document struct {
	lines    []string
	sections []section
}

// section is a top-level key with its lines, from 1, both ends included.
type section struct {
	key      string
	from, to int
	value    *yaml.Node
}

func parseDocument(name string, data []byte) (*document, error) {
	var root yaml.Node
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	if err := d.Decode(&root); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, plain(fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more than one YAML document", name)
	}
	top := root.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode || top.Style&yaml.FlowStyle != 0 {
		return nil, fmt.Errorf("%s:%d: the top level must be keys, one a line", name, top.Line)
	}
	doc := &document{lines: strings.SplitAfter(string(data), "\n")}
	for i := 0; i < len(top.Content); i += 2 {
		s := section{key: top.Content[i].Value, from: top.Content[i].Line, to: len(doc.lines), value: top.Content[i+1]}
		if i+2 < len(top.Content) {
			s.to = top.Content[i+2].Line - 1
		}
		for _, other := range doc.sections {
			if other.key == s.key {
				return nil, fmt.Errorf("%s:%d: key %q is already on line %d", name, s.from, s.key, other.from)
			}
		}
		doc.sections = append(doc.sections, s)
	}
	return doc, nil
}

// only returns the text with all other sections blanked.
func (d *document) only(keep func(key string) bool) []byte {
	return d.keepLines(func(line int) bool {
		for _, s := range d.sections {
			if line >= s.from && line <= s.to {
				return keep(s.key)
			}
		}
		return true
	})
}

func (d *document) keepLines(keep func(line int) bool) []byte {
	var b strings.Builder
	for i, l := range d.lines {
		if keep(i + 1) {
			b.WriteString(l)
		} else {
			b.WriteByte('\n')
		}
	}
	return []byte(b.String())
}

func (d *document) section(key string) (section, bool) {
	for _, s := range d.sections {
		if s.key == key {
			return s, true
		}
	}
	return section{}, false
}

var (
	unknownField = regexp.MustCompile(`field (\S+) not found in type .*`)
	atLine       = regexp.MustCompile(`^(\S+: )?(?:yaml: )?line (\d+): `)
)

// plain says in the words of someone who writes the file what a decoder says in the words
// of its types.
func plain(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		l = unknownField.ReplaceAllStringFunc(l, func(m string) string { return unknownKey(unknownField.FindStringSubmatch(m)[1]) })
		if m := atLine.FindStringSubmatch(l); m != nil {
			l = strings.TrimSuffix(m[1], " ") + m[2] + ": " + strings.TrimPrefix(l, m[0])
		}
		lines[i] = l
	}
	return errors.New(strings.Join(lines, "\n"))
}

func unknownKey(key string) string {
	if kind, ok := strings.CutSuffix(key, "_sd_configs"); ok {
		return fmt.Sprintf("%s: service discovery through %s is not a part of the agent; supported are static_configs, file_sd_configs and http_sd_configs", key, kind)
	}
	return fmt.Sprintf("unknown key %q", key)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, config.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > config.MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, config.MaxBytes)
	}
	return data, nil
}
