package serving

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"

	"sextant/features/api/feastpb/feast/serving"
	"sextant/features/api/feastpb/feast/types"
	"sextant/internal/bench/store"
)

// What is served: a view of width features for both servers, and a cluster of clusterWidth.
const (
	wide         = "bench_wide"
	cluster      = "bench_nodes"
	width        = 50
	clusterWidth = 64
)

// open starts a store with the two views and their rows.
func (b *bench) open(ctx context.Context) error {
	folder := filepath.Join(b.dir, "views")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	service := "service: bench_cluster\nversion: 1\nowner: bench\ndescription: The whole cluster.\nwidth: 64\nfeatures:\n  - " + cluster + "@v1: [" + strings.Join(names(clusterWidth), ", ") + "]\n"
	for name, text := range map[string]string{wide: definition(wide, width), cluster: definition(cluster, clusterWidth), "service": service} {
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	var err error
	if b.store, err = store.Open(ctx, b.dir, "SEXTANT_VIEWS="+folder); err != nil {
		return err
	}
	b.say("storing %d × %d and %d × %d values", b.Entities, width, b.Nodes, clusterWidth)
	if err = b.fill(ctx, wide, width, b.Entities); err == nil {
		err = b.fill(ctx, cluster, clusterWidth, b.Nodes)
	}
	if err != nil {
		b.store.Stop()
	}
	return err
}

// definition is a view whose rows are put into the store by hand.
func definition(name string, features int) string {
	var t strings.Builder
	fmt.Fprintf(&t, "view: %s\nversion: 1\nentity: node\ntier: monitoring\ninterval: 10s\nttl: 24h\nowner: bench\ndescription: Of a benchmark.\nsource: push\nfeatures:\n", name)
	for _, f := range names(features) {
		fmt.Fprintf(&t, "  - {name: %s, dtype: float32, unit: ratio, description: A number.}\n", f)
	}
	return t.String()
}

// names are those of the features: f00, f01, …
func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("f%02d", i)
	}
	return list
}

// fill stores a row of random numbers for each node.
func (b *bench) fill(ctx context.Context, view string, features, nodes int) error {
	var values []string
	for i := range features {
		values = append(values, fmt.Sprintf("(cityHash64(number, %d) %% 1000003) / 1000003", i))
	}
	return b.store.Do(ctx, fmt.Sprintf(`INSERT INTO sextant.features_%s_v1 (node, tick, known, %s)
SELECT concat('node-', leftPad(toString(number), 6, '0')), fromUnixTimestamp64Milli(toInt64(%d), 'UTC') AS t, t, %s FROM numbers(%d)`,
		view, strings.Join(names(features), ", "), b.tick.UnixMilli(), strings.Join(values, ", "), nodes), nil)
}

func nodeName(i int) string { return fmt.Sprintf("node-%06d", i) }

// requests are bodies that ask for n random nodes each, so that no cache is in the way.
func requests(n, entities int, encode func(nodes []string) []byte) [][]byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	bodies := make([][]byte, 64)
	for i := range bodies {
		nodes := make([]string, n)
		for j := range nodes {
			nodes[j] = nodeName(r.IntN(entities))
		}
		bodies[i] = encode(nodes)
	}
	return bodies
}

func refs() []string {
	list := names(width)
	for i := range list {
		list[i] = wide + ":" + list[i]
	}
	return list
}

func jsonRequest(nodes []string) []byte {
	text, err := json.Marshal(map[string]any{"features": refs(), "entities": map[string]any{"node": nodes}})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return text
}

func protoRequest(nodes []string) []byte {
	keys := &types.RepeatedValue{}
	for _, n := range nodes {
		keys.Val = append(keys.Val, &types.Value{Val: &types.Value_StringVal{StringVal: n}})
	}
	body, err := proto.Marshal(&serving.GetOnlineFeaturesRequest{
		Kind:     &serving.GetOnlineFeaturesRequest_Features{Features: &serving.FeatureList{Val: refs()}},
		Entities: map[string]*types.RepeatedValue{"node": keys},
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return body
}
