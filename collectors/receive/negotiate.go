package receive

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// protocol is the version of remote-write that a request is in.
type protocol uint8

const (
	v1 protocol = iota // prometheus.WriteRequest
	v2                 // io.prometheus.write.v2.Request
)

func (p protocol) String() string { return [...]string{"1.0", "2.0"}[p] }

const (
	mediaType = "application/x-protobuf"
	messageV1 = "prometheus.WriteRequest"
	messageV2 = "io.prometheus.write.v2.Request"
)

// negotiate finds the protocol from what the sender says of the body. An error asks for
// another media type or encoding: vmagent, which prefers zstd, then falls back to snappy.
func negotiate(h http.Header) (protocol, error) {
	if enc := h.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "snappy") {
		return 0, fmt.Errorf("content encoding %.40q is not taken, use snappy", enc)
	}
	text := h.Get("Content-Type")
	if text == "" {
		return v1, nil // as the first senders had it
	}
	media, params, err := mime.ParseMediaType(text)
	if err != nil || media != mediaType {
		return 0, fmt.Errorf("content type %.80q is not taken, use %s", text, mediaType)
	}
	switch message := params["proto"]; message {
	case "", messageV1:
		return v1, nil
	case messageV2:
		return v2, nil
	default:
		return 0, fmt.Errorf("protobuf message %.80q is not taken, use %s or %s", message, messageV2, messageV1)
	}
}
