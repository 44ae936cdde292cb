package kube

import (
	"cmp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	resources "k8s.io/component-helpers/resource"

	"sextant/schema/tasks"
)

// What others write on pods.
const (
	labelPodGroup       = "scheduling.x-k8s.io/pod-group" // scheduler-plugins
	annotationVolcano   = "scheduling.k8s.io/group-name"  // Volcano, which set it before it had a name of its own
	annotationVolcanoV2 = "scheduling.volcano.sh/group-name"
	annotationQueueV    = "scheduling.volcano.sh/queue-name"
	labelKueueGroup     = "kueue.x-k8s.io/pod-group-name"
	annotationKueueSize = "kueue.x-k8s.io/pod-group-total-count"
	labelKueueQueue     = "kueue.x-k8s.io/queue-name"
)

// seePod reads a pod. first says that the watcher has not seen it before: until when it
// was held back by gates is then not known.
func seePod(p *corev1.Pod, first bool) seen {
	s := meta("pods", "pod", p)
	f := &s.facts
	f.PriorityClass, f.QoS = p.Spec.PriorityClassName, string(p.Status.QOSClass)
	if p.Spec.Priority != nil {
		f.Priority = new(int64(*p.Spec.Priority))
	}
	f.Requests = amounts(resources.PodRequests(p, resources.PodResourcesOptions{}), 1)
	f.Limits = amounts(resources.PodLimits(p, resources.PodResourcesOptions{}), 1)
	f.Queue = cmp.Or(p.Labels[labelKueueQueue], p.Annotations[annotationQueueV], p.Labels["queue"])
	f.Group, f.GroupSize = podGroup(p)
	f.Type = podType(p)

	if len(p.Spec.SchedulingGates) == 0 {
		queued := p.CreationTimestamp.UnixMilli()
		if !first {
			queued = s.changed
		}
		s.add(step{state: tasks.Queued, time: queued})
	}
	if p.Spec.NodeName != "" {
		// A pod that names its node from the start is bound by being made.
		bound := p.CreationTimestamp.Time
		if c := condition(p, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionTrue {
			bound = c.LastTransitionTime.Time
		}
		s.add(step{state: tasks.Scheduled, time: bound.UnixMilli(), node: p.Spec.NodeName})
	}
	if at, ok := podStarted(p); ok {
		s.add(step{state: tasks.Started, time: at.UnixMilli(), node: p.Spec.NodeName})
	}
	s.podEnd(p)
	return s
}

// podGroup is the gang of a pod: namespace and name of its group, as the group's own
// events have it.
func podGroup(p *corev1.Pod) (group string, size int) {
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return p.Namespace + "/" + *g.PodGroupName, 0
	}
	if n := cmp.Or(p.Labels[labelPodGroup], p.Annotations[annotationVolcanoV2], p.Annotations[annotationVolcano]); n != "" {
		return p.Namespace + "/" + n, 0
	}
	if n := p.Labels[labelKueueGroup]; n != "" {
		size, err := strconv.Atoi(p.Annotations[annotationKueueSize])
		if err != nil || size < 0 || size > tasks.MaxGroup {
			size = 0 // Kueue refuses it too
		}
		return p.Namespace + "/" + n, size
	}
	return "", 0
}

// podType is what the pod is run by: the guess where no annotation says what it is for.
func podType(p *corev1.Pod) string {
	if len(p.OwnerReferences) == 0 {
		return ""
	}
	switch p.OwnerReferences[0].Kind {
	case "DaemonSet", "Node":
		return "daemon"
	case "ReplicaSet", "StatefulSet", "ReplicationController":
		return "service"
	case "Job":
		return "batch"
	}
	return ""
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// podStarted is when the first container started. Init containers are part of the start.
func podStarted(p *corev1.Pod) (first time.Time, ok bool) {
	for _, c := range p.Status.ContainerStatuses {
		for _, s := range []corev1.ContainerState{c.State, c.LastTerminationState} {
			var at time.Time
			switch {
			case s.Running != nil:
				at = s.Running.StartedAt.Time
			case s.Terminated != nil:
				at = s.Terminated.StartedAt.Time
			}
			if !at.IsZero() && at.Unix() > 0 && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	if first.IsZero() && p.Status.Phase == corev1.PodRunning && p.Status.StartTime != nil {
		first = p.Status.StartTime.Time // a kubelet that says nothing of containers
	}
	return first, !first.IsZero()
}

// podEnd adds how the pod ended, or that it was evicted.
func (s *seen) podEnd(p *corev1.Pod) {
	last, failed := podStopped(p)
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	at := s.changed
	if !last.IsZero() {
		at = last.UnixMilli()
	}
	node := p.Spec.NodeName
	evicted := false
	if c := condition(p, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		evicted = true
		s.add(step{state: tasks.Evicted, time: c.LastTransitionTime.UnixMilli(), node: node, reason: words(c.Reason, c.Message)})
	} else if ended && (p.Status.Reason == "Evicted" || p.Status.Reason == "Preempting" || p.Status.Reason == "NodeLost") {
		evicted = true
		s.add(step{state: tasks.Evicted, time: at, node: node, reason: words(p.Status.Reason, p.Status.Message)})
	}
	if !ended {
		return
	}
	end := step{state: tasks.Finished, time: at, node: node, exit: new(int32(0))}
	if p.Status.Phase == corev1.PodFailed {
		end.state, end.exit, end.reason = tasks.Failed, nil, words(p.Status.Reason, p.Status.Message)
		if failed != nil {
			end.exit = &failed.ExitCode
			end.reason = words(cmp.Or(p.Status.Reason, failed.Reason), cmp.Or(p.Status.Message, failed.Message))
		}
		// Who takes a pod away stops its containers, and they end with an error.
		switch asked := deletionAsked(p); {
		case evicted:
			end.state, end.reason = tasks.Cancelled, s.steps[len(s.steps)-1].reason
		case asked != 0 && at >= asked:
			end.state, end.reason = tasks.Cancelled, words("deleted", end.reason)
		}
	}
	s.add(end)
}

// podStopped is when the last container ended, and the first that failed.
func podStopped(p *corev1.Pod) (last time.Time, failed *corev1.ContainerStateTerminated) {
	all := append(p.Status.InitContainerStatuses[:len(p.Status.InitContainerStatuses):len(p.Status.InitContainerStatuses)], p.Status.ContainerStatuses...)
	for i := range all {
		t := all[i].State.Terminated
		if t == nil {
			continue
		}
		if t.FinishedAt.After(last) {
			last = t.FinishedAt.Time
		}
		if t.ExitCode != 0 && (failed == nil || t.FinishedAt.Time.Before(failed.FinishedAt.Time)) {
			failed = t
		}
	}
	return last, failed
}

// deletionAsked is when someone asked to delete the pod, unix ms, or 0. The time in the
// object is when the grace period ends.
func deletionAsked(p *corev1.Pod) int64 {
	if p.DeletionTimestamp == nil {
		return 0
	}
	at := p.DeletionTimestamp.UnixMilli()
	if p.DeletionGracePeriodSeconds != nil {
		at -= *p.DeletionGracePeriodSeconds * 1000
	}
	return at
}
