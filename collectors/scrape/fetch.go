package scrape

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"sextant/collectors/exposition"
	"sextant/collectors/promconfig"
)

// fetcher gets a target's exposition over HTTP.
type fetcher struct {
	client   *http.Client
	request  *http.Request
	limit    int64             // bytes after decompression
	fallback exposition.Format // for a content type that is not known
	hasFall  bool
	inflate  *sync.Pool // of *gzip.Reader; each holds 40 KiB, so targets share a few
}

// Accepted are the exposition formats that the agent reads.
var Accepted = map[promconfig.ScrapeProtocol]bool{
	promconfig.PrometheusText0_0_4:  true,
	promconfig.PrometheusText1_0_0:  true,
	promconfig.OpenMetricsText0_0_1: true,
	promconfig.OpenMetricsText1_0_0: true,
}

func newFetcher(client *http.Client, url string, cfg *promconfig.ScrapeConfig, timeout time.Duration) (*fetcher, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody) // each fetch brings its own
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", acceptHeader(cfg.ScrapeProtocols))
	req.Header.Set("User-Agent", "sextant-agent")
	req.Header.Set("Accept-Encoding", "identity")
	if cfg.EnableCompression && !loopback(req.URL.Hostname()) {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	req.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", strconv.FormatFloat(timeout.Seconds(), 'f', -1, 64))
	f := &fetcher{client: client, request: req, limit: int64(cfg.BodySizeLimit)}
	if f.limit <= 0 {
		f.limit = DefaultBodyLimit
	}
	if p := cfg.ScrapeFallbackProtocol; p != "" {
		f.fallback, f.hasFall = formatOf(p.HeaderMediaType())
	}
	return f, nil
}

// loopback tells a target on this host. It is asked for a plain body: there is no network
// to spare, and compression would cost the exporter more CPU than the scrape.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// DefaultBodyLimit is the body_size_limit, in bytes, of a job that sets none.
const DefaultBodyLimit = 64 << 20

// acceptHeader names the formats in the order of the job's scrape_protocols. Names that
// a legacy reader cannot take are asked for unescaped, because nothing here is legacy.
func acceptHeader(ps []promconfig.ScrapeProtocol) string {
	var b strings.Builder
	q := len(ps) + 1
	for _, p := range ps {
		if !Accepted[p] {
			continue
		}
		b.WriteString(promconfig.ScrapeProtocolsHeaders[p])
		if p == promconfig.PrometheusText1_0_0 || p == promconfig.OpenMetricsText1_0_0 {
			b.WriteString(";escaping=allow-utf-8")
		}
		fmt.Fprintf(&b, ";q=0.%d,", q)
		q--
	}
	fmt.Fprintf(&b, "*/*;q=0.%d", q)
	return b.String()
}

// fetch reads the whole body into dst and says in which format it is.
func (f *fetcher) fetch(ctx context.Context, dst *bytes.Buffer) (exposition.Format, error) {
	resp, err := f.client.Do(f.request.WithContext(ctx)) //nolint:bodyclose // drain closes it
	if err != nil {
		return 0, err
	}
	defer drain(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return 0, statusError{resp.Status}
	}
	kind, known := formatOf(resp.Header.Get("Content-Type"))
	if !known {
		if !f.hasFall {
			return 0, contentTypeError{resp.Header.Get("Content-Type")}
		}
		kind = f.fallback
	}
	n, err := f.readBody(dst, resp)
	if err != nil {
		return 0, fmt.Errorf("read body after %d bytes: %w", n, err)
	}
	if n > f.limit {
		return 0, fmt.Errorf("%w: more than %d bytes", errBodyTooLarge, f.limit)
	}
	return kind, nil
}

// readBody reads up to a byte more than the limit, after decompression.
func (f *fetcher) readBody(dst *bytes.Buffer, resp *http.Response) (int64, error) {
	switch enc := resp.Header.Get("Content-Encoding"); enc {
	case "", "identity":
		return dst.ReadFrom(io.LimitReader(resp.Body, f.limit+1))
	case "gzip":
		z := f.inflate.Get().(*gzip.Reader)
		defer f.inflate.Put(z)
		if err := z.Reset(resp.Body); err != nil {
			return 0, fmt.Errorf("gzip: %w", err)
		}
		return dst.ReadFrom(io.LimitReader(z, f.limit+1))
	default:
		return 0, fmt.Errorf("unsupported Content-Encoding %q", enc)
	}
}

// drain reads a little of what is left, so that the connection can be used again, and no
// more: a target that never stops sending costs its connection.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	body.Close()
}

// formatOf is strict, as Prometheus has been since version 3: a missing content type is
// not taken for text unless the job says so.
func formatOf(contentType string) (exposition.Format, bool) {
	if contentType == "" {
		return 0, false
	}
	f, err := exposition.FormatOf(contentType)
	return f, err == nil
}
