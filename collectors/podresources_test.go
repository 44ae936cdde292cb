package collectors

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentGoesOnWithoutAKubelet: where no kubelet listens the target says that it is not
// up, and the others do not notice.
func TestAgentGoesOnWithoutAKubelet(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "kubelet.sock")
	r := start(t, agentConfig(t, "127.0.0.1:1", "pod_resources: {enabled: true, socket: "+socket+"}\n"), Deps{})
	jobs := map[string]int{}
	eventually(t, "scrape of all jobs", func() bool {
		for _, s := range r.targets() {
			jobs[s.Job] = s.Samples
		}
		return jobs[PodResourcesJob] > 0 && jobs[HostJob] > 0 && jobs[SelfJob] > 0
	})
	if jobs[PodResourcesJob] != 1 {
		t.Fatalf("%d samples, want collector_up alone", jobs[PodResourcesJob])
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

func TestPodResourcesNeedARestart(t *testing.T) {
	now, next := parse(t, brokers), parse(t, brokers+"pod_resources: {enabled: true, interval: 30s}\n")
	if got := strings.Join(fixed(now, next), ","); got != "pod_resources" {
		t.Fatalf("restart for %q", got)
	}
	after := now.with(next)
	if after.PodResources.Enabled || after.interval(after.PodResources.Interval).String() != "30s" {
		t.Fatalf("%+v", after.PodResources)
	}
}
