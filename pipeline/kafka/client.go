package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/sasl"
)

// Time limits of a client. A request's own limit is beside the request.
const (
	dialTimeout = 5 * time.Second
	// kafka-go has no refresh of metadata on NotLeader: this is how long a moved leader
	// goes unnoticed.
	metadataTTL = 1500 * time.Millisecond
)

// client is a connected kafka-go client that can be closed at once. kafka-go closes only
// idle connections and waits for the others, so the sockets are tracked here.
type client struct {
	*kafka.Client
	transport *kafka.Transport
	dialer    *kafka.Dialer // for group membership, which knows no Transport
	sockets   *sockets
	stop      context.CancelFunc
}

func newClient(cfg Config) (*client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("kafka config: %w", err)
	}
	var (
		tlsConf *tls.Config
		mech    sasl.Mechanism
		err     error
	)
	if cfg.TLS != nil {
		if tlsConf, err = cfg.TLS.load(); err != nil {
			return nil, fmt.Errorf("kafka config: %w", err)
		}
	}
	if cfg.SASL != nil {
		if mech, err = cfg.SASL.load(); err != nil {
			return nil, fmt.Errorf("kafka config: %w", err)
		}
	}
	id := cfg.ClientID
	if id == "" {
		id = DefaultClientID
	}
	ctx, stop := context.WithCancel(context.Background())
	socks := &sockets{open: map[*socket]struct{}{}}
	transport := &kafka.Transport{
		Dial: socks.dial, DialTimeout: dialTimeout, MetadataTTL: metadataTTL,
		ClientID: id, TLS: tlsConf, SASL: mech, Context: ctx,
	}
	return &client{
		Client:    &kafka.Client{Addr: kafka.TCP(cfg.Brokers...), Transport: transport, Timeout: requestTimeout},
		transport: transport,
		dialer: &kafka.Dialer{
			ClientID: id, Timeout: dialTimeout, DialFunc: socks.dial, TLS: tlsConf, SASLMechanism: mech,
		},
		sockets: socks,
		stop:    stop,
	}, nil
}

// requestTimeout bounds every request without a limit of its own.
const requestTimeout = 10 * time.Second

func (c *client) Close() {
	c.stop()
	c.sockets.closeAll()
	c.transport.CloseIdleConnections()
}

// sockets knows every open connection of a client.
type sockets struct {
	mu     sync.Mutex
	open   map[*socket]struct{} // guarded by mu
	closed bool                 // guarded by mu
}

type socket struct {
	net.Conn
	set *sockets
}

func (s *sockets) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	sock := &socket{conn, s}
	s.open[sock] = struct{}{}
	return sock, nil
}

func (s *socket) Close() error {
	s.set.mu.Lock()
	delete(s.set.open, s)
	s.set.mu.Unlock()
	return s.Conn.Close()
}

func (s *sockets) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for sock := range s.open {
		sock.Conn.Close()
	}
}

// Ping returns nil when a broker answers and speaks a version that is supported. The
// error names every address that was tried and what happened there. It is the check of a
// start: a running producer or consumer waits for its broker instead.
func Ping(ctx context.Context, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("kafka config: %w", err)
	}
	var tried []string
	for _, addr := range cfg.Brokers {
		one := cfg
		one.Brokers = []string{addr}
		err := pingOne(ctx, one)
		if err == nil || errors.Is(err, errTooOld) {
			return err
		}
		tried = append(tried, err.Error())
	}
	return fmt.Errorf("no Kafka broker answers: %s", strings.Join(tried, "; "))
}

func pingOne(ctx context.Context, cfg Config) error {
	c, err := newClient(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	addr := cfg.Brokers[0]
	res, err := c.ApiVersions(ctx, &kafka.ApiVersionsRequest{})
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			// Brokers say no more than this to a stranger.
			return fmt.Errorf("%s: it closed the connection: wrong login, or TLS on one side only: %w", addr, rootCause(err))
		}
		if strings.Contains(err.Error(), "remote error: tls:") {
			return fmt.Errorf("%s: it refuses the client certificate of tls.cert_file, or wants one: %w", addr, rootCause(err))
		}
		return fmt.Errorf("%s: %w", addr, rootCause(err))
	}
	if res.Error != nil {
		return fmt.Errorf("%s: api versions: %w", addr, res.Error)
	}
	for _, api := range res.ApiKeys {
		if api.ApiKey == int(protocol.Fetch) && api.MaxVersion >= fetchVersion {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", addr, errTooOld)
}

// rootCause cuts off kafka-go's method names, which tell an operator nothing.
func rootCause(err error) error {
	for strings.HasPrefix(err.Error(), "kafka.(*Client)") {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
	return err
}
