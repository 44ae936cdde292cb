package serving

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sextant/internal/bench/child"
	"sextant/internal/fetch"
)

// The online stores of Feast that are measured.
const (
	sqlite = "sqlite"
	redis  = "redis"
)

var (
	//go:embed feast.py
	script []byte
	//go:embed redis.txt
	redisClient []byte // what Feast needs to speak to Redis: requirements, by hash
)

// feast serves the same rows with Feast's own feature server, as `feast serve` starts it, and loads
// it. Its answers are compared with Sextant's first.
func (b *bench) feast(ctx context.Context, online string) ([]Row, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	repo := filepath.Join(b.dir, "feast-"+online)
	config, vars := map[string]any{"type": "sqlite", "path": filepath.Join(repo, "online.db")}, feastEnv(repo)
	if online == redis {
		addr, stop, err := startRedis(ctx, b.dir)
		if err != nil {
			return nil, err
		}
		defer stop()
		client, err := b.installRedisClient(ctx, env)
		if err != nil {
			return nil, err
		}
		config, vars = map[string]any{"type": "redis", "connection_string": addr}, append(vars, "PYTHONPATH="+client)
	}
	if err := b.prepare(ctx, env, repo, vars, config); err != nil {
		return nil, err
	}
	addr, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	server, err := child.StartProgram(ctx, b.dir, "feast-serve-"+online, "", vars,
		[]string{filepath.Join(env, "bin", "feast"), "-c", repo, "serve", "--host", "127.0.0.1", "--port", port(addr), "--no-access-log"})
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	if err := await(ctx, "http://"+addr+"/health", 3*time.Minute, server); err != nil {
		return nil, err
	}
	url := "http://" + addr + "/get-online-features"
	var rows []Row
	for _, n := range sizes {
		b.say("feast %s, %d × %d over HTTP", online, n, width)
		bodies := requests(n, b.Entities, jsonRequest)
		answer, err := post(ctx, url, bodies[0])
		if err == nil {
			err = sameAnswer(b.answers[n], answer)
		}
		if err != nil {
			return nil, err
		}
		row, err := b.measure(ctx, server, Row{Program: "feast " + online, Entities: n, Width: width}, httpLoad(url, bodies), b.Duration)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func feastEnv(repo string) []string {
	return []string{"FEAST_USAGE=False", "HOME=" + repo, "PYTHONWARNINGS=ignore"}
}

// environment is the folder of Feast's virtual environment, which scripts/feast.sh makes.
func environment() (string, error) {
	cache, err := fetch.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "feast-0.67.0")
	if _, err := os.Stat(filepath.Join(dir, "bin", "feast")); err != nil {
		return "", errors.New("the Feast SDK is not installed: scripts/feast.sh fetch does it")
	}
	return dir, nil
}

// prepare makes a repository of the view, and puts the stored rows into its online store.
func (b *bench) prepare(ctx context.Context, env, repo string, vars []string, online map[string]any) error {
	if err := os.Mkdir(repo, 0o755); err != nil {
		return err
	}
	rows, err := os.Create(filepath.Join(repo, "rows.parquet"))
	if err != nil {
		return err
	}
	err = b.store.Do(ctx, "SELECT toString(node) AS node, tick, "+strings.Join(names(width), ", ")+" FROM sextant.features_"+wide+"_v1 FINAL FORMAT Parquet", rows)
	if err = errorsOf(err, rows.Close()); err != nil {
		return err
	}
	// JSON is YAML, and its quoting is simpler.
	config, err := json.Marshal(map[string]any{"project": "bench", "provider": "local", "registry": filepath.Join(repo, "registry.db"),
		"offline_store": map[string]any{"type": "file"}, "online_store": online, "entity_key_serialization_version": 3})
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"feature_store.yaml": config, "prepare.py": script} {
		if err := os.WriteFile(filepath.Join(repo, name), text, 0o600); err != nil {
			return err
		}
	}
	b.say("writing %d rows into Feast's online store %s", b.Entities, online["type"])
	cmd := exec.CommandContext(ctx, filepath.Join(env, "bin", "python"), filepath.Join(repo, "prepare.py"), repo, wide, strings.Join(names(width), ","))
	cmd.Env = append(os.Environ(), vars...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("prepare feast: %w: %s", err, out[max(0, len(out)-400):])
	}
	return nil
}

// startRedis runs the redis-server of this machine's packages, without a disk.
func startRedis(ctx context.Context, dir string) (addr string, stop func(), err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil, errors.New("there is no redis-server: Debian's package of that name has it")
	}
	if addr, err = child.FreeAddr(); err != nil {
		return "", nil, err
	}
	p, err := child.StartProgram(ctx, dir, "redis", "", nil, []string{path, "--port", port(addr), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir})
	if err != nil {
		return "", nil, err
	}
	return addr, p.Stop, nil
}

// installRedisClient installs Feast's client of Redis beside its environment, once.
func (b *bench) installRedisClient(ctx context.Context, env string) (string, error) {
	dir := env + "-redis"
	pins := filepath.Join(dir, "redis.txt")
	if have, err := os.ReadFile(pins); err == nil && bytes.Equal(have, redisClient) {
		return dir, nil
	}
	wanted := filepath.Join(b.dir, "redis.txt")
	if err := os.WriteFile(wanted, redisClient, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(env, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--upgrade",
		"--require-hashes", "--only-binary", ":all:", "--target", dir, "-r", wanted)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install redis: %w: %s", err, out[max(0, len(out)-300):])
	}
	return dir, os.WriteFile(pins, redisClient, 0o600)
}

// onlineAnswer is what both servers answer.
type onlineAnswer struct {
	Metadata struct {
		Names []string `json:"feature_names"`
	} `json:"metadata"`
	Results []struct {
		Values   []any    `json:"values"`
		Statuses []string `json:"statuses"`
	} `json:"results"`
}

// sameAnswer says whether two answers have the same values, as float32, in whatever order
// of columns.
func sameAnswer(ours, theirs []byte) error {
	var a, b onlineAnswer
	if err := errorsOf(json.Unmarshal(ours, &a), json.Unmarshal(theirs, &b)); err != nil {
		return fmt.Errorf("%w in %.200s", err, bytes.TrimSpace(theirs))
	}
	columns := map[string]int{}
	for i, name := range b.Metadata.Names {
		columns[name] = i
	}
	for i, name := range a.Metadata.Names {
		j, ok := columns[name]
		if !ok || len(a.Results[i].Values) != len(b.Results[j].Values) {
			return fmt.Errorf("the Feast server answers no column %s as long as Sextant's", name)
		}
		for row, x := range a.Results[i].Values {
			y := b.Results[j].Values[row]
			p, number := x.(float64)
			q, _ := y.(float64)
			if x != y && !(number && math.Abs(p-q) <= 1e-6*max(1, math.Abs(p))) || b.Results[j].Statuses[row] != "PRESENT" {
				return fmt.Errorf("%s of row %d: Sextant answers %v and Feast %v, %s", name, row, x, y, b.Results[j].Statuses[row])
			}
		}
	}
	return nil
}
