package pipeline_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// base is second 0 of the scripts: a multiple of every interval in use.
const base = int64(1_800_000_000_000)

// TestScripts runs testdata/*.txt. A script is a list of commands; the indented lines
// after a command belong to it. Times are seconds after base.
//
//	view NAME [interval=30s] [keys=node,uid] begins a view, with the key node if none is named
//	  FEATURE [TYPE] = PROMQL
//	record NODE scrape=9s [ingest= seq= agent= target= state= offset=]
//	  METRIC{LABELS} VALUE [@TIME]           VALUE may be stale
//	records NODE 1s..61s [target= state=]    one every 10 s; VALUE may be 5+2: 5, 7, 9 …
//	  METRIC{LABELS} VALUE
//	garbage NODE ingest=9s                   a record whose value does not decode
//	idle 40s                                 the clock, while nothing comes
//	take                                     then everything that comes out, in this order:
//	  sample NODE METRIC{LABELS} TIME VALUE [FLAGS]
//	  ledger NODE seq= rows= [late= duplicates=]
//	  dead REASON
//	  row VIEW KEYS TICK known= FEATURE=VALUE [flags=]
//	  commit offset= written= watermark= start=
//	flags                                    take, and of it the lines that have flags
//	restart                                  from the last take's checkpoint, log and all
//	count NAME=N …
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{t: t, file: file, seq: map[string]uint64{}, names: map[uint64]string{}}
			s.run(string(text))
		})
	}
}

type script struct {
	t      *testing.T
	file   string
	line   int
	views  []*features.View
	m      *pipeline.Machine
	log    []wire.Record
	offset int64
	seq    map[string]uint64
	names  map[uint64]string
	last   pipeline.Checkpoint
}

func (s *script) fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s:%d: %s", s.file, s.line, fmt.Sprintf(format, args...))
}

func (s *script) run(text string) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		s.line = i + 1
		head := strings.Fields(strip(lines[i]))
		i++
		var body []string
		for i < len(lines) && strings.HasPrefix(lines[i], " ") {
			if l := strings.TrimSpace(strip(lines[i])); l != "" {
				body = append(body, l)
			}
			i++
		}
		if len(head) > 0 {
			s.do(head[0], head[1:], body)
		}
	}
}

func strip(line string) string {
	line, _, _ = strings.Cut(line, "# ")
	return line
}

func (s *script) do(cmd string, args, body []string) {
	s.t.Helper()
	if cmd != "view" && s.m == nil {
		s.start(pipeline.Checkpoint{})
	}
	switch cmd {
	case "view":
		s.view(args, body)
	case "record":
		s.record(args, body)
	case "records":
		s.records(args, body)
	case "garbage":
		r := s.head(args)
		r.Value = []byte("not protobuf")
		s.add(r, true)
	case "idle":
		s.m.Idle(s.time(args[0]))
	case "take":
		s.take(body, func(string) bool { return true })
	case "flags":
		s.take(body, flagLine.MatchString)
	case "restart":
		s.start(s.last)
		for _, r := range s.log {
			if r.Offset >= s.last.Offset {
				_ = s.m.Add(r) // dead letters were seen the first time
			}
		}
	case "count":
		s.count(args)
	default:
		s.fatalf("unknown command %q", cmd)
	}
}

func (s *script) start(c pipeline.Checkpoint) {
	m, err := pipeline.NewMachine(pipeline.Config{Topic: "t", Views: s.views, Lookback: 30 * time.Second}, c)
	if err != nil {
		s.fatalf("%v", err)
	}
	s.m = m
}

func (s *script) view(args, body []string) {
	v := &features.View{Name: args[0], Version: 1, Entity: "node", Keys: []string{"node"}, Interval: 10 * time.Second, File: s.file}
	for _, a := range args[1:] {
		if keys, ok := strings.CutPrefix(a, "keys="); ok {
			v.Keys = strings.Split(keys, ",")
			continue
		}
		d, err := time.ParseDuration(strings.TrimPrefix(a, "interval="))
		if err != nil {
			s.fatalf("%v", err)
		}
		v.Interval = d
	}
	for _, l := range body {
		name, expr, _ := strings.Cut(l, "=")
		f := features.Feature{DType: features.Float64, Expr: strings.TrimSpace(expr), Line: s.line}
		words := strings.Fields(name)
		f.Name = words[0]
		for _, w := range words[1:] {
			switch {
			case w == "int64":
				f.DType = features.Int64
			case w == "bool":
				f.DType = features.Bool
			case w == "float32":
				f.DType = features.Float32
			case strings.HasPrefix(w, "string:"):
				f.DType, f.Label = features.String, strings.TrimPrefix(w, "string:")
			case strings.HasPrefix(w, "max:"):
				f.Max = new(float64)
				*f.Max = s.number(strings.TrimPrefix(w, "max:"))
			default:
				s.fatalf("unknown %q", w)
			}
		}
		v.Features = append(v.Features, f)
	}
	s.views = append(s.views, v)
}

// head makes a record without a value.
func (s *script) head(args []string) wire.Record {
	env := wire.Envelope{Version: 1, Node: args[0], Agent: "agent-" + args[0], Target: "node/" + args[0]}
	r := wire.Record{Key: []byte(args[0]), Offset: s.offset}
	for _, a := range args[1:] {
		name, v, _ := strings.Cut(a, "=")
		switch name {
		case "scrape":
			env.Scrape = s.time(v)
		case "ingest":
			r.Ingest = s.time(v)
		case "agent":
			env.Agent = v
		case "target":
			env.Target = v
		case "seq":
			env.Seq = uint64(s.number(v))
		case "offset":
			r.Offset = int64(s.number(v))
		case "key":
			r.Key = []byte(v)
		case "state":
			st, err := wire.ParseState([]byte(v))
			if err != nil {
				s.fatalf("%v", err)
			}
			env.State = st
		default:
			s.fatalf("unknown %q", a)
		}
	}
	if r.Ingest == 0 {
		r.Ingest = env.Scrape
	}
	if env.Scrape == 0 {
		env.Scrape = r.Ingest
	}
	if env.Seq == 0 {
		s.seq[env.Agent]++
		env.Seq = s.seq[env.Agent]
	}
	env.Oldest = env.Seq
	r.Headers = env.AppendHeaders(nil)
	s.offset = r.Offset + 1
	return r
}

func (s *script) record(args, body []string) {
	r := s.head(args)
	env, err := wire.ParseEnvelope(r.Headers, nil)
	if err != nil {
		s.fatalf("%v", err)
	}
	var scrape scrape
	for _, l := range body {
		metric, rest := s.metric(l)
		f := strings.Fields(rest)
		at := env.Scrape
		if len(f) > 1 {
			at = s.time(strings.TrimPrefix(f[1], "@"))
		}
		scrape.add(metric, at, s.number(f[0]))
	}
	r.Value = scrape.encode()
	s.add(r, string(r.Key) != env.Node)
}

// records makes one record every 10 s, of values that may grow.
func (s *script) records(args, body []string) {
	first, last, _ := strings.Cut(args[1], "..")
	from, to := s.time(first), s.time(last)
	for step := int64(0); from+step*10_000 <= to; step++ {
		var lines []string
		for _, l := range body {
			_, rest := s.metric(l)
			start, more, grows := strings.Cut(strings.TrimSpace(rest), "+")
			if grows {
				l = strings.TrimSuffix(l, rest) + " " + show(s.number(start)+float64(step)*s.number(more))
			}
			lines = append(lines, l)
		}
		s.record(append([]string{args[0], "scrape=" + since(from+step*10_000)}, args[2:]...), lines)
	}
}

func (s *script) add(r wire.Record, dead bool) {
	s.log = append(s.log, r)
	if err := s.m.Add(r); (err != nil) != dead {
		s.fatalf("add: %v", err)
	}
}

// metric reads METRIC{LABELS} and returns what follows.
func (s *script) metric(line string) (labels.Labels, string) {
	end := strings.IndexByte(line, ' ')
	if i := strings.IndexByte(line, '}'); i >= 0 {
		end = i + 1
	}
	ls, err := parser.NewParser(parser.Options{}).ParseMetric(line[:end])
	if err != nil {
		s.fatalf("%v", err)
	}
	return ls, line[end:]
}

// flagLine is a line that tells of flags: a sample that has some, or is one of the series
// that are for them, and a row.
var flagLine = regexp.MustCompile(`^(sample .*( [a-z_,]+|NaN)|sample \S+ sample_flag.*|row .* flags=.*)$`)

func (s *script) take(want []string, shown func(string) bool) {
	b := s.m.Take()
	var got []string
	if b != nil {
		s.last = b.Next
		got = slices.DeleteFunc(s.show(b), func(line string) bool { return !shown(line) })
	}
	if !slices.Equal(got, want) {
		s.fatalf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// show writes a batch in the words of the scripts.
func (s *script) show(b *pipeline.Batch) []string {
	var out []string
	put := func(format string, args ...any) { out = append(out, strings.TrimSpace(fmt.Sprintf(format, args...))) }
	for _, r := range b.Series {
		lb := labels.NewBuilder(labels.EmptyLabels())
		for _, l := range r.Labels {
			if l.Name != "node" {
				lb.Set(l.Name, l.Value)
			}
		}
		text := ""
		if ls := lb.Labels(); !ls.IsEmpty() {
			text = ls.String()
		}
		s.names[r.ID] = r.Node + " " + r.Name + text
	}
	for i, id := range b.Samples.Series {
		put("sample %s %s %s %s", s.names[id], since(b.Samples.Time[i]), show(b.Samples.Value[i]), quality.Text(b.Samples.Flags[i]))
	}
	for _, l := range b.Ledger {
		text := fmt.Sprintf("ledger %s seq=%d rows=%d", l.Node, l.Seq, l.Rows)
		if l.Late > 0 {
			text += fmt.Sprintf(" late=%d", l.Late)
		}
		if l.Duplicates > 0 {
			text += fmt.Sprintf(" duplicates=%d", l.Duplicates)
		}
		put("%s", text)
	}
	for _, d := range b.Dead {
		put("dead %s", d.Reason)
	}
	for _, r := range b.Rows {
		for i := range r.Tick {
			text := fmt.Sprintf("row %s %s %s known=%s", r.View.Name, keysOf(r, i), since(r.Tick[i]), since(r.Known[i]))
			for c, f := range r.View.Features {
				v := r.Cols[c]
				if f.DType == features.String {
					text += fmt.Sprintf(" %s=%q", f.Name, v.Str[i])
				} else if !math.IsNaN(v.Num[i]) {
					text += fmt.Sprintf(" %s=%s", f.Name, show(v.Num[i]))
				}
			}
			if f := r.Flag(i); f != 0 {
				text += " flags=" + quality.Text(f)
			}
			put("%s", text)
		}
	}
	put("commit offset=%d written=%d watermark=%s start=%s", b.Next.Offset, b.Next.Written, since(b.Next.Watermark), since(b.Next.Start))
	return out
}

func (s *script) count(args []string) {
	c := s.m.Counts()
	for _, a := range args {
		name, want, _ := strings.Cut(a, "=")
		got, ok := map[string]uint64{
			"dead": c.Dead, "late": c.Late, "duplicates": c.Duplicates, "stale": c.Stale,
			"refused": c.Refused, "ticks": c.Ticks, "replayed": c.Replayed,
			"events": c.Events, "superseded": c.Superseded, "mistyped": c.Mistyped,
			"unknown_names": c.UnknownNames, "no_device": c.NoDevice, "repeated": c.Repeated, "contradictions": c.Contradictions, "outranked": c.Outranked,
			"misses": c.LayoutMisses, "windows": uint64(s.m.Windows()),
		}[name]
		for _, f := range quality.All {
			if name == "flag."+f.Name {
				got, ok = c.Flagged(f.Bit), true
			}
		}
		if !ok {
			s.m.FeatureCounts(func(_, f string, c pipeline.FeatureCounts) {
				for reason, n := range map[string]uint64{"errors": c.Errors, "extra": c.ExtraLabels, "two": c.Duplicates, "range": c.OutOfRange} {
					if f+"."+reason == name {
						got, ok = n, true
					}
				}
			})
		}
		if !ok || strconv.FormatUint(got, 10) != want {
			s.fatalf("count %s=%d (known: %v), want %s", name, got, ok, want)
		}
	}
}

func (s *script) time(text string) int64 {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.fatalf("%v", err)
	}
	return base + d.Milliseconds()
}

func (s *script) number(text string) float64 {
	if text == "stale" {
		return math.Float64frombits(value.StaleNaN)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.fatalf("%v", err)
	}
	return v
}

func show(v float64) string {
	if value.IsStaleNaN(v) {
		return "stale"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// since writes a time as the scripts do.
func since(ms int64) string {
	if ms == 0 {
		return "never"
	}
	text := (time.Duration(ms-base) * time.Millisecond).String()
	if d := time.Duration(ms-base) * time.Millisecond; d >= 0 && d < 1000*time.Second || d < 0 {
		text = strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
	}
	return text
}
