package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"sextant/features/api/feastpb/feast/serving"
	"sextant/internal/access"
)

// servingService is the name of Feast's service, below which gRPC finds its methods.
const servingService = "/feast.serving.ServingService/"

// grpc is Feast's ServingService: the same answers as over HTTP, on the same listener.
func (s *server) grpc() http.Handler {
	opts := []connect.HandlerOption{connect.WithCodec(codec{}), connect.WithReadMaxBytes(int(s.limits.Body)), connect.WithCompressMinBytes(4 << 10)}
	mux := http.NewServeMux()
	mux.Handle(servingService+"GetOnlineFeatures", connect.NewUnaryHandler(servingService+"GetOnlineFeatures", s.grpcOnlineFeatures, opts...))
	mux.Handle(servingService+"GetFeastServingInfo", connect.NewUnaryHandler(servingService+"GetFeastServingInfo", s.servingInfo, opts...))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			writeError(w, &requestError{http.StatusUnsupportedMediaType, "content-type: want application/grpc; over plain HTTP ask /get-online-features"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *server) servingInfo(context.Context, *connect.Request[serving.GetFeastServingInfoRequest]) (*connect.Response[serving.GetFeastServingInfoResponse], error) {
	return connect.NewResponse(&serving.GetFeastServingInfoResponse{Version: s.version}), nil
}

func (s *server) grpcOnlineFeatures(ctx context.Context, r *connect.Request[serving.GetOnlineFeaturesRequest]) (*connect.Response[lazyAnswer], error) {
	begun, status := time.Now(), http.StatusOK
	defer func() { s.metrics.observe(servingService+"GetOnlineFeatures", time.Since(begun), status) }()
	fail := func(err error) error {
		var bad *requestError
		if !errors.As(err, &bad) {
			return err
		}
		status = bad.status
		return connect.NewError(access.Code(status), bad)
	}
	req, err := grpcRequest(r.Msg, s.limits)
	if err != nil {
		return nil, fail(err)
	}
	sc := s.scratch.Get().(*scratch)
	p, err := s.prepare(ctx, origin{r.Peer().Addr, r.Spec().Procedure}, req, sc)
	if err != nil {
		s.putBack(sc)
		return nil, fail(err)
	}
	return connect.NewResponse(&lazyAnswer{s, p, sc}), nil
}

// lazyAnswer is an answer that becomes bytes where they are sent, from the snapshots, so
// that no value is ever a message of its own. It is encoded once.
type lazyAnswer struct {
	server *server
	plan   *plan
	sc     *scratch
}

// append writes the answer to dst, and gives its memory back.
func (a *lazyAnswer) append(dst []byte) []byte {
	e := protoEncoder{part: a.sc.buf[:0], ofColumn: a.sc.ofColumn}
	dst = e.response(dst, a.plan, a.sc.groups)
	a.sc.buf, a.sc.ofColumn = e.part, e.ofColumn
	a.server.metrics.count(&e.statuses)
	a.server.putBack(a.sc)
	a.sc = nil
	return dst
}

// codec is Protobuf, with answers that encode themselves.
type codec struct{}

// Name implements connect.Codec.
func (codec) Name() string { return "proto" }

// Marshal implements connect.Codec.
func (c codec) Marshal(m any) ([]byte, error) { return c.MarshalAppend(nil, m) }

// MarshalAppend is what connect calls where a codec has it.
func (codec) MarshalAppend(dst []byte, m any) ([]byte, error) {
	switch m := m.(type) {
	case *lazyAnswer:
		return m.append(dst), nil
	case proto.Message:
		return proto.MarshalOptions{}.MarshalAppend(dst, m)
	}
	panic("BUG: an answer that is no message")
}

// Unmarshal implements connect.Codec.
func (codec) Unmarshal(data []byte, m any) error { return proto.Unmarshal(data, m.(proto.Message)) }

// origin is where a request came from and what it asked, for the audit.
type origin struct{ remote, path string }

// prepare finds all that an answer needs: what is asked for, whether the caller may, and
// the rows. Its errors are a requestError. The scratch holds the rows until putBack.
func (s *server) prepare(ctx context.Context, from origin, req *request, sc *scratch) (*plan, error) {
	need := access.Scope{Action: access.Read}
	if req.FeatureService != nil {
		need.On, _, _ = strings.Cut(*req.FeatureService, "@")
	}
	if !access.CallerOf(ctx).May(need) {
		return nil, &requestError{http.StatusForbidden, s.access.Deny(ctx, need, from.remote, from.path)}
	}
	p, err := s.catalog.plan(req, s.limits)
	if err != nil {
		return nil, err
	}
	now := s.now().UnixMilli()
	sc.lookUp(s.store, p, now)
	s.served.observe(p, sc.groups, now)
	return p, nil
}

// putBack hands the memory of a request on to the next.
func (s *server) putBack(sc *scratch) {
	sc.release()
	s.scratch.Put(sc)
}
