package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"sextant/internal/config"
	"sextant/internal/embedded/broker"
	"sextant/internal/testkit/kubetest"
	"sextant/pipeline/kafka"
	"sextant/schema/tasks"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// TestMain runs the watcher where a test starts this program again, as a process that can
// be killed.
func TestMain(m *testing.M) {
	if kubeconfig := os.Getenv("SEXTANT_TEST_WATCH"); kubeconfig != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		cfg := testConfig(kubeconfig)
		metrics, err := NewMetrics(nil)
		if err == nil {
			err = Run(ctx, cfg, Options{Kafka: kafka.Config{Brokers: []string{os.Getenv("SEXTANT_TEST_BROKER")}}, Metrics: metrics,
				Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func testConfig(kubeconfig string) Config {
	cfg := DefaultConfig()
	cfg.Kubeconfig, cfg.Cluster, cfg.Namespace, cfg.LeaseFor = kubeconfig, "test", "sextant", config.Duration(3*time.Second)
	return cfg
}

// bench is a control plane, a broker and what the test does with them.
type bench struct {
	*testing.T
	cluster *kubetest.Cluster
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	kafka   kafka.Config
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, cluster: kubetest.Start(t, "../..")}
	var err error
	if b.typed, err = kubernetes.NewForConfig(b.cluster.Admin); err != nil {
		t.Fatal(err)
	}
	if b.dynamic, err = dynamic.NewForConfig(b.cluster.Admin); err != nil {
		t.Fatal(err)
	}
	b.kafka = startBroker(t)
	b.apply("../../deploy/kubernetes/namespace.yaml")
	b.apply("../../deploy/kubernetes/rbac.yaml")
	return b
}

func startBroker(t *testing.T) kafka.Config {
	t.Helper()
	all := topics.All()
	for i := range all {
		all[i] = all[i].Single()
	}
	br, err := broker.Start(t.Context(), broker.Config{Dir: t.TempDir(), Group: "none", Topics: all, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { br.Close() })
	return kafka.Config{Brokers: []string{br.Addr()}}
}

// must returns v, or ends the test.
func must[V any](v V, err error) func(*bench) V {
	return func(b *bench) V {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}

// until polls until ok, for a minute.
func (b *bench) until(what string, ok func() bool) {
	b.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if ok() {
			return
		}
	}
	b.Fatalf("not within two minutes: %s", what)
}

// plurals of the kinds that the test applies.
var plurals = map[string]string{"Namespace": "namespaces", "ServiceAccount": "serviceaccounts", "ClusterRole": "clusterroles", "Role": "roles",
	"ClusterRoleBinding": "clusterrolebindings", "RoleBinding": "rolebindings", "CustomResourceDefinition": "customresourcedefinitions"}

// apply creates the objects of a file, as the administrator.
func (b *bench) apply(file string) {
	b.Helper()
	text := must(os.ReadFile(file))(b)
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		u := &unstructured.Unstructured{}
		if err := d.Decode(u); err != nil {
			break
		}
		gv := must(schema.ParseGroupVersion(u.GetAPIVersion()))(b)
		c := b.dynamic.Resource(gv.WithResource(plurals[u.GetKind()])).Namespace(u.GetNamespace())
		if _, err := c.Create(b.Context(), u, metav1.CreateOptions{}); err != nil {
			b.Fatalf("%s: %s %s: %v", file, u.GetKind(), u.GetName(), err)
		}
	}
}

// child is a watcher in a process of its own.
type child struct {
	*exec.Cmd
	mu  sync.Mutex
	log bytes.Buffer // guarded by mu
}

func (c *child) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(p)
}

func (c *child) said(words string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(c.log.String(), words)
}

func (b *bench) watcher() *child {
	b.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), "SEXTANT_TEST_WATCH="+b.cluster.Watcher, "SEXTANT_TEST_BROKER="+b.kafka.Brokers[0])
	c.Stderr = c
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		c.kill()
		if b.Failed() {
			b.Logf("watcher %d:\n%s", c.Process.Pid, c.log.String())
		}
	})
	return c
}

// kill is kill -9.
func (c *child) kill() {
	_ = c.Process.Kill() // it may be gone
	_ = c.Wait()
}

// events are all that the topic holds.
func (b *bench) events() []tasks.Event { return eventsIn(b.T, b.kafka) }

func eventsIn(t *testing.T, cfg kafka.Config) (out []tasks.Event) {
	t.Helper()
	err := kafka.ReadAll(t.Context(), cfg, topics.Tasks, func(r *wire.Record) error {
		e, err := tasks.Decode(r.Value, r.Ingest)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Value, err)
		}
		if string(r.Key) != string(e.Key()) {
			return fmt.Errorf("the key is %q", r.Key)
		}
		out = append(out, *e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// nodes creates nodes that the scheduler binds to.
func (b *bench) nodes(n int) {
	b.Helper()
	for i := range n {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{"topology.kubernetes.io/rack": fmt.Sprintf("r%d", i%2)}}}
		node = must(b.typed.CoreV1().Nodes().Create(b.Context(), node, metav1.CreateOptions{}))(b)
		node.Status.Allocatable = quantities("cpu", "64", "memory", "256Gi", "pods", "100", "nvidia.com/gpu", "8")
		node.Status.Capacity = node.Status.Allocatable
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		must(b.typed.CoreV1().Nodes().UpdateStatus(b.Context(), node, metav1.UpdateOptions{}))(b)
	}
}

// patch changes the status of a pod, as its kubelet would.
func (b *bench) patch(name, status string) {
	b.Helper()
	_, err := b.typed.CoreV1().Pods("work").Patch(b.Context(), name, types.StrategicMergePatchType, []byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status")
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
}

// optionalCRDs installs those of schedulers and queues.
func (b *bench) optionalCRDs() {
	b.Helper()
	files := must(filepath.Glob("testdata/crds/*.yaml"))(b)
	if len(files) == 0 {
		b.Fatal(fs.ErrNotExist)
	}
	for _, f := range files {
		b.apply(f)
	}
}

// TestTheRoleIsEnoughAndNoMore: the manifest's service account may do what the watcher
// does, which the other tests show, and nothing else.
func (b *bench) forbidden() {
	b.Helper()
	c := must(kubernetes.NewForConfig(b.cluster.AsWatch))(b)
	ctx, core := b.Context(), c.CoreV1()
	for name, do := range map[string]func() error{
		"create a pod": func() error { _, err := core.Pods("work").Create(ctx, pod(), metav1.CreateOptions{}); return err },
		"delete a pod": func() error { return core.Pods("work").Delete(ctx, "p000", metav1.DeleteOptions{}) },
		"patch a pod": func() error {
			_, err := core.Pods("work").Patch(ctx, "p000", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			return err
		},
		"patch a node": func() error {
			_, err := core.Nodes().Patch(ctx, "n0", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			return err
		},
		"delete a node":    func() error { return core.Nodes().Delete(ctx, "n0", metav1.DeleteOptions{}) },
		"list secrets":     func() error { _, err := core.Secrets("").List(ctx, metav1.ListOptions{}); return err },
		"list config maps": func() error { _, err := core.ConfigMaps("").List(ctx, metav1.ListOptions{}); return err },
		"read a pod's log": func() error {
			_, err := core.Pods("work").GetLogs("p000", &corev1.PodLogOptions{}).DoRaw(ctx)
			return err
		},
		"delete its lease": func() error {
			return c.CoordinationV1().Leases("sextant").Delete(ctx, "sextant-watch", metav1.DeleteOptions{})
		},
		"read another lease": func() error {
			_, err := c.CoordinationV1().Leases("sextant").Get(ctx, "other", metav1.GetOptions{})
			return err
		},
		"read leases beyond": func() error {
			_, err := c.CoordinationV1().Leases("kube-system").Get(ctx, "sextant-watch", metav1.GetOptions{})
			return err
		},
	} {
		if err := do(); !apierrors.IsForbidden(err) {
			b.Errorf("%s: %v, want forbidden", name, err)
		}
	}
	if _, err := core.Pods("").List(ctx, metav1.ListOptions{}); err != nil {
		b.Error(errors.Join(errors.New("the same account may list pods"), err))
	}
	if _, err := core.Nodes().List(ctx, metav1.ListOptions{}); err != nil {
		b.Error(errors.Join(errors.New("the same account may list nodes"), err))
	}
}

const mergePatch = types.MergePatchType

func typesUID(s string) types.UID { return types.UID(s) }
