package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sextant/schema/tasks"
	"sextant/schema/tasks/taskspb"
	"sextant/schema/tasks/taskspb/taskspbconnect"
)

// register adds the gRPC services, which gRPC-Web and Connect clients reach as well.
// guard lets callers through; only the health service answers all.
func (s *server) register(mux *http.ServeMux, guard func(http.Handler) http.Handler) {
	limit := connect.WithReadMaxBytes(MaxBody)
	path, h := taskspbconnect.NewTaskEventsHandler(s, limit)
	mux.Handle(path, guard(h))
	known := grpcreflect.NewStaticReflector(taskspbconnect.TaskEventsName)
	path, h = grpcreflect.NewHandlerV1(known, limit)
	mux.Handle(path, guard(h))
	path, h = grpcreflect.NewHandlerV1Alpha(known, limit)
	mux.Handle(path, guard(h))
	mux.Handle(grpchealth.NewHandler(grpchealth.NewStaticChecker(taskspbconnect.TaskEventsName), limit))
}

// Send is the gRPC method.
func (s *server) Send(ctx context.Context, req *connect.Request[taskspb.SendRequest]) (*connect.Response[taskspb.SendResponse], error) {
	res, err := s.send(ctx, req.Msg.GetEvents())
	code := "ok"
	if err != nil {
		code = err.Code().String()
		s.requests.WithLabelValues(code).Inc()
		return nil, err
	}
	s.requests.WithLabelValues(code).Inc()
	return connect.NewResponse(res), nil
}

func (s *server) send(ctx context.Context, list []*taskspb.Event) (*taskspb.SendResponse, *connect.Error) {
	if len(list) == 0 {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("no event"))
	}
	if len(list) > MaxEvents {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%d events, the limit is %d", len(list), MaxEvents))
	}
	events := make([]candidate, len(list))
	for i, e := range list {
		events[i] = fromProto(e)
	}
	result, refused, unsent := s.store(ctx, events)
	res := &taskspb.SendResponse{Accepted: new(int32(result.Accepted))}
	switch {
	case unsent > 0:
		return nil, fail(connect.CodeUnavailable, fmt.Sprintf("Kafka did not take %d events: send again", unsent), res, result)
	case refused > 0:
		return nil, fail(connect.CodeInvalidArgument, fmt.Sprintf("%d events are wrong", refused), res, result)
	}
	return res, nil
}

// fail is an error with the faults of each event, and with what was accepted.
func fail(code connect.Code, why string, res *taskspb.SendResponse, result Result) *connect.Error {
	err := connect.NewError(code, errors.New(why))
	bad := &errdetails.BadRequest{}
	for _, f := range result.Detail[:min(len(result.Detail), maxViolations)] {
		field := fmt.Sprintf("events[%d]", f.Index)
		if f.Field != "" {
			field += "." + f.Field
		}
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: field, Description: f.Message})
	}
	if d, e := connect.NewErrorDetail(bad); e == nil {
		err.AddDetail(d)
	}
	if d, e := connect.NewErrorDetail(res); e == nil {
		err.AddDetail(d)
	}
	return err
}

// maxViolations bounds the details of an error: they travel in HTTP trailers, of which
// clients take 8 KiB at least.
const maxViolations = 50

// fromProto is the event in JSON, so that it is checked as one that came so.
func fromProto(p *taskspb.Event) candidate {
	var faults tasks.Faults
	e := &tasks.Event{
		ID: p.GetEventId(), Task: p.GetTask(), Cluster: p.GetCluster(), State: states[p.GetState()], Time: unixMilli(p.GetTime(), "time", &faults),
		Sequence: p.GetSequence(), Source: p.GetSource(), Kind: p.GetKind(), Name: p.GetName(), Namespace: p.GetNamespace(), Tenant: p.GetTenant(),
		Queue: p.GetQueue(), Type: p.GetType(), PriorityClass: p.GetPriorityClass(), Priority: p.Priority, QoS: p.GetQos(), Group: p.GetGroup(),
		GroupSize: int(p.GetGroupSize()), Dependencies: p.GetDependencies(), Node: p.GetNode(), Devices: p.GetDevices(),
		Requests: finite(p.GetRequests(), "requests", &faults), Limits: finite(p.GetLimits(), "limits", &faults),
		Labels: p.GetLabels(), Simulated: p.GetSimulated(), Reason: p.GetReason(), ExitCode: p.ExitCode,
	}
	if p.GetState() != taskspb.State_STATE_UNSPECIFIED && e.State == "" {
		faults = append(faults, tasks.Fault{Field: "state", Message: fmt.Sprintf("%d is no state", p.GetState())})
	}
	for _, o := range p.GetOwners() {
		e.Owners = append(e.Owners, tasks.Owner{Kind: o.GetKind(), Name: o.GetName(), ID: o.GetId()})
	}
	if slo := p.GetSlo(); slo != nil {
		e.SLO.Deadline = unixMilli(slo.Deadline, "slo.deadline", &faults)
		bounds := finite(map[string]float64{"max_queue_seconds": slo.GetMaxQueueSeconds(), "latency_target_seconds": slo.GetLatencyTargetSeconds()}, "slo", &faults)
		e.SLO.MaxQueue, e.SLO.LatencyTarget = bounds["max_queue_seconds"], bounds["latency_target_seconds"]
	}
	if len(faults) > 0 {
		return candidate{faults: faults}
	}
	raw, err := e.MarshalJSON()
	if err != nil {
		return candidate{faults: tasks.Faults{{Message: err.Error()}}}
	}
	return candidate{raw: raw}
}

// states are the names of those of the protocol.
var states = map[taskspb.State]tasks.State{
	taskspb.State_STATE_UPDATED: tasks.Updated, taskspb.State_STATE_SUBMITTED: tasks.Submitted, taskspb.State_STATE_QUEUED: tasks.Queued,
	taskspb.State_STATE_SCHEDULED: tasks.Scheduled, taskspb.State_STATE_STARTED: tasks.Started, taskspb.State_STATE_EVICTED: tasks.Evicted,
	taskspb.State_STATE_CANCELLED: tasks.Cancelled, taskspb.State_STATE_FAILED: tasks.Failed, taskspb.State_STATE_FINISHED: tasks.Finished,
}

// unixMilli is 0 for a time that is not there.
func unixMilli(t *timestamppb.Timestamp, field string, faults *tasks.Faults) int64 {
	if t == nil {
		return 0
	}
	if err := t.CheckValid(); err != nil {
		*faults = append(*faults, tasks.Fault{Field: field, Message: "no valid time"})
		return 0
	}
	return t.AsTime().UnixMilli()
}

// finite refuses what JSON cannot carry.
func finite(m map[string]float64, field string, faults *tasks.Faults) map[string]float64 {
	for k, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			*faults = append(*faults, tasks.Fault{Field: field + "." + k[:min(len(k), 64)], Message: fmt.Sprintf("%g is no amount", v)})
		}
	}
	return m
}
