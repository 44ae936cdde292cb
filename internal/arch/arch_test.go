// Package arch holds the test of the project's import rules.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A rule forbids a set of packages from importing another, and says why.
type rule struct {
	why    string
	from   []string // prefixes of the importing package; "" is every package
	except []string // prefixes that may
	never  []string // prefixes of imports that from must not have
	deep   bool     // also through other packages
}

var cores = []string{"sextant/pipeline", "sextant/features", "sextant/schema"}
var adapters = []string{"sextant/pipeline/kafka", "sextant/features/online", "sextant/features/api", "sextant/features/promapi", "sextant/features/snapshot", "sextant/features/statapi", "sextant/features/training"}

var rules = []rule{
	{why: "kafka-go lives in one folder, so that its traps are handled once",
		except: []string{"sextant/pipeline/kafka"}, never: []string{"github.com/segmentio/kafka-go"}},
	{why: "clickhouse-go and goose live in one folder, so that HTTP and native differ in one place",
		except: []string{"sextant/internal/clickhouse"}, never: []string{"github.com/ClickHouse/clickhouse-go", "github.com/pressly/goose"}},
	{why: "the embedded broker alone speaks franz-go; everything else is a kafka-go client, as in production",
		except: []string{"sextant/internal/embedded/broker", "sextant/internal/bench"}, never: []string{"github.com/twmb/franz-go"}},
	{why: "purego calls into C live in one folder",
		except: []string{"sextant/internal/chdb"}, never: []string{"github.com/ebitengine/purego"}},
	{why: "client-go lives in one folder, and only the watcher needs it",
		except: []string{"sextant/internal/kube", "sextant/internal/testkit/kubetest"}, never: []string{"k8s.io/client-go", "k8s.io/api"}},
	{why: "go-dcgm needs cgo, and all else must build without",
		except: []string{"sextant/collectors/dcgm"}, never: []string{"github.com/NVIDIA/go-dcgm"}},
	{why: "go-nvml needs cgo, and all else must build without",
		except: []string{"sextant/collectors/nvml"}, never: []string{"github.com/NVIDIA/go-nvml"}},
	{why: "a core is pure: it never reaches an adapter, a client or a server",
		from: cores, except: adapters, deep: true,
		never: []string{"sextant/pipeline/kafka", "sextant/features/online", "sextant/features/api", "sextant/features/promapi", "sextant/features/snapshot", "sextant/features/statapi", "sextant/features/training", "sextant/internal", "sextant/collectors", "sextant/cmd",
			"github.com/segmentio/kafka-go", "github.com/ClickHouse", "k8s.io/client-go", "github.com/twmb/franz-go", "github.com/ebitengine/purego"}},
	{why: "the schema is the contract that all others share, so it knows none of them",
		from: []string{"sextant/schema"}, never: []string{"sextant/pipeline", "sextant/features", "sextant/collectors", "sextant/internal", "sextant/cmd"}},
	{why: "definitions of features do not depend on how they are evaluated",
		from: []string{"sextant/features"}, never: []string{"sextant/pipeline"}},
	{why: "the agent stays small: no query engine, no store, no broker",
		from: []string{"sextant/cmd/sextant-agent"}, deep: true,
		never: []string{"sextant/internal/clickhouse", "sextant/internal/chdb", "sextant/internal/embedded", "sextant/internal/kube", "sextant/pipeline$", "sextant/features",
			"github.com/prometheus/prometheus/promql$", "github.com/ClickHouse", "github.com/twmb/franz-go"}},
	{why: "what the agent links, each node keeps in memory: no plugin, no SDK of a cloud",
		from: []string{"sextant/cmd/sextant-agent"}, deep: true,
		never: []string{"github.com/prometheus/prometheus/config", "github.com/influxdata/telegraf", "github.com/aws", "github.com/Azure", "cloud.google.com/go",
			"google.golang.org/grpc", "k8s.io/client-go/kubernetes"}},
	{why: "nothing reads back upstream: the pipeline does not know the collectors, nor they it",
		from: []string{"sextant/collectors"}, never: []string{"sextant/pipeline$", "sextant/features", "sextant/internal/clickhouse"}},
	{why: "the console asks a small interface, so that it knows no store",
		from: []string{"sextant/dashboards/console"}, never: []string{"sextant/internal/clickhouse", "sextant/pipeline"}},
	{why: "commands are the top: nobody imports them", except: []string{"sextant/cmd"}, never: []string{"sextant/cmd"}},
}

type pkg struct {
	ImportPath    string
	Imports, Deps []string
}

func TestImportsPointOneWay(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages: the rules would hold for nothing", len(pkgs))
	}
	for _, p := range pkgs {
		for _, r := range rules {
			if bad := r.broken(p); bad != "" {
				t.Errorf("%s imports %s, but %s", p.ImportPath, bad, r.why)
			}
		}
	}
}

// TestRulesBite breaks each rule on paper, so that a rule that can never fail is seen.
func TestRulesBite(t *testing.T) {
	for _, r := range rules {
		from := "sextant/other"
		if len(r.from) > 0 {
			from = r.from[0]
		}
		bad := strings.TrimSuffix(r.never[0], "$")
		if r.broken(pkg{ImportPath: from, Imports: []string{bad}, Deps: []string{bad}}) == "" {
			t.Errorf("the rule %q lets %s import %s", r.why, from, bad)
		}
	}
}

// broken returns the first forbidden import of p, or "".
func (r rule) broken(p pkg) string {
	if len(r.from) > 0 && !anyPrefix(p.ImportPath, r.from) || anyPrefix(p.ImportPath, r.except) {
		return ""
	}
	imports := p.Imports
	if r.deep {
		imports = p.Deps
	}
	for _, i := range imports {
		if anyPrefix(i, r.never) {
			return i
		}
	}
	return ""
}

// anyPrefix reports whether path is one of the folders or lies below it. A folder with
// "$" at its end stands for itself alone.
func anyPrefix(path string, folders []string) bool {
	for _, f := range folders {
		if exact, ok := strings.CutSuffix(f, "$"); ok {
			if path == exact {
				return true
			}
		} else if path == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}

// readSources opens every Go file, because the test cache looks at what a test opens and
// not at what go list, a process of its own, does: without this a broken rule would be
// hidden by an earlier success.
func readSources(t *testing.T) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".go"):
			_, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T) []pkg {
	t.Helper()
	readSources(t)
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "sextant/...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pkgs []pkg
	for d := json.NewDecoder(out); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("go list: %v", err)
	}
	return pkgs
}
