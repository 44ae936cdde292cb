package exposition

import (
	"fmt"
	"mime"
)

// Format is the syntax of a page.
type Format uint8

// The formats that are read.
const (
	Text        Format = iota // Prometheus text 0.0.4
	OpenMetrics               // OpenMetrics text 1.0
)

// FormatOf returns the format that a Content-Type header names. Many exporters send
// none or a bare text/plain: both mean Text. Anything else that is not text (HTML of a
// login page, JSON, protobuf) is an error.
func FormatOf(contentType string) (Format, error) {
	if contentType == "" {
		return Text, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		return Text, fmt.Errorf("content type %q: %w", clip([]byte(contentType)), err)
	}
	switch media {
	case "application/openmetrics-text":
		return OpenMetrics, nil
	case "text/plain":
		return Text, nil
	}
	return Text, fmt.Errorf("content type %q is not a metrics page", clip([]byte(contentType)))
}
