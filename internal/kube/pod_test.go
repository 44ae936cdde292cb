package kube

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sextant/schema/tasks"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// second is a point in time of the tests: seconds after the pod was made.
func second(n int) metav1.Time { return metav1.NewTime(start.Add(time.Duration(n) * time.Second)) }

func ms(n int) int64 { return second(n).UnixMilli() }

func quantities(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func pod(edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: types.UID("u1"), ResourceVersion: "7", CreationTimestamp: second(0)}}
	for _, e := range edits {
		e(p)
	}
	return p
}

func bound(p *corev1.Pod) {
	p.Spec.NodeName = "n1"
	p.Status.Phase = corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: second(5)}}
}

func running(p *corev1.Pod) {
	bound(p)
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: second(9)}}}}
}

// restarted is a container that ran before: the first start is what counts.
func restarted(p *corev1.Pod) {
	running(p)
	p.Status.ContainerStatuses[0].State.Running.StartedAt = second(40)
	p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{StartedAt: second(9), FinishedAt: second(30), ExitCode: 1}
}

func stopped(code int32, at int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		running(p)
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			StartedAt: second(9), FinishedAt: second(at), ExitCode: code, Reason: "OOMKilled"}}
	}
}

func disrupted(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		LastTransitionTime: second(20), Reason: "PreemptionByScheduler", Message: "made room"})
}

func deleting(asked int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		at := second(asked + 30)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, new(int64(30))
	}
}

// story writes the steps as state@second.
func story(steps []step) string {
	var out []string
	for _, s := range inOrder(steps) {
		text := string(s.state) + "@" + time.UnixMilli(s.time).UTC().Format("05")
		if s.reason != "" {
			text += "(" + s.reason + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestStoryOfAPod(t *testing.T) {
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"made":           {pod(), "submitted@00 queued@00"},
		"held back":      {pod(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }), "submitted@00"},
		"bound":          {pod(bound), "submitted@00 queued@00 scheduled@05"},
		"bound by maker": {pod(func(p *corev1.Pod) { p.Spec.NodeName = "n1" }), "submitted@00 queued@00 scheduled@00"},
		"running":        {pod(running), "submitted@00 queued@00 scheduled@05 started@09"},
		"restarted":      {pod(restarted), "submitted@00 queued@00 scheduled@05 started@09"},
		"finished":       {pod(stopped(0, 50)), "submitted@00 queued@00 scheduled@05 started@09 finished@50"},
		"failed":         {pod(stopped(137, 50)), "submitted@00 queued@00 scheduled@05 started@09 failed@50(OOMKilled)"},
		"preempted":      {pod(running, disrupted), "submitted@00 queued@00 scheduled@05 started@09 evicted@20(PreemptionByScheduler: made room)"},
		"preempted, stopped": {pod(stopped(143, 25), disrupted),
			"submitted@00 queued@00 scheduled@05 started@09 evicted@20(PreemptionByScheduler: made room) cancelled@25(PreemptionByScheduler: made room)"},
		"deleted, stopped": {pod(stopped(143, 25), deleting(20)), "submitted@00 queued@00 scheduled@05 started@09 cancelled@25(deleted: OOMKilled)"},
		"failed, deleted":  {pod(stopped(1, 15), deleting(20)), "submitted@00 queued@00 scheduled@05 started@09 failed@15(OOMKilled)"},
		"done, deleted":    {pod(stopped(0, 25), deleting(20)), "submitted@00 queued@00 scheduled@05 started@09 finished@25"},
		"pressure": {pod(bound, func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "low on memory"
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(second(33))}}
		}), "submitted@00 queued@00 scheduled@05 evicted@33(Evicted: low on memory) cancelled@33(Evicted: low on memory)"},
	} {
		if got := story(seePod(c.pod, true).steps); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

func TestGatesThatWereLifted(t *testing.T) {
	p := pod(func(p *corev1.Pod) { p.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(second(3))}} })
	if got := story(seePod(p, false).steps); got != "submitted@00 queued@03" {
		t.Error(got)
	}
}

// TestRequestsCountAsInKubernetes: the larger of the init containers and all the others,
// sidecars in both, and the overhead of the runtime.
func TestRequestsCountAsInKubernetes(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	need := func(pairs ...string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: quantities(pairs...), Limits: quantities(pairs...)}}
	}
	sidecar := need("cpu", "100m")
	sidecar.RestartPolicy = &always
	p := pod(func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{sidecar, need("cpu", "4", "memory", "1Gi")}
		p.Spec.Containers = []corev1.Container{need("cpu", "1", "memory", "2Gi", "nvidia.com/gpu", "2"), need("cpu", "500m", "rdma/hca", "1")}
		p.Spec.Overhead = quantities("cpu", "250m", "memory", "1Mi")
	})
	got := seePod(p, true).facts.Requests
	want := map[string]float64{tasks.CPU: 4.35, tasks.Memory: 2<<30 + 1<<20, tasks.Accelerators + "nvidia": 2, "rdma/hca": 1}
	for k, v := range want {
		if d := got[k] - v; d > 1e-9 || d < -1e-9 || len(got) != len(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestGroupsOfAPod(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*corev1.Pod)
		group string
		size  int
	}{
		"alone":             {func(*corev1.Pod) {}, "", 0},
		"kubernetes":        {func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")} }, "ns/g", 0},
		"scheduler-plugins": {func(p *corev1.Pod) { p.Labels = map[string]string{labelPodGroup: "g"} }, "ns/g", 0},
		"volcano":           {func(p *corev1.Pod) { p.Annotations = map[string]string{annotationVolcano: "g"} }, "ns/g", 0},
		"kueue": {func(p *corev1.Pod) {
			p.Labels, p.Annotations = map[string]string{labelKueueGroup: "g"}, map[string]string{annotationKueueSize: "4"}
		}, "ns/g", 4},
	} {
		if group, size := podGroup(pod(c.edit)); group != c.group || size != c.size {
			t.Errorf("%s: %s %d", name, group, size)
		}
	}
}

// TestTrimLosesNothing: what a pod says is the same after the cache has trimmed it.
func TestTrimLosesNothing(t *testing.T) {
	fresh := func() *corev1.Pod {
		return pod(stopped(137, 50), disrupted, deleting(20), func(p *corev1.Pod) {
			p.Labels = map[string]string{"a": "b", "pod-template-hash": "x"}
			p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: quantities("cpu", "1")}}}
			p.Spec.Volumes = []corev1.Volume{{Name: "v"}}
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(second(2))}, {Time: new(second(8))}, {}}
			p.Status.QOSClass = corev1.PodQOSBurstable
		})
	}
	whole := seePod(fresh(), true)
	cut := seePod(trimPod(fresh()), true)
	if hash(&whole.facts) != hash(&cut.facts) || story(whole.steps) != story(cut.steps) || whole.changed != cut.changed || whole.changed != ms(8) {
		t.Errorf("%+v\n%+v", whole, cut)
	}
	if trimPod(fresh()).Spec.Volumes != nil {
		t.Error("volumes stay in memory")
	}
}
