package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sextant/internal/httpserve"
)

// schemathesisArgs bound a run: by time, and so that a seed gives the same requests again. There is
// one worker, as threads disturb each other in the parser of CPython 3.11, which Hypothesis uses. How
// answers are judged is in testdata/schemathesis.toml.
var schemathesisArgs = []string{"run", "--phases=examples,coverage,fuzzing", "--max-examples=10", "--max-time=45", "--seed=1", "--workers=1",
	"--request-timeout=20", "--suppress-health-check=all", "--continue-on-failure", "--no-shrink", "--warnings=off", "--no-color",
	"--exclude-path=/v1/watch"} // it never ends: see checkStream

// TestSchemathesis lets schemathesis try a running server against its own description, with right
// requests and wrong ones: no answer is 5xx, each has the status, headers and shape that are
// described, and what the schemas forbid is refused.
func TestSchemathesis(t *testing.T) {
	python, err := exec.Command("../../scripts/feast.sh", "python").Output()
	if err != nil {
		t.Fatalf("%v: scripts/feast.sh fetch installs it", err)
	}
	// What waits for the only place is 503, and no fault.
	addr := listen(t, newAPIStore(t).api(t, func(c *Config) { c.Serve.Training.Concurrency, c.Serve.Snapshot.AsOf = 4, 4 }))
	awaitSnapshot(t, addr)
	checkStream(t, addr)
	config, err := filepath.Abs("testdata/schemathesis.toml")
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--config-file=" + config}, schemathesisArgs...)
	cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(strings.TrimSpace(string(python))), "schemathesis"), append(args, "http://"+addr+"/openapi.json")...)
	cmd.Dir = t.TempDir() // it keeps what it found beside itself
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	out = shortLines(out)
	if err != nil {
		t.Errorf("%v\n%s", err, out[max(0, len(out)-20_000):])
	}
	for _, want := range []string{"Examples", "Coverage", "Fuzzing", "selected / "} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %q in what it says:\n%s", want, out)
		}
	}
	t.Logf("%s", out[max(0, len(out)-1500):])
}

// shortLines cuts what is too long to be read: requests of 64 KiB, say.
func shortLines(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if len(line) > 300 {
			line = append(line[:300:300], "…\n"...)
		}
		out = append(out, line...)
	}
	return out
}

// awaitSnapshot waits until the first version is published: questions before that are 503.
func awaitSnapshot(t *testing.T, addr string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		res, err := http.Get("http://" + addr + "/v1/snapshot?service=node_basics&format=json")
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatal("no snapshot is published")
}

// checkStream reads the beginning of a stream, as it is described.
func checkStream(t *testing.T, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/v1/watch?service=node_basics&format=events", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text := make([]byte, 200)
	if _, err := io.ReadFull(res.Body, text); err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" ||
		!bytes.Contains(text, []byte(`"kind":"snapshot"`)) {
		t.Errorf("the stream begins %d %v, %s: %v", res.StatusCode, res.Header, text, err)
	}
}

// listen serves an API until the test ends.
func listen(t *testing.T, a *featureAPI) string {
	t.Helper()
	server, err := httpserve.Listen(httpserve.Options{Addr: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- server.Run(ctx, a) }()
	go func() { ended <- a.run(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			select {
			case err := <-ended:
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the API does not stop")
			}
		}
	})
	return server.Addr()
}
