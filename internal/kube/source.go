package kube

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// source is one resource that is watched.
type source struct {
	resource string
	kinds    []string                          // names that an annotation may give it
	see      func(object any, first bool) seen // nil: the objects are no tasks, only owners
	informer cache.SharedIndexInformer
	stop     func() // ends an optional one

	told    cache.InformerSynced // whether the handler was told of all that the first list had
	present map[string]bool      // uids that it was told of, until what is missing was looked for; guarded by watcher.mu
}

// An optional resource is watched where the cluster serves it.
type optional struct {
	schema.GroupResource
	kinds []string
	see   func(resource string, u *unstructured.Unstructured) seen
}

// optionals are the resources of schedulers and queues that a cluster may have.
var optionals = []optional{
	{schema.GroupResource{Group: "scheduling.x-k8s.io", Resource: "podgroups"}, []string{"podgroup"}, seeGroup},
	{schema.GroupResource{Group: "scheduling.volcano.sh", Resource: "podgroups"}, []string{"podgroup"}, seeGroup},
	{schema.GroupResource{Group: "scheduling.k8s.io", Resource: "podgroups"}, []string{"podgroup"}, seeGroup},
	{schema.GroupResource{Group: "batch.volcano.sh", Resource: "jobs"}, []string{"job"}, seeVolcano},
	{schema.GroupResource{Group: "kueue.x-k8s.io", Resource: "workloads"}, []string{"workload"}, seeWorkload},
}

// name of the resource, such as podgroups.scheduling.volcano.sh.
func (o optional) name() string { return o.Resource + "." + o.Group }

const byUID = "uid"

var indexers = cache.Indexers{byUID: func(obj any) ([]string, error) {
	o, ok := obj.(metav1.Object)
	if !ok {
		return nil, nil
	}
	return []string{string(o.GetUID())}, nil
}}

// find returns the object with the uid, or nil.
func (s *source) find(uid string) metav1.Object {
	list, err := s.informer.GetIndexer().ByIndex(byUID, uid)
	if err != nil || len(list) == 0 {
		return nil
	}
	o, _ := list[0].(metav1.Object)
	return o
}

// named returns the object with the name, or nil.
func (s *source) named(namespace, name string) metav1.Object {
	obj, ok, err := s.informer.GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !ok {
		return nil
	}
	o, _ := obj.(metav1.Object)
	return o
}

func (s *source) is(kind string) bool { return slices.Contains(s.kinds, strings.ToLower(kind)) }

// trim keeps of an object what is read here. A cluster has many pods, and most of a pod
// is of no use to the watcher.
func trim(obj any) (any, error) {
	switch o := obj.(type) {
	case *corev1.Pod:
		return trimPod(o), nil
	case *corev1.Node:
		trimNode(o)
	case *batchv1.Job:
		trimMeta(o)
		o.Spec.Template.Spec = trimSpec(&o.Spec.Template.Spec)
	case *unstructured.Unstructured, *metav1.PartialObjectMetadata:
		trimMeta(o.(metav1.Object))
	}
	return obj, nil
}

// trimMeta leaves one managed field, the newest, for its time.
func trimMeta(o metav1.Object) {
	var newest []metav1.ManagedFieldsEntry
	for _, m := range o.GetManagedFields() {
		if m.Time != nil && (newest == nil || newest[0].Time.Before(m.Time)) {
			newest = []metav1.ManagedFieldsEntry{{Time: m.Time}}
		}
	}
	o.SetManagedFields(newest)
	if a := o.GetAnnotations(); a[corev1.LastAppliedConfigAnnotation] != "" {
		delete(a, corev1.LastAppliedConfigAnnotation)
		o.SetAnnotations(a)
	}
}

func trimPod(p *corev1.Pod) *corev1.Pod {
	trimMeta(p)
	p.Spec = trimSpec(&p.Spec)
	st := &p.Status
	out := corev1.PodStatus{Phase: st.Phase, Reason: st.Reason, Message: st.Message, StartTime: st.StartTime, QOSClass: st.QOSClass}
	for _, c := range st.Conditions {
		if c.Type == corev1.PodScheduled || c.Type == corev1.DisruptionTarget {
			out.Conditions = append(out.Conditions, c)
		}
	}
	out.InitContainerStatuses, out.ContainerStatuses = trimStatuses(st.InitContainerStatuses), trimStatuses(st.ContainerStatuses)
	p.Status = out
	return p
}

func trimStatuses(all []corev1.ContainerStatus) (out []corev1.ContainerStatus) {
	for _, c := range all {
		out = append(out, corev1.ContainerStatus{Name: c.Name, State: c.State, LastTerminationState: c.LastTerminationState})
	}
	return out
}

func trimSpec(s *corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		NodeName: s.NodeName, Priority: s.Priority, PriorityClassName: s.PriorityClassName, SchedulingGates: s.SchedulingGates,
		SchedulingGroup: s.SchedulingGroup, Overhead: s.Overhead, Resources: s.Resources,
		Containers: trimContainers(s.Containers), InitContainers: trimContainers(s.InitContainers),
	}
}

func trimContainers(all []corev1.Container) (out []corev1.Container) {
	for _, c := range all {
		out = append(out, corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy})
	}
	return out
}
