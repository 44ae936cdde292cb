package kube

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resources "k8s.io/component-helpers/resource"

	"sextant/schema/tasks"
)

// seeJob reads a Job of batch/v1. It asks for what its pods ask for when all that it wants
// at a time run.
func seeJob(j *batchv1.Job, first bool) seen {
	s := meta("jobs.batch", "job", j)
	f := &s.facts
	f.Type = "batch"
	times := 1.0
	if j.Spec.Parallelism != nil {
		times = float64(*j.Spec.Parallelism)
	}
	f.PriorityClass = j.Spec.Template.Spec.PriorityClassName
	f.Requests, f.Limits = podAmounts(&j.Spec.Template.Spec, times)
	f.Queue = cmp.Or(j.Labels[labelKueueQueue], j.Spec.Template.Annotations[annotationQueueV])

	suspended := j.Spec.Suspend != nil && *j.Spec.Suspend
	if !suspended {
		queued := j.CreationTimestamp.UnixMilli()
		if j.Status.StartTime != nil {
			queued = j.Status.StartTime.UnixMilli() // a Job that was resumed starts anew
		} else if !first {
			queued = s.changed
		}
		s.add(step{state: tasks.Queued, time: queued})
	}
	switch {
	case !suspended && j.Status.Ready != nil && *j.Status.Ready > 0:
		s.add(step{state: tasks.Started, time: s.changed, when: turn})
	case j.Status.Succeeded > 0 || j.Status.Failed > 0: // its pods were faster than its status
		s.add(step{state: tasks.Started, time: s.changed, when: once})
	}
	for i := range j.Status.Conditions {
		s.jobTurn(j, &j.Status.Conditions[i])
	}
	return s
}

func (s *seen) jobTurn(j *batchv1.Job, c *batchv1.JobCondition) {
	turned, reason := c.LastTransitionTime.UnixMilli(), words(c.Reason, c.Message)
	switch {
	case c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue:
		s.add(step{state: tasks.Evicted, time: turned, reason: reason, when: at})
	case c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionFalse:
		s.add(step{state: tasks.Queued, time: turned, when: at})
	case c.Status != corev1.ConditionTrue:
	case c.Type == batchv1.JobComplete:
		if j.Status.CompletionTime != nil {
			turned = j.Status.CompletionTime.UnixMilli()
		}
		s.add(step{state: tasks.Finished, time: turned})
	case c.Type == batchv1.JobFailed:
		s.add(step{state: tasks.Failed, time: turned, reason: reason})
	}
}

// podAmounts is what so many pods of a template ask for.
func podAmounts(spec *corev1.PodSpec, times float64) (requests, limits map[string]float64) {
	p := &corev1.Pod{Spec: *spec}
	return amounts(resources.PodRequests(p, resources.PodResourcesOptions{}), times),
		amounts(resources.PodLimits(p, resources.PodResourcesOptions{}), times)
}
