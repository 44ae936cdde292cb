package podresources

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Methods of the service.
const (
	methodList        = "/v1.PodResourcesLister/List"
	methodAllocatable = "/v1.PodResourcesLister/GetAllocatableResources"
)

// maxAnswer bounds an answer: the kubelet's own limit of a message is 16 MiB.
const maxAnswer = 16 << 20

// statusError is a call that the kubelet answered with a status other than OK.
type statusError struct {
	method, message string
	code            int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: status %d: %s", e.method, e.code, e.message)
}

// client calls the service over its socket.
type client struct{ http *http.Client }

func newClient(socket string) *client {
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		Protocols:          &http.Protocols{},
		DisableCompression: true,
		IdleConnTimeout:    time.Minute,
	}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &client{&http.Client{Transport: t}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// call makes a call without arguments and returns the message of the answer. A connection
// that was kept may be one to a kubelet that has restarted since, so what fails below gRPC
// is tried once more on a new one.
func (c *client) call(ctx context.Context, method string) ([]byte, error) {
	res, err := c.post(ctx, method)
	if err != nil && ctx.Err() == nil {
		c.close()
		res, err = c.post(ctx, method)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, rootCause(err))
	}
	defer res.Body.Close()
	return answer(method, res)
}

func (c *client) post(ctx context.Context, method string) (*http.Response, error) {
	empty := make([]byte, 5) // not compressed, length 0: no request of this service has a field that we set
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://kubelet"+method, bytes.NewReader(empty))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	return c.http.Do(req)
}

func answer(method string, res *http.Response) ([]byte, error) {
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: HTTP %s", method, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+6))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if len(body) > maxAnswer+5 {
		return nil, fmt.Errorf("%s: more than %d bytes", method, maxAnswer)
	}
	if err := statusOf(method, res); err != nil {
		return nil, err
	}
	return message(method, body)
}

// statusOf reads the status, which stands in the trailer, or in the header of an answer
// without a message.
func statusOf(method string, res *http.Response) error {
	from := res.Trailer
	if res.Header.Get("Grpc-Status") != "" {
		from = res.Header
	}
	code, err := strconv.Atoi(from.Get("Grpc-Status"))
	if err != nil {
		return fmt.Errorf("%s: no gRPC status: is this the kubelet's pod-resources socket?", method)
	}
	if code == 0 {
		return nil
	}
	text, err := url.PathUnescape(from.Get("Grpc-Message"))
	if err != nil {
		text = from.Get("Grpc-Message")
	}
	return &statusError{method, text, code}
}

// message takes the one message out of its frame: a byte that says whether it is
// compressed, and its length.
func message(method string, body []byte) ([]byte, error) {
	if len(body) < 5 {
		return nil, fmt.Errorf("%s: an answer of %d bytes holds no message", method, len(body))
	}
	if body[0] != 0 {
		return nil, fmt.Errorf("%s: a compressed answer, though none was asked for", method)
	}
	if n := binary.BigEndian.Uint32(body[1:]); int64(n) != int64(len(body)-5) {
		return nil, fmt.Errorf("%s: a message of %d bytes in a body of %d", method, n, len(body)-5)
	}
	return body[5:], nil
}

// rootCause leaves out the URL of the request, which names no host that exists.
func rootCause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
