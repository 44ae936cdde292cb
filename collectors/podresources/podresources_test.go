package podresources

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	v1 "k8s.io/kubelet/pkg/apis/podresources/v1"

	"sextant/schema/catalog"
)

// kubelet is the service as Kubernetes publishes it, on a real gRPC server.
type kubelet struct {
	v1.UnimplementedPodResourcesListerServer
	list        *v1.ListPodResourcesResponse
	allocatable *v1.AllocatableResourcesResponse // nil: the kubelet is too old to tell
	fault       error
}

func (k *kubelet) List(context.Context, *v1.ListPodResourcesRequest) (*v1.ListPodResourcesResponse, error) {
	return k.list, k.fault
}

func (k *kubelet) GetAllocatableResources(ctx context.Context, r *v1.AllocatableResourcesRequest) (*v1.AllocatableResourcesResponse, error) {
	if k.allocatable == nil {
		return k.UnimplementedPodResourcesListerServer.GetAllocatableResources(ctx, r)
	}
	return k.allocatable, nil
}

// serve runs k until the test or the function ends.
func serve(t *testing.T, socket string, k *kubelet) (stop func()) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	v1.RegisterPodResourcesListerServer(s, k)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // it ends with Stop
	}()
	stop = func() { s.Stop(); <-done }
	t.Cleanup(stop)
	return stop
}

func socketOf(t *testing.T) string {
	dir, err := os.MkdirTemp("", "pr") // a path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "kubelet.sock")
}

func devices(resource string, numa int64, ids ...string) *v1.ContainerDevices {
	return &v1.ContainerDevices{ResourceName: resource, DeviceIds: ids, Topology: &v1.TopologyInfo{Nodes: []*v1.NUMANode{{ID: numa}}}}
}

func podOf(name string, held ...*v1.ContainerDevices) *v1.PodResources {
	return &v1.PodResources{Name: name, Namespace: "work", Containers: []*v1.ContainerResources{{Name: "side"}, {Name: "main", Devices: held, CpuIds: []int64{3, 4}}}}
}

// mixed is a node with whole, shared and sliced GPUs, and devices of other vendors.
func mixed() *kubelet {
	claim := podOf("claims")
	claim.Containers[1].DynamicResources = []*v1.DynamicResource{{ClaimName: "c1", ClaimNamespace: "work", ClaimResources: []*v1.ClaimResource{
		{DriverName: "gpu.nvidia.com", PoolName: "n1", DeviceName: "gpu-0", CdiDevices: []*v1.CDIDevice{{Name: "k8s.gpu.nvidia.com/claim=x"}}}}}}
	return &kubelet{
		list: &v1.ListPodResourcesResponse{PodResources: []*v1.PodResources{
			podOf("whole", devices("nvidia.com/gpu", 0, "GPU-aaaa", "GPU-bbbb")),
			podOf("shared-1", devices("nvidia.com/gpu.shared", 1, "GPU-cccc::0")),
			podOf("shared-2", devices("nvidia.com/gpu.shared", 1, "GPU-cccc::2", "GPU-cccc::3")),
			podOf("sliced", devices("nvidia.com/mig-3g.40gb", 1, "MIG-known"), devices("nvidia.com/mig-1g.10gb", 1, "MIG-unknown", "MIG-GPU-eeee/5/0")),
			podOf("others", devices("amd.com/gpu", 0, "0000:c1:00.0"), devices("huawei.com/Ascend910", 0, "Ascend910-0"), devices("gpu.intel.com/i915", 0, "card1-0")),
			podOf("nothing"), claim,
			podOf("by-index", devices("nvidia.com/gpu", 0, "7")),
		}},
		allocatable: &v1.AllocatableResourcesResponse{Devices: []*v1.ContainerDevices{
			devices("nvidia.com/gpu", 0, "GPU-aaaa", "GPU-dddd", "7"), // bbbb became unhealthy and is still held
			devices("nvidia.com/gpu.shared", 1, "GPU-cccc::0", "GPU-cccc::1", "GPU-cccc::2", "GPU-cccc::3"),
			devices("nvidia.com/mig-3g.40gb", 1, "MIG-known"), devices("nvidia.com/mig-1g.10gb", 1, "MIG-unknown", "MIG-GPU-eeee/5/0", "MIG-GPU-eeee/6/0"),
			devices("amd.com/gpu", 0, "0000:c1:00.0", "0000:c2:00.0"), devices("huawei.com/Ascend910", 0, "Ascend910-0"), devices("gpu.intel.com/i915", 0, "card1-0", "card1-1"),
		}, CpuIds: []int64{0, 1, 2, 3}},
	}
}

// inInventory is what the inventory knows of slices.
func inInventory(uid string) (device, slice string, ok bool) {
	if uid == "MIG-known" {
		return "GPU-ffff", "3", true
	}
	return "", "", false
}

// gather returns the series with the prefixes, without empty labels, sorted.
func gather(t *testing.T, c *Collector, prefixes ...string) []string {
	t.Helper()
	families, err := c.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	var out []string
	for line := range strings.Lines(b.String()) {
		for _, p := range prefixes {
			if strings.HasPrefix(line, p) {
				line = strings.NewReplacer(`slice="",`, "", `,slice=""`, "").Replace(strings.TrimSpace(line))
				out = append(out, line)
			}
		}
	}
	slices.Sort(out)
	return out
}

func wants(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func start(t *testing.T, k *kubelet) *Collector {
	t.Helper()
	socket := socketOf(t)
	serve(t, socket, k)
	c := New(Config{Enabled: true, Socket: socket}, inInventory, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { c.Close() })
	return c
}

func TestWhoHoldsWhat(t *testing.T) {
	c := start(t, mixed())
	wants(t, "up", gather(t, c, "collector_up"), `collector_up{collector="pod_resources"} 1`)
	wants(t, "share that is given away", gather(t, c, "accel_allocated_ratio"),
		`accel_allocated_ratio{device="GPU-aaaa",vendor="nvidia"} 1`, `accel_allocated_ratio{device="GPU-bbbb",vendor="nvidia"} 1`,
		`accel_allocated_ratio{device="GPU-cccc",vendor="nvidia"} 0.75`, `accel_allocated_ratio{device="GPU-dddd",vendor="nvidia"} 0`,
		`accel_allocated_ratio{device="GPU-ffff",slice="3",vendor="nvidia"} 1`,
		`accel_allocated_ratio{device="GPU-eeee",slice="5",vendor="nvidia"} 1`, `accel_allocated_ratio{device="GPU-eeee",slice="6",vendor="nvidia"} 0`)
	who := func(device, pod string) string {
		return fmt.Sprintf(`accel_owner_info{container="main",%s,namespace="work",pod="%s",vendor="nvidia"} 1`, device, pod)
	}
	owned := gather(t, c, "accel_owner_info")
	for i := range owned { // the slice stands behind the pod
		if at := strings.Index(owned[i], `,slice="`); at > 0 {
			end := at + len(`,slice="`) + strings.IndexByte(owned[i][at+len(`,slice="`):], '"') + 1
			owned[i] = strings.Replace(owned[i][:at]+owned[i][end:], `,namespace`, owned[i][at:end]+`,namespace`, 1)
		}
	}
	slices.Sort(owned)
	wants(t, "owners of a shared device are a list", owned,
		who(`device="GPU-aaaa"`, "whole"), who(`device="GPU-bbbb"`, "whole"), who(`device="GPU-cccc"`, "shared-1"), who(`device="GPU-cccc"`, "shared-2"),
		who(`device="GPU-ffff",slice="3"`, "sliced"), who(`device="GPU-eeee",slice="5"`, "sliced"))
	raw := func(resource, id, numa, pod string) string {
		return fmt.Sprintf(`kubelet_device_held_info{container="main",device_id="%s",namespace="work",numa_node="%s",pod="%s",resource="%s"} 1`, id, numa, pod, resource)
	}
	wants(t, "as the kubelet says it", gather(t, c, "kubelet_device_held_info"),
		raw("nvidia.com/gpu", "GPU-aaaa", "0", "whole"), raw("nvidia.com/gpu", "GPU-bbbb", "0", "whole"), raw("nvidia.com/gpu", "7", "0", "by-index"),
		raw("nvidia.com/gpu.shared", "GPU-cccc::0", "1", "shared-1"), raw("nvidia.com/gpu.shared", "GPU-cccc::2", "1", "shared-2"), raw("nvidia.com/gpu.shared", "GPU-cccc::3", "1", "shared-2"),
		raw("nvidia.com/mig-3g.40gb", "MIG-known", "1", "sliced"), raw("nvidia.com/mig-1g.10gb", "MIG-unknown", "1", "sliced"), raw("nvidia.com/mig-1g.10gb", "MIG-GPU-eeee/5/0", "1", "sliced"),
		raw("amd.com/gpu", "0000:c1:00.0", "0", "others"), raw("huawei.com/Ascend910", "Ascend910-0", "0", "others"), raw("gpu.intel.com/i915", "card1-0", "0", "others"))
	wants(t, "a claim", gather(t, c, "kubelet_claim_held_info"),
		`kubelet_claim_held_info{claim="c1",claim_namespace="work",container="main",device_id="gpu-0",driver="gpu.nvidia.com",namespace="work",pod="claims",pool="n1",share_id=""} 1`)
	wants(t, "counts", gather(t, c, `kubelet_devices_held{resource="amd`, `kubelet_devices_allocatable{resource="amd`, `kubelet_devices_held{resource="nvidia.com/gpu.shared`, `kubelet_devices_allocatable{resource="nvidia.com/gpu.shared`),
		`kubelet_devices_held{resource="amd.com/gpu"} 1`, `kubelet_devices_allocatable{resource="amd.com/gpu"} 2`,
		`kubelet_devices_held{resource="nvidia.com/gpu.shared"} 3`, `kubelet_devices_allocatable{resource="nvidia.com/gpu.shared"} 4`)
}

// TestAKubeletThatDoesNotTellWhatThereIs: of a shared device nobody knows how many replicas
// there are, and so no share of it is told.
func TestAKubeletThatDoesNotTellWhatThereIs(t *testing.T) {
	k := mixed()
	k.allocatable = nil
	c := start(t, k)
	wants(t, "share", gather(t, c, "accel_allocated_ratio", "kubelet_devices_allocatable", "collector_up"), `collector_up{collector="pod_resources"} 1`,
		`accel_allocated_ratio{device="GPU-aaaa",vendor="nvidia"} 1`, `accel_allocated_ratio{device="GPU-bbbb",vendor="nvidia"} 1`,
		`accel_allocated_ratio{device="GPU-ffff",slice="3",vendor="nvidia"} 1`, `accel_allocated_ratio{device="GPU-eeee",slice="5",vendor="nvidia"} 1`)
	if n := len(gather(t, c, "accel_owner_info")); n != 6 {
		t.Errorf("%d owners, want 6", n)
	}
}

func TestFailures(t *testing.T) {
	down := `collector_up{collector="pod_resources"} 0`
	log := &bytes.Buffer{}
	socket := socketOf(t)
	c := New(Config{Socket: socket}, nil, slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { c.Close() })
	wants(t, "no socket", gather(t, c, "collector_up", "accel", "kubelet"), down)

	stop := serve(t, socket, mixed())
	if got := gather(t, c, "collector_up"); got[0] == down {
		t.Error("the kubelet came, and is not read: ", log)
	}
	stop()
	stop = serve(t, socket, mixed())
	if got := gather(t, c, "collector_up"); got[0] == down {
		t.Error("the kubelet restarted, and a reading was lost: ", log)
	}
	stop()
	wants(t, "the kubelet went", gather(t, c, "collector_up", "accel", "kubelet"), down)
	stop = serve(t, socket, &kubelet{fault: status.Error(codes.ResourceExhausted, "rejected: rate limit\nof 100")})
	wants(t, "it refuses", gather(t, c, "collector_up", "accel", "kubelet"), down)
	stop()

	for name, answer := range map[string]http.HandlerFunc{
		"not gRPC":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") },
		"not found":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"cut":        framed([]byte{0, 0, 0, 0, 9, 1}),
		"compressed": framed([]byte{1, 0, 0, 0, 0}),
		"no frame":   framed(nil),
		"no message": framed([]byte{0, 0, 0, 0, 2, 0x0a, 0x7f}),
	} {
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: answer, Protocols: &http.Protocols{}}
		s.Protocols.SetUnencryptedHTTP2(true)
		go func() { _ = s.Serve(l) }() // it ends with Close
		wants(t, name, gather(t, c, "collector_up", "accel", "kubelet"), down)
		s.Close()
	}
	for _, want := range []string{"no such file", "rejected: rate limit", "is this the kubelet's pod-resources socket?", "HTTP 404", "in a body of", "compressed", "holds no message", "are read"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
}

// framed answers with status OK and these bytes.
func framed(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = w.Write(b)
		w.Header().Set("Grpc-Status", "0")
	}
}

func TestTooManyDevices(t *testing.T) {
	var ids []string
	for i := range maxDevices + 1 {
		ids = append(ids, fmt.Sprint(i))
	}
	k := &kubelet{list: &v1.ListPodResourcesResponse{PodResources: []*v1.PodResources{podOf("p", devices("r", 0, ids...))}}}
	wants(t, "too many", gather(t, start(t, k), "collector_up", "kubelet"), `collector_up{collector="pod_resources"} 0`)
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Enabled: true, Socket: "/x"}, ""}, {Defaults(), ""}, {Config{Socket: "x"}, ""},
		{Config{Enabled: true, Socket: "x"}, "pod_resources.socket"}, {Config{Enabled: true, Socket: "/x", Interval: 1}, "pod_resources.interval"},
	} {
		err := c.cfg.Check("pod_resources")
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.cfg, err, c.want)
		}
	}
}

// FuzzDecode: whatever the bytes, the decoder agrees with the published messages, and never
// fails where they do not.
func FuzzDecode(f *testing.F) {
	k := mixed()
	for _, m := range []proto.Message{k.list, k.allocatable} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = decodeAllocatable(b)
		got, err := decodeList(b)
		var want v1.ListPodResourcesResponse
		if proto.Unmarshal(b, &want) != nil || err != nil {
			return
		}
		var a, z []string
		for _, h := range got {
			for _, d := range h.devices {
				a = append(a, fmt.Sprint(h.namespace, h.pod, h.container, d.resource, d.ids, d.numa))
			}
		}
		for _, p := range want.PodResources {
			for _, c := range p.Containers {
				for _, d := range c.Devices {
					var numa []int64
					for _, n := range d.GetTopology().GetNodes() {
						numa = append(numa, n.ID)
					}
					z = append(z, fmt.Sprint(p.Namespace, p.Name, c.Name, d.ResourceName, d.DeviceIds, numa))
				}
			}
		}
		if !slices.Equal(a, z) {
			t.Errorf("%q, want %q", a, z)
		}
	})
}

// TestEveryNameIsListed: a name that the catalogue lacks would be nobody's metric.
func TestEveryNameIsListed(t *testing.T) {
	families, err := start(t, mixed()).Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if m, ok := catalog.Default().Lookup(f.GetName()); f.GetName() != "collector_up" && (!ok || m.Source != "kubelet-pod-resources") {
			t.Errorf("%s: the catalogue says %+v", f.GetName(), m)
		}
	}
}
