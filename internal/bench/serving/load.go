package serving

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Load is what a number of clients saw, each with one request at a time on a connection of its
// own. An answer is read whole and not decoded.
type Load struct {
	Took  []time.Duration // of each request, sorted
	Span  time.Duration
	Bytes int64 // of all answers
}

// at is a quantile, 0 to 1, by the nearest rank.
func (l Load) at(q float64) time.Duration {
	if len(l.Took) == 0 {
		return 0
	}
	return l.Took[min(len(l.Took)-1, int(q*float64(len(l.Took))))]
}

func (l Load) rate() float64 { return float64(len(l.Took)) / l.Span.Seconds() }

// asker sends request i and says how many bytes were answered.
type asker func(ctx context.Context, i int) (int64, error)

// load asks from all clients until span is over.
func load(ctx context.Context, ask asker, clients int, span time.Duration) (Load, error) {
	var (
		mu    sync.Mutex
		all   Load
		first error
		wg    sync.WaitGroup
	)
	begin := time.Now()
	for c := range clients {
		wg.Go(func() {
			var took []time.Duration
			var bytes int64
			var err error
			for i := c; err == nil && time.Since(begin) < span && ctx.Err() == nil; i += clients {
				sent := time.Now()
				var n int64
				n, err = ask(ctx, i)
				took, bytes = append(took, time.Since(sent)), bytes+n
			}
			mu.Lock()
			defer mu.Unlock()
			all.Took, all.Bytes = append(all.Took, took...), all.Bytes+bytes
			first = errors.Join(first, err)
		})
	}
	wg.Wait()
	all.Span = time.Since(begin)
	slices.Sort(all.Took)
	return all, errorsOf(first, ctx.Err())
}

func errorsOf(errs ...error) error { return errors.Join(errs...) }

// client keeps its connections, as a serving client does.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}, Timeout: time.Minute}

func httpLoad(url string, bodies [][]byte) asker {
	return func(ctx context.Context, i int) (int64, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(bodies[i%len(bodies)]))
		if err != nil {
			return 0, err
		}
		req.Header.Set("Content-Type", "application/json")
		return drain(req, io.Discard)
	}
}

func getLoad(url string) asker {
	return func(ctx context.Context, _ int) (int64, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return 0, err
		}
		return drain(req, io.Discard)
	}
}

// post is one request and its answer.
func post(ctx context.Context, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	var answer bytes.Buffer
	_, err = drain(req, &answer)
	return answer.Bytes(), err
}

func drain(req *http.Request, to io.Writer) (int64, error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
		return 0, fmt.Errorf("%s: %s: %s", req.URL.Path, resp.Status, text)
	}
	return io.Copy(to, resp.Body)
}

// raw hands bytes to gRPC as they are, so that the client decodes as little as over HTTP.
type raw struct{}

func (raw) Name() string                  { return "proto" }
func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append((*v.(*[]byte))[:0], data...)
	return nil
}

// grpcLoad asks over one connection, as gRPC does.
func grpcLoad(addr string, bodies [][]byte) (asker, func() error, error) {
	const most = 256 << 20
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(most)))
	if err != nil {
		return nil, nil, err
	}
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	return func(ctx context.Context, i int) (int64, error) {
		answer := buffers.Get().(*[]byte)
		defer buffers.Put(answer)
		err := conn.Invoke(ctx, "/feast.serving.ServingService/GetOnlineFeatures", &bodies[i%len(bodies)], answer)
		return int64(len(*answer)), err
	}, conn.Close, nil
}

// loadAverage is the machine's, of the last minute: what else was running.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	return strings.Fields(string(text))[0]
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// port is the number at the end of an address.
func port(addr string) string {
	_, p, err := net.SplitHostPort(addr)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return p
}
