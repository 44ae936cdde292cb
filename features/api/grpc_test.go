package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sextant/features"
	"sextant/features/api/feastpb/feast/serving"
	"sextant/features/api/feastpb/feast/types"
)

// grpcServer is h behind HTTP/2 without TLS, as a loopback listener is, and a client's options.
func grpcServer(t testing.TB, h http.Handler) (string, *http.Client) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server.Config.Protocols = &protocols
	server.Start()
	t.Cleanup(server.Close)
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &only}
	t.Cleanup(transport.CloseIdleConnections)
	return server.URL, &http.Client{Transport: transport}
}

// call is GetOnlineFeatures with the messages that Feast's protos generate.
func call(t testing.TB, h http.Handler, m *serving.GetOnlineFeaturesRequest, header ...string) (*serving.GetOnlineFeaturesResponse, error) {
	t.Helper()
	url, httpClient := grpcServer(t, h)
	client := connect.NewClient[serving.GetOnlineFeaturesRequest, serving.GetOnlineFeaturesResponse](httpClient, url+servingService+"GetOnlineFeatures", connect.WithGRPC())
	req := connect.NewRequest(m)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header().Set(header[i], header[i+1])
	}
	res, err := client.CallUnary(t.Context(), req)
	if err != nil {
		return nil, err
	}
	return res.Msg, nil
}

func entities(values ...string) *types.RepeatedValue {
	r := &types.RepeatedValue{}
	for _, v := range values {
		r.Val = append(r.Val, &types.Value{Val: &types.Value_StringVal{StringVal: v}})
	}
	return r
}

func askFor(refs ...string) *serving.GetOnlineFeaturesRequest {
	return &serving.GetOnlineFeaturesRequest{Kind: &serving.GetOnlineFeaturesRequest_Features{Features: &serving.FeatureList{Val: refs}}}
}

// Each type, each status and each timestamp, as a client with Feast's protos reads them.
func TestGRPC(t *testing.T) {
	req := askFor("box:load", "box:wide", "box:count", "box:up", "box:kernel")
	req.Entities = map[string]*types.RepeatedValue{"node": entities("a", "b", "ü\"1", "nobody")}
	req.IncludeFeatureViewVersionMetadata = true
	got, err := call(t, serve(t, start.Add(31*time.Second), Options{}), req)
	if err != nil {
		t.Fatal(err)
	}
	epoch, at := &timestamppb.Timestamp{}, func(ms int64) *timestamppb.Timestamp {
		return timestamppb.New(start.Add(time.Duration(ms) * time.Millisecond))
	}
	times := []*timestamppb.Timestamp{at(0), at(-30_000), at(1), epoch}
	none := &types.Value{}
	const present, null, unknown, old = serving.FieldStatus_PRESENT, serving.FieldStatus_NULL_VALUE, serving.FieldStatus_NOT_FOUND, serving.FieldStatus_OUTSIDE_MAX_AGE
	vector := func(statuses []serving.FieldStatus, values ...*types.Value) *serving.GetOnlineFeaturesResponse_FeatureVector {
		return &serving.GetOnlineFeaturesResponse_FeatureVector{Values: values, Statuses: statuses, EventTimestamps: times}
	}
	str := func(s string) *types.Value { return &types.Value{Val: &types.Value_StringVal{StringVal: s}} }
	want := &serving.GetOnlineFeaturesResponse{
		Metadata: &serving.GetOnlineFeaturesResponseMetadata{
			FeatureNames:        &serving.FeatureList{Val: []string{"node", "load", "wide", "count", "up", "kernel"}},
			FeatureViewMetadata: []*serving.FeatureViewMetadata{{Name: "box", Version: 2}},
		},
		Status: true,
		Results: []*serving.GetOnlineFeaturesResponse_FeatureVector{
			{Values: []*types.Value{str("a"), str("b"), str("ü\"1"), str("nobody")}, Statuses: []serving.FieldStatus{present, present, present, present},
				EventTimestamps: []*timestamppb.Timestamp{epoch, epoch, epoch, epoch}},
			vector([]serving.FieldStatus{present, old, null, unknown}, &types.Value{Val: &types.Value_FloatVal{FloatVal: 0.1}}, none, none, none),
			vector([]serving.FieldStatus{present, old, present, unknown}, &types.Value{Val: &types.Value_DoubleVal{DoubleVal: 1e-7}}, none, &types.Value{Val: &types.Value_DoubleVal{DoubleVal: 123456789.25}}, none),
			vector([]serving.FieldStatus{present, old, present, unknown}, &types.Value{Val: &types.Value_Int64Val{Int64Val: 64}}, none, &types.Value{Val: &types.Value_Int64Val{Int64Val: -3}}, none),
			vector([]serving.FieldStatus{present, old, null, unknown}, &types.Value{Val: &types.Value_BoolVal{BoolVal: true}}, none, none, none),
			vector([]serving.FieldStatus{present, old, present, unknown}, str("6.8.0"), none, str("<\"\\\n>"), none),
		},
	}
	if !proto.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestGRPCRefuses(t *testing.T) {
	good := func() *serving.GetOnlineFeaturesRequest {
		r := askFor("box:load")
		r.Entities = map[string]*types.RepeatedValue{"node": entities("a")}
		return r
	}
	for _, tt := range []struct {
		name   string
		change func(*serving.GetOnlineFeaturesRequest)
		code   connect.Code
		want   string
	}{
		{"no features", func(r *serving.GetOnlineFeaturesRequest) { r.Kind = nil }, connect.CodeInvalidArgument, "features: want at least one"},
		{"no entities", func(r *serving.GetOnlineFeaturesRequest) { r.Entities = nil }, connect.CodeInvalidArgument, "entities: want the values"},
		{"unknown view", func(r *serving.GetOnlineFeaturesRequest) { r.Kind = askFor("bax:load").Kind }, connect.CodeNotFound, `features[0]: view "bax" is not defined`},
		{"a key of another type", func(r *serving.GetOnlineFeaturesRequest) {
			r.Entities["node"].Val[0] = &types.Value{Val: &types.Value_DoubleVal{DoubleVal: 1}}
		}, connect.CodeInvalidArgument, "entities: node: entity 0: want a string"},
		{"context", func(r *serving.GetOnlineFeaturesRequest) {
			r.RequestContext = map[string]*types.RepeatedValue{"x": entities("1")}
		}, connect.CodeInvalidArgument, "request_context: "},
		{"too many entities", func(r *serving.GetOnlineFeaturesRequest) { r.Entities["node"] = entities("a", "b", "c") }, connect.CodeInvalidArgument, "entities: node: more than 2"},
		{"too large", func(r *serving.GetOnlineFeaturesRequest) { r.Entities["node"] = entities(strings.Repeat("x", 5000)) }, connect.CodeResourceExhausted, "larger than configured max 4096"},
	} {
		req := good()
		tt.change(req)
		_, err := call(t, serve(t, start, Options{Limits: Limits{Entities: 2, Body: 4096}}), req)
		if connect.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %v: %s", tt.name, err, tt.code, tt.want)
		}
	}
	if _, err := call(t, serve(t, start, Options{Access: gate(t, "0123456789abcdef")}), good()); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("without a token: %v", err)
	}
	if _, err := call(t, serve(t, start, Options{Access: gate(t, "0123456789abcdef")}), good(), "Authorization", "Bearer 0123456789abcdef"); err != nil {
		t.Errorf("with a token: %v", err)
	}
	if w := do(serve(t, start, Options{}), "POST", servingService+"GetOnlineFeatures", "{}", "Content-Type", "application/json"); w.Code != 415 {
		t.Errorf("JSON to gRPC: %d %s", w.Code, w.Body)
	}
}

func TestGRPCServingInfo(t *testing.T) {
	url, httpClient := grpcServer(t, serve(t, start, Options{Version: "v1.2.3"}))
	client := connect.NewClient[serving.GetFeastServingInfoRequest, serving.GetFeastServingInfoResponse](httpClient, url+servingService+"GetFeastServingInfo", connect.WithGRPC())
	res, err := client.CallUnary(t.Context(), connect.NewRequest(&serving.GetFeastServingInfoRequest{}))
	if err != nil || res.Msg.Version != "v1.2.3" {
		t.Errorf("%v %v", res, err)
	}
}

// The encoder that appends bytes and the library that reflects agree on random answers.
func TestProtoEncoderAgainstTheLibrary(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	numbers := []float64{0, 1, -1, 0.1, math.NaN(), math.Inf(1), 1 << 62, -(1 << 62), 1e300, -1e300, 5e-324}
	for range 200 {
		v := view("v", 1, []string{"node"}, features.Feature{Name: "f", DType: []features.DType{features.Float32, features.Float64, features.Int64, features.Bool}[rnd.IntN(4)]})
		x := numbers[rnd.IntN(len(numbers))]
		c := features.Column{Num: []float64{x}}
		e := protoEncoder{}
		st := c.Status(0, features.Present)
		want := &types.Value{}
		switch {
		case st != features.Present:
			e.header(vectorValues, 0)
		default:
			e.number(x, v.Features[0].DType)
			switch v.Features[0].DType {
			case features.Float32:
				want.Val = &types.Value_FloatVal{FloatVal: float32(x)}
			case features.Float64:
				want.Val = &types.Value_DoubleVal{DoubleVal: x}
			case features.Bool:
				want.Val = &types.Value_BoolVal{BoolVal: x != 0}
			case features.Int64:
				want.Val = &types.Value_Int64Val{Int64Val: wholeInt64(x)}
			}
		}
		var got serving.GetOnlineFeaturesResponse_FeatureVector
		if err := proto.Unmarshal(e.part, &got); err != nil || len(got.Values) != 1 || !proto.Equal(got.Values[0], want) {
			t.Fatalf("%v as %v: %v (%v), want %v", x, v.Features[0].DType, &got, err, want)
		}
	}
}

func BenchmarkGRPCAnswer(b *testing.B) {
	const columns = 50
	views, store := benchStore(b, 10_000, columns)
	s := &server{store: store, catalog: newCatalog(&features.Set{Views: views}), now: func() time.Time { return start }, limits: Limits{}.withDefaults()}
	var err error
	if s.metrics, err = newMetrics(nil); err != nil {
		b.Fatal(err)
	}
	s.scratch.New = func() any { return new(scratch) }
	for _, n := range []int{1, 1000} {
		req := &request{keys: map[string][]string{"node": nil}}
		for c := range columns {
			req.Features = append(req.Features, fmt.Sprintf("wide:f%d", c))
		}
		for i := range n {
			req.keys["node"] = append(req.keys["node"], fmt.Sprintf("node-%05d", i*7))
		}
		b.Run(fmt.Sprintf("%dx%d", n, columns), func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				sc := s.scratch.Get().(*scratch)
				p, err := s.prepare(context.Background(), origin{}, req, sc)
				if err != nil {
					b.Fatal(err)
				}
				out = (&lazyAnswer{s, p, sc}).append(out[:0])
			}
			if len(out) < n*columns {
				b.Fatal(errors.New("an answer without values"))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*columns), "ns/value")
		})
	}
}
