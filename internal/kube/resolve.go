package kube

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sextant/schema/tasks"
)

// resolve adds what other objects say of a task: its owners, their annotations, and which
// tasks the names in its annotation mean. What is not there yet is looked for again when
// it comes; what was found stays, though its object may go before the task.
func (w *watcher) resolve(k key, s *seen, old *record, obj any) {
	o, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	sources := w.all()
	w.wake(s.ref)
	chain, objects := w.owners(k, sources, o)
	if old != nil && len(old.Owners) > len(chain) && slices.Equal(old.Owners[:len(chain)], chain) {
		chain = old.Owners
	}
	s.facts.Owners = chain
	of := func(key string) string {
		for _, o := range objects {
			if v := o.GetAnnotations()[key]; v != "" {
				return v
			}
		}
		return ""
	}
	faults := s.annotate(of)
	s.needs = w.needs(k, sources, s.ref.Namespace, o.GetAnnotations()[AnnotationBefore], old)
	for _, name := range needs(o.GetAnnotations()[AnnotationBefore]) {
		if len(s.facts.Dependencies) == tasks.MaxDependencies {
			faults = append(faults, AnnotationBefore+": too many names")
			break
		}
		if uid := s.needs[name]; uid != "" {
			name = uid
		}
		s.facts.Dependencies = append(s.facts.Dependencies, name)
	}
	if len(faults) > 0 && (old == nil || old.Facts != hash(&s.facts)) {
		w.metrics.annotations.Add(float64(len(faults)))
		w.log.Warn("annotations that cannot be read", "resource", k.resource, "name", s.ref.Namespace+"/"+s.ref.Name, "faults", faults)
	}
}

func (w *watcher) all() []*source {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]*source, 0, len(w.sources))
	for _, s := range w.sources {
		out = append(out, s)
	}
	return out
}

// owners follows the controllers of o upwards. objects are o and those of them that are
// watched.
func (w *watcher) owners(k key, sources []*source, o metav1.Object) (chain []tasks.Owner, objects []metav1.Object) {
	for o != nil && len(chain) < tasks.MaxOwners {
		objects = append(objects, o)
		up := controller(o)
		if up == nil {
			break
		}
		id := string(up.UID)
		if slices.ContainsFunc(chain, func(c tasks.Owner) bool { return c.ID == id }) {
			break // a ring
		}
		chain = append(chain, tasks.Owner{Kind: up.Kind, Name: up.Name, ID: id})
		o = nil
		for _, s := range sources {
			if found := s.find(id); found != nil {
				o = found
			}
		}
		if o == nil {
			w.await(id, k)
		}
	}
	return chain, objects
}

// controller is the owner that manages o, or the only one that it has.
func controller(o metav1.Object) *metav1.OwnerReference {
	if c := metav1.GetControllerOfNoCopy(o); c != nil {
		return c
	}
	if refs := o.GetOwnerReferences(); len(refs) > 0 {
		return &refs[0]
	}
	return nil
}

// needs returns the uids of the tasks that the annotation names.
func (w *watcher) needs(k key, sources []*source, namespace, annotation string, old *record) map[string]string {
	var out map[string]string
	for _, name := range needs(annotation) {
		uid := ""
		if old != nil {
			uid = old.Needs[name]
		}
		if uid == "" {
			uid = lookUp(sources, namespace, name)
		}
		if uid == "" {
			_, plain, _ := cutKind(name)
			w.await(namespace+"/"+plain, k)
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = uid
	}
	return out
}

// cutKind splits job/prepare.
func cutKind(name string) (kind, plain string, has bool) {
	if kind, plain, has = strings.Cut(name, "/"); has {
		return kind, plain, true
	}
	return "", name, false
}

// lookUp returns the uid of the task that a name of the namespace means, or "". A name
// without a kind is a Job's before it is any other's.
func lookUp(sources []*source, namespace, name string) string {
	kind, plain, has := cutKind(name)
	found := ""
	for _, s := range sources {
		if s.see == nil || has && !s.is(kind) {
			continue
		}
		if s.find(name) != nil {
			return name
		}
		if o := s.named(namespace, plain); o != nil && (found == "" || s.is("job")) {
			found = string(o.GetUID())
		}
	}
	return found
}

// await has k looked at again when the object comes.
func (w *watcher) await(object string, k key) {
	if w.needed[object] == nil {
		w.needed[object] = map[key]bool{}
	}
	if !w.needed[object][k] {
		w.needed[object][k] = true
		w.waits[k] = append(w.waits[k], object)
	}
}

// wake queues who waits for the object that is there now.
func (w *watcher) wake(r ref) {
	for _, object := range []string{r.UID, r.Namespace + "/" + r.Name} {
		for k := range w.needed[object] {
			w.queue.Add(k)
			w.waits[k] = slices.DeleteFunc(w.waits[k], func(o string) bool { return o == object })
		}
		delete(w.needed, object)
	}
}

// forget ends the waiting of what is gone.
func (w *watcher) forget(k key) {
	for _, object := range w.waits[k] {
		if delete(w.needed[object], k); len(w.needed[object]) == 0 {
			delete(w.needed, object)
		}
	}
	delete(w.waits, k)
}
