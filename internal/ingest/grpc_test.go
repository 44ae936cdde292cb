package ingest

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sextant/internal/access"
	"sextant/pipeline/kafka"
	"sextant/schema/tasks"
	"sextant/schema/tasks/taskspb"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// dial is a gRPC client of another maker than the server.
func dial(t *testing.T, h http.Handler) *grpc.ClientConn {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Start()
	t.Cleanup(srv.Close)
	conn, err := grpc.NewClient(strings.TrimPrefix(srv.URL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(2*MaxBody)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

const sendMethod = "/sextant.tasks.v1.TaskEvents/Send"

func protoEvent(id string) *taskspb.Event {
	return &taskspb.Event{EventId: &id, Task: proto.String("t1"), Cluster: proto.String("c"), State: taskspb.State_STATE_STARTED.Enum(),
		Time: timestamppb.New(now), Source: proto.String("test")}
}

func fullEvent() *taskspb.Event {
	e := protoEvent("full")
	e.State, e.Sequence = taskspb.State_STATE_FAILED.Enum(), 9
	e.Kind, e.Name, e.Namespace, e.Tenant, e.Queue, e.Type = proto.String("pod"), proto.String("n"), proto.String("ns"), proto.String("acme"), proto.String("gold"), proto.String("training")
	e.PriorityClass, e.Priority, e.Qos, e.Group, e.GroupSize = proto.String("high"), proto.Int64(-3), proto.String("Burstable"), proto.String("g"), proto.Int32(8)
	e.Owners = []*taskspb.Owner{{Kind: proto.String("Job"), Name: proto.String("j"), Id: proto.String("j1")}}
	e.Dependencies, e.Node, e.Devices = []string{"t0"}, proto.String("n1"), []string{"GPU-1"}
	e.Requests, e.Limits = map[string]float64{"cpu": 0.5, "nvidia.com/gpu": 2}, map[string]float64{"memory": 1 << 30}
	e.Slo = &taskspb.SLO{Deadline: timestamppb.New(now.Add(time.Hour)), MaxQueueSeconds: proto.Float64(60), LatencyTargetSeconds: proto.Float64(0.25)}
	e.Labels, e.Simulated, e.Reason, e.ExitCode = map[string]string{"a": "b"}, proto.Bool(true), proto.String("OOMKilled"), proto.Int32(0)
	return e
}

// stored are the events of the topic, by id.
func stored(t *testing.T, addr string) map[string]*tasks.Event {
	t.Helper()
	out := map[string]*tasks.Event{}
	err := kafka.ReadAll(t.Context(), kafka.Config{Brokers: []string{addr}}, topics.Tasks, func(r *wire.Record) error {
		e, err := tasks.Decode(r.Value, now.UnixMilli())
		if err == nil {
			out[e.ID] = e
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGRPC sends with grpc-go what is right and what is wrong.
func TestGRPC(t *testing.T) {
	addr, stop := startBroker(t)
	conn := dial(t, handler(t, addr, Options{}))
	send := func(events ...*taskspb.Event) (*taskspb.SendResponse, error) {
		res := &taskspb.SendResponse{}
		return res, conn.Invoke(t.Context(), sendMethod, &taskspb.SendRequest{Events: events}, res)
	}
	if res, err := send(protoEvent("1"), fullEvent()); err != nil || res.GetAccepted() != 2 {
		t.Fatalf("%v, %v", res, err)
	}
	bad := protoEvent("bad")
	bad.State, bad.Kind, bad.Time = taskspb.State_STATE_UNSPECIFIED.Enum(), proto.String("vm"), timestamppb.New(now.Add(time.Hour))
	nan := protoEvent("nan")
	nan.Requests, nan.Slo = map[string]float64{"cpu": math.NaN()}, &taskspb.SLO{Deadline: &timestamppb.Timestamp{Nanos: -1}}
	_, err := send(bad, protoEvent("2"), nan)
	violations, accepted := details(t, err, codes.InvalidArgument)
	want := []string{"events[0].kind", "events[0].state", "events[0].time", "events[2].requests.cpu", "events[2].slo.deadline"}
	if slices.Sort(violations); !slices.Equal(violations, want) || accepted != 1 {
		t.Errorf("%q, accepted %d, want %q and 1", violations, accepted, want)
	}
	if _, err := send(); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	if _, err := send(make([]*taskspb.Event, MaxEvents+1)...); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	large := protoEvent("large")
	large.Reason = proto.String(strings.Repeat("x", MaxBody))
	if _, err := send(large); status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	got := stored(t, addr)
	if len(got) != 3 || got["2"] == nil {
		t.Fatalf("stored %v", got)
	}
	full := got["full"]
	if full.State != tasks.Failed || full.Sequence != 9 || *full.Priority != -3 || full.Requests[tasks.CPU] != 0.5 || full.Requests[tasks.Accelerators+"nvidia"] != 2 ||
		full.Limits[tasks.Memory] != 1<<30 || full.SLO != (tasks.SLO{Deadline: now.Add(time.Hour).UnixMilli(), MaxQueue: 60, LatencyTarget: 0.25}) ||
		full.Owners[0] != (tasks.Owner{Kind: "Job", Name: "j", ID: "j1"}) || *full.ExitCode != 0 || !full.Simulated || full.GroupSize != 8 || full.Type != "training" {
		t.Errorf("%+v", full)
	}
	stop()
	_, err = send(protoEvent("3"))
	if violations, accepted = details(t, err, codes.Unavailable); accepted != 0 || !slices.Equal(violations, []string{"events[0]"}) {
		t.Errorf("without Kafka: %q, accepted %d", violations, accepted)
	}
}

// details are the fields of the violations, and how many events were accepted.
func details(t *testing.T, err error, code codes.Code) (fields []string, accepted int32) {
	t.Helper()
	accepted = -1
	s := status.Convert(err)
	if s.Code() != code {
		t.Fatalf("%v, want %v", err, code)
	}
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.FieldViolations {
				fields = append(fields, v.Field)
			}
		case *taskspb.SendResponse:
			accepted = d.GetAccepted()
		default:
			t.Errorf("detail %T", d)
		}
	}
	return fields, accepted
}

// TestGRPCAsksForTheToken: all but health, as over HTTP, of a caller that may push everything.
func TestGRPCAsksForTheToken(t *testing.T) {
	addr, _ := startBroker(t)
	file := filepath.Join(t.TempDir(), "tokens")
	text := "tokens:\n"
	for name, scopes := range map[string]string{"scheduler": "push", "dashboard": "read, 'push:hints'"} {
		text += fmt.Sprintf("  - {name: %s, sha256: %x, scopes: [%s]}\n", name, sha256.Sum256([]byte("the-token-of-"+name)), scopes)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := access.NewGate(access.Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, handler(t, addr, Options{Access: gate}))
	req, res := &taskspb.SendRequest{Events: []*taskspb.Event{protoEvent("1")}}, &taskspb.SendResponse{}
	if err := conn.Invoke(t.Context(), sendMethod, req, res); status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "want the header") {
		t.Error(err)
	}
	other := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer the-token-of-dashboard")
	if err := conn.Invoke(other, sendMethod, req, res); status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(), "no scope push") {
		t.Error(err)
	}
	with := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer the-token-of-scheduler")
	if err := conn.Invoke(with, sendMethod, req, res); err != nil || res.GetAccepted() != 1 {
		t.Error(err)
	}
	health, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: "sextant.tasks.v1.TaskEvents"})
	if err != nil || health.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", health, err)
	}
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(with)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	list, err := stream.Recv()
	if err != nil || !strings.Contains(fmt.Sprint(list.GetListServicesResponse()), "sextant.tasks.v1.TaskEvents") {
		t.Errorf("%v, %v", list, err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
}

// TestStatesOfTheProtocol: each state has its twin, under its own name.
func TestStatesOfTheProtocol(t *testing.T) {
	if len(states) != len(tasks.States) || len(states) != len(taskspb.State_name)-1 {
		t.Errorf("%d states, want %d", len(states), len(tasks.States))
	}
	for p, s := range states {
		if p.String() != "STATE_"+strings.ToUpper(string(s)) {
			t.Errorf("%s is %s", p, s)
		}
	}
}
