package kube

import (
	"context"
	"fmt"
	"os"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// clients speak to one API server.
type clients struct {
	typed    kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
}

// connect reads how to reach the API server from a kubeconfig file, or inside a pod from
// its service account.
func connect(kubeconfig string) (*clients, error) {
	var cfg *rest.Config
	var err error
	if kubeconfig == "" {
		if cfg, err = rest.InClusterConfig(); err != nil {
			return nil, fmt.Errorf("no watch.kubeconfig, and no service account: %w", err)
		}
	} else if cfg, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return nil, fmt.Errorf("watch.kubeconfig: %w", err)
	}
	cfg.UserAgent = "sextant-watch"
	c := &clients{}
	if c.typed, err = kubernetes.NewForConfig(cfg); err == nil {
		if c.dynamic, err = dynamic.NewForConfig(cfg); err == nil {
			c.metadata, err = metadata.NewForConfig(cfg)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("kubernetes client: %w", err)
	}
	return c, nil
}

// base are the resources of every cluster. ReplicaSets are read for their owners alone,
// and only their metadata.
func (c *clients) base() []*source {
	sets := c.metadata.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"})
	return []*source{
		{resource: "replicasets.apps", informer: informer(&metav1.PartialObjectMetadata{}, sets.List, sets.Watch)},
		{resource: "jobs.batch", kinds: []string{"job"},
			informer: informer(&batchv1.Job{}, c.typed.BatchV1().Jobs(metav1.NamespaceAll).List, c.typed.BatchV1().Jobs(metav1.NamespaceAll).Watch),
			see:      func(o any, first bool) seen { return seeJob(o.(*batchv1.Job), first) }},
		{resource: "pods", kinds: []string{"pod"},
			informer: informer(&corev1.Pod{}, c.typed.CoreV1().Pods(metav1.NamespaceAll).List, c.typed.CoreV1().Pods(metav1.NamespaceAll).Watch),
			see:      func(o any, first bool) seen { return seePod(o.(*corev1.Pod), first) }},
	}
}

// nodes is the informer of the nodes.
func (c *clients) nodes() cache.SharedIndexInformer {
	api := c.typed.CoreV1().Nodes()
	return informer(&corev1.Node{}, api.List, api.Watch)
}

// extra is an optional resource, served in the version.
func (c *clients) extra(o optional, version string) *source {
	r := c.dynamic.Resource(o.WithVersion(version))
	return &source{resource: o.name(), kinds: o.kinds, informer: informer(&unstructured.Unstructured{}, r.List, r.Watch),
		see: func(obj any, _ bool) seen { return o.see(o.name(), obj.(*unstructured.Unstructured)) }}
}

// informer keeps all objects of a resource, as list and watch give them: one way for types
// that are compiled in, for others, and for metadata alone.
func informer[L runtime.Object](of runtime.Object, list func(context.Context, metav1.ListOptions) (L, error),
	watching func(context.Context, metav1.ListOptions) (watch.Interface, error)) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) },
		WatchFuncWithContext: watching,
	}, of, 0, indexers)
}

// served returns the optional resources that the API server has, with the version that it
// prefers.
func (c *clients) served() (map[schema.GroupResource]string, error) {
	groups, err := c.typed.Discovery().ServerGroups()
	if err != nil {
		return nil, err
	}
	out := map[schema.GroupResource]string{}
	for _, o := range optionals {
		for _, g := range groups.Groups {
			if g.Name != o.Group {
				continue
			}
			for _, v := range append([]metav1.GroupVersionForDiscovery{g.PreferredVersion}, g.Versions...) {
				list, err := c.typed.Discovery().ServerResourcesForGroupVersion(v.GroupVersion)
				if err != nil && !apierrors.IsNotFound(err) {
					return nil, fmt.Errorf("%s: %w", v.GroupVersion, err)
				}
				if _, have := out[o.GroupResource]; !have && err == nil && has(list, o.Resource) {
					out[o.GroupResource] = v.Version
				}
			}
		}
	}
	return out, nil
}

func has(list *metav1.APIResourceList, resource string) bool {
	for i := range list.APIResources {
		if list.APIResources[i].Name == resource {
			return true
		}
	}
	return false
}

// ownNamespace is that of the pod this runs in, or "".
func ownNamespace() string {
	b, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
