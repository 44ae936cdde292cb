package kube

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sextant/schema/tasks"
)

// Annotations of a task, below one prefix. Of a pod that has none, those of its owners
// count, the nearest first.
const (
	prefix            = "sextant/"
	AnnotationType    = prefix + "type"           // such as training or inference
	AnnotationTenant  = prefix + "tenant"         // who pays; else the namespace
	AnnotationQueue   = prefix + "queue"          // else what Kueue, Volcano or YuniKorn say
	AnnotationBefore  = prefix + "depends-on"     // tasks that must finish before: [kind/]name of this namespace, or uids, by comma
	AnnotationEnd     = prefix + "deadline"       // RFC 3339 with a zone
	AnnotationQueued  = prefix + "max-queue-time" // a duration such as 10m, or seconds
	AnnotationLatency = prefix + "latency-target" // likewise, such as 250ms
)

// annotate puts what annotations say into the facts, and returns what is wrong with them:
// a value that cannot be read is as if it were not there. of returns an annotation or "".
func (s *seen) annotate(of func(key string) string) (faults []string) {
	text := func(to *string, key string) {
		if v := of(key); v != "" {
			if len(v) > tasks.MaxName || words(v) != v {
				faults = append(faults, fmt.Sprintf("%s: longer than %d bytes, or a control character", key, tasks.MaxName))
				return
			}
			*to = v
		}
	}
	text(&s.facts.Type, AnnotationType)
	text(&s.facts.Tenant, AnnotationTenant)
	text(&s.facts.Queue, AnnotationQueue)
	if v := of(AnnotationEnd); v != "" {
		end, err := time.Parse(time.RFC3339Nano, v)
		if err != nil || end.Year() < 2000 || end.Year() > 2100 {
			faults = append(faults, fmt.Sprintf("%s: %.64q is no time such as 2026-03-01T12:00:00Z", AnnotationEnd, v))
		} else {
			s.facts.SLO.Deadline = end.UnixMilli()
		}
	}
	for key, to := range map[string]*float64{AnnotationQueued: &s.facts.SLO.MaxQueue, AnnotationLatency: &s.facts.SLO.LatencyTarget} {
		v := of(key)
		if v == "" {
			continue
		}
		seconds, err := duration(v)
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", key, err))
			continue
		}
		*to = seconds
	}
	return faults
}

func duration(v string) (float64, error) {
	seconds, err := strconv.ParseFloat(v, 64)
	if err != nil {
		d, derr := time.ParseDuration(v)
		seconds, err = d.Seconds(), derr
	}
	if err != nil || !(seconds > 0 && seconds <= tasks.MaxSeconds) {
		return 0, fmt.Errorf("%.64q is no duration such as 10m, 250ms or 600, above 0 and at most a year", v)
	}
	return seconds, nil
}

// needs are the tasks that an annotation names.
func needs(v string) []string {
	var out []string
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}
