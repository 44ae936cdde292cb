package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli()

// full is an event with every field.
func full() *Event {
	priority, code := int64(-5), int32(137)
	return &Event{ID: "e1", Task: "t1", Cluster: "c1", State: Failed, Time: now - 1, Sequence: 9, Source: "slurm", Kind: "slurm", Name: "train",
		Namespace: "ns", Tenant: "acme", Queue: "gold", Type: "training", PriorityClass: "high", Priority: &priority, QoS: "Guaranteed",
		Owners: []Owner{{"Job", "j", "j1"}, {"Workflow", "w", ""}}, Group: "g1", GroupSize: 8, Dependencies: []string{"t0"}, Node: "n1",
		Devices: []string{"GPU-1", "GPU-2"}, Requests: map[string]float64{CPU: 0.5, Memory: 4 << 30, Accelerators + "nvidia": 2, "x/y": 1},
		Limits: map[string]float64{CPU: 1}, SLO: SLO{now + 3600_000, 60, 0.25}, Labels: map[string]string{"a": "b"}, Simulated: true,
		Reason: "OOMKilled", ExitCode: &code}
}

func TestRoundTrip(t *testing.T) {
	minimal := &Event{ID: "e", Task: "t", State: Submitted, Time: now, Source: "s"}
	for _, e := range []*Event{full(), minimal} {
		b, err := e.Encode(now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b, now)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s\n%+v, %v\nwant %+v", b, got, err, e)
		}
	}
	v := reflect.ValueOf(*full())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves out %s", v.Type().Field(i).Name)
		}
	}
}

// edit is the minimal event with members added, or replaced.
func edit(members string) string {
	event := map[string]any{"event_id": "e", "task": "t", "state": "queued", "time": "2026-03-01T12:00:00Z", "source": "s"}
	if err := json.Unmarshal([]byte(members), &event); err != nil {
		panic(err)
	}
	b, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestFaults(t *testing.T) {
	long := strings.Repeat("x", MaxName+1)
	many := func(n int, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(format, i))
		}
		return strings.Join(parts, ",")
	}
	for name, c := range map[string]struct{ json, want string }{
		"no object":          {`[]`, `: want an object, not array`},
		"null":               {`null`, `: want an object`},
		"cut":                {`{"task":`, `: unexpected end of JSON input`},
		"nothing":            {`{}`, `event_id: is missing; task: is missing; source: is missing; state: is missing; time: is missing`},
		"misspelt":           {edit(`{"deadine":1}`), `deadine: no such field`},
		"misspelt within":    {edit(`{"slo":{"deadine":1}}`), `slo.deadine: no such field`},
		"version":            {edit(`{"version":2,"new":1}`), `version: 2, this program reads 1`},
		"types, all at once": {edit(`{"name":1,"sequence":-1,"priority":"x","devices":{},"labels":{"a":1},"simulated":0,"exit_code":1.5,"group_size":1e99}`), `devices: want an array, not object; exit_code: want a number of type int32, not number 1.5; group_size: want a number of type int, not number 1e+99; labels: want a string, not number; name: want a string, not number; priority: want a number of type int64, not string; sequence: want a number of type uint64, not number -1; simulated: want a bool, not number`},
		"state":              {edit(`{"state":"running"}`), `state: "running" is none of updated, submitted,`},
		"kind":               {edit(`{"kind":"vm"}`), `kind: "vm" is none of pod, job,`},
		"time without zone":  {edit(`{"time":"2026-03-01T12:00:00"}`), `time: "2026-03-01T12:00:00" is no time such as`},
		"time as number":     {edit(`{"time":1}`), `time: want a time such as`},
		"early time":         {edit(`{"time":"1999-12-31T00:00:00Z"}`), `time: the year 1999 is not within`},
		"future":             {edit(`{"time":"2026-03-01T12:05:01Z"}`), `time: is 5m1s ahead of the clock here, the limit is 5m0s`},
		"deadline":           {edit(`{"slo":{"deadline":"tomorrow"}}`), `slo.deadline: "tomorrow" is no time`},
		"promises":           {edit(`{"slo":{"max_queue_seconds":-1,"latency_target_seconds":1e99}}`), `slo.max_queue_seconds: -1 is not within 0 and`},
		"slo as text":        {edit(`{"slo":"x"}`), `slo: want an object, not string`},
		"long":               {edit(`{"queue":"` + long + `"}`), `queue: 254 bytes, the limit is 253`},
		"control character":  {edit(`{"node":"a\u0000b"}`), `node: a control character`},
		"devices, no node":   {edit(`{"devices":["a"]}`), `node: is missing, with 1 devices on it`},
		"empty device":       {edit(`{"node":"n","devices":["a",""]}`), `devices[1]: is empty`},
		"many devices":       {edit(`{"node":"n","devices":[` + many(MaxDevices+1, `"%d"`) + `]}`), `devices: 257 values, the limit is 256`},
		"group":              {edit(`{"group_size":2}`), `group: is missing, with a group_size of 2`},
		"owner":              {edit(`{"owners":[{"kind":"Job","name":"a"},{"kind":"Job"}]}`), `owners[1].name: an owner has a kind and a name`},
		"owner's field":      {edit(`{"owners":[{"uid":"a"}]}`), `owners[0].uid: no such field`},
		"many owners":        {edit(`{"owners":[` + many(MaxOwners+1, `{"kind":"a","name":"%d"}`) + `]}`), `owners: 17 owners, the limit is 16`},
		"quantity":           {edit(`{"requests":{"cpu":"lots"}}`), `requests.cpu: "lots" is no quantity such as 500m or 4Gi`},
		"suffix":             {edit(`{"limits":{"memory":"4gb"}}`), `limits.memory: "4gb" is no quantity`},
		"amount":             {edit(`{"requests":{"cpu":-1}}`), `requests.cpu: -1 is not within 0`},
		"no amount":          {edit(`{"requests":{"cpu":null}}`), `requests.cpu: want a number`},
		"twice":              {edit(`{"requests":{"cpu":1,"cpu_cores":1}}`), `requests.cpu_cores: cpu_cores is given twice`},
		"many resources":     {edit(`{"requests":{` + many(MaxResources+1, `"%d":1`) + `}}`), `requests: 65 resources, the limit is 64`},
		"many labels":        {edit(`{"labels":{` + many(MaxLabels+1, `"%d":""`) + `}}`), `labels: 65 labels, the limit is 64`},
		"long label":         {edit(`{"labels":{"a":"` + long + `xxx"}}`), `labels.a: 257 bytes, the limit is 256`},
		"nameless label":     {edit(`{"labels":{"":"x"}}`), `labels: a name is empty`},
		"large":              {edit(`{"reason":"` + strings.Repeat("x", MaxBytes) + `"}`), `: 65635 bytes, the limit is 65536`},
		"long reason":        {edit(`{"reason":"` + strings.Repeat("x", MaxReason+1) + `"}`), `reason: 1025 bytes, the limit is 1024`},
		"two":                {edit(`{}`) + edit(`{}`), `: invalid character '{' after top-level value`},
	} {
		_, err := Decode([]byte(c.json), now)
		var faults Faults
		if !errors.As(err, &faults) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.TrimPrefix(err.Error(), "task event: "); !strings.Contains(": "+got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var members []string
	for i := range 500 {
		members = append(members, fmt.Sprintf(`"x%d":1`, i))
	}
	_, err := Decode([]byte("{"+strings.Join(members, ",")+"}"), now)
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != maxFaults {
		t.Errorf("%d faults, want %d", len(faults), maxFaults)
	}
}

func TestResources(t *testing.T) {
	e, err := Decode([]byte(edit(`{"requests":{"cpu":"1500m","memory":"4Gi","nvidia.com/gpu":"2","amd.com/gpu":1,"huawei.com/Ascend910":8,
		"habana.ai/gaudi":3,"gpu.intel.com/xe":4,"nvidia.com/mig-1g.10gb":1,"rdma/hca":"1e2","hugepages-2Mi":"2k","ephemeral-storage":".5G"}}`)), now)
	want := map[string]float64{CPU: 1.5, Memory: 4 << 30, Storage: 5e8, "accelerators_nvidia": 2, "accelerators_amd": 1, "accelerators_huawei": 8,
		"accelerators_habana": 3, "accelerators_intel": 4, "nvidia.com/mig-1g.10gb": 1, "rdma/hca": 100, "hugepages-2Mi": 2000}
	if err != nil || !reflect.DeepEqual(e.Requests, want) {
		t.Errorf("%v, %v", e, err)
	}
	for _, s := range []string{"", "m", "1e2Gi", "1 Gi", "0x10", "NaN", "-1", "1e999"} {
		if v, err := quantity(json.RawMessage(fmt.Sprintf("%q", s))); err == nil {
			t.Errorf("%q is %v", s, v)
		}
	}
}

func TestTimesKeepTheirInstant(t *testing.T) {
	e, err := Decode([]byte(edit(`{"time":"2026-03-01T14:00:00.1239+02:00","slo":null,"exit_code":0}`)), now)
	if err != nil || e.Time != now+123 || e.ExitCode == nil || *e.ExitCode != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	e := full()
	e.Source = ""
	if _, err := e.Encode(now); err == nil || err.Error() != "task event: source: is missing" {
		t.Error(err)
	}
	e = full()
	e.Labels = map[string]string{}
	for i := range MaxLabels {
		e.Labels[strings.Repeat("k", 240)+fmt.Sprint(i)] = strings.Repeat("<", MaxLabelValue)
	}
	if _, err := e.Encode(now); err == nil || !strings.Contains(err.Error(), "the limit is 65536") {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	b, err := full().Encode(now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(edit(`{"requests":{"cpu":"500m"},"owners":[{}]}`)))
	f.Add([]byte(`{"slo":{"deadline":"x"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b, now)
		if err != nil {
			var faults Faults
			if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > maxFaults {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		again, err := e.Encode(now)
		var faults Faults
		if errors.As(err, &faults) && faults[0].Field == "" {
			return // its escaped form is larger than the limit
		}
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again, now)
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if third, _ := back.Encode(now); !slices.Equal(again, third) {
			t.Errorf("%s\n%s", again, third)
		}
	})
}
