// Package kubetest starts a Kubernetes control plane for tests, by scripts/kubernetes.sh.
package kubetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"sextant/internal/testkit/kafkatest"
)

// Cluster is a running control plane without nodes.
type Cluster struct {
	Admin   *rest.Config // may do everything
	Watcher string       // kubeconfig file of the service account sextant/sextant-watch
	AsWatch *rest.Config // the same
}

// Start builds the control plane if it is not in the cache, and starts it on free ports.
// It ends with the test. root is the way to the folder of go.mod.
func Start(t *testing.T, root string) *Cluster {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(root, "scripts", "kubernetes.sh"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ports, err := kafkatest.FreePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	run(t, script, "fetch")
	args := []string{"start", dir}
	for _, p := range ports {
		args = append(args, strconv.Itoa(p))
	}
	t.Cleanup(func() { run(t, script, "stop", dir) })
	run(t, script, args...)
	c := &Cluster{Watcher: filepath.Join(dir, "watcher.kubeconfig")}
	c.Admin = config(t, filepath.Join(dir, "admin.kubeconfig"))
	c.AsWatch = config(t, c.Watcher)
	return c
}

func config(t *testing.T, file string) *rest.Config {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS, cfg.Burst = 500, 1000
	return cfg
}

func run(t *testing.T, script string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(script, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "SEXTANT_KUBERNETES_OWNER="+strconv.Itoa(os.Getpid()))
	if err := cmd.Run(); err != nil {
		t.Fatal(fmt.Errorf("kubernetes.sh %s: %w: %s", args[0], err, out.Bytes()))
	}
}
