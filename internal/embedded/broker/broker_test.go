package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"sextant/schema/topics"
)

const testGroup = "pipeline"

func testTopics() []topics.Topic {
	ts := topics.All()
	for i := range ts {
		ts[i].Partitions = 1
	}
	return ts
}

func start(t *testing.T, dir string, change func(*Config)) *Broker {
	t.Helper()
	cfg := Config{Dir: dir, Topics: testTopics(), Group: testGroup, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	b, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func client(t *testing.T, b *Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(b.Addr()), kgo.DefaultProduceTopic(topics.Samples))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func produce(t *testing.T, cl *kgo.Client, n, size int) {
	t.Helper()
	for i := range n {
		r := &kgo.Record{Value: bytes.Repeat([]byte{byte(i)}, size)}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func commit(t *testing.T, cl *kgo.Client, at int64) {
	t.Helper()
	os := kadm.Offsets{}
	os.AddOffset(topics.Samples, 0, at, -1)
	if err := kadm.NewClient(cl).CommitAllOffsets(t.Context(), testGroup, os); err != nil {
		t.Fatal(err)
	}
}

func TestOneProcessAtATime(t *testing.T) {
	dir := t.TempDir()
	b := start(t, dir, nil)
	_, err := Start(t.Context(), Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "another process has it open") {
		t.Errorf("second broker on the directory: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, dir, nil)
}

func TestAddresses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]string{
		"0.0.0.0:9092":        "only a loopback address",
		"example.com:9092":    "only a loopback address",
		"9092":                "want host:port",
		"127.0.0.1:x":         "port is not in",
		taken.Addr().String(): "address already in use",
	} {
		if _, err := Start(t.Context(), Config{Dir: t.TempDir(), Addr: addr}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
	b := start(t, t.TempDir(), func(c *Config) { c.Addr = "localhost:0" })
	if host, _, _ := net.SplitHostPort(b.Addr()); host != "127.0.0.1" {
		t.Errorf("listens on %s", b.Addr())
	}
}

func TestAnUnwritableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Config{Dir: filepath.Join(file, "sub")}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("directory below a file: %v", err)
	}
}

func TestTrimTo(t *testing.T) {
	for _, c := range []struct{ committed, first, end, want int64 }{
		{0, 0, 0, 0},     // empty
		{0, 0, 10, 0},    // nothing consumed
		{5, 0, 10, 5},    // up to the commit
		{10, 0, 10, 9},   // all consumed: the newest stays
		{3, 5, 10, 5},    // already trimmed further
		{500, 0, 10, 9},  // a commit above the end
		{10, 10, 10, 10}, // all trimmed before
	} {
		if got := trimTo(c.committed, c.first, c.end); got != c.want {
			t.Errorf("trimTo(%d, %d, %d) = %d, want %d", c.committed, c.first, c.end, got, c.want)
		}
	}
}

func TestTrimmingKeepsOffsetsOverARestart(t *testing.T) {
	dir := t.TempDir()
	b := start(t, dir, nil)
	cl := client(t, b)
	produce(t, cl, 20, 100)
	commit(t, cl, 20)
	b.trim()
	if p := b.cluster.PartitionInfo(topics.Samples, 0); p.LogStartOffset != 19 || p.HighWatermark != 20 {
		t.Errorf("after trimming: %+v", p)
	}
	cl.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = start(t, dir, nil)
	if p := b.cluster.PartitionInfo(topics.Samples, 0); p.HighWatermark != 20 {
		t.Errorf("after the restart: %+v", p)
	}
	if at := b.commits(testGroup)[topics.Samples][0]; at != 20 {
		t.Errorf("committed %d, want 20", at)
	}
}

func TestTrimmingWaitsForTheCommit(t *testing.T) {
	b := start(t, t.TempDir(), nil)
	cl := client(t, b)
	produce(t, cl, 10, 100)
	b.trim()
	if p := b.cluster.PartitionInfo(topics.Samples, 0); p.LogStartOffset != 0 {
		t.Errorf("trimmed without a commit: %+v", p)
	}
	commit(t, cl, 4)
	b.trim()
	if p := b.cluster.PartitionInfo(topics.Samples, 0); p.LogStartOffset != 4 {
		t.Errorf("trimmed to %d, committed is 4", p.LogStartOffset)
	}
}

func TestTheCapRefusesAndTrimmingFrees(t *testing.T) {
	b := start(t, t.TempDir(), func(c *Config) { c.MaxBytes = 40 << 20 })
	// No compression: the cap is about bytes on disk.
	cl := client(t, b, kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(1<<20),
		kgo.RecordRetries(0), kgo.RequestRetries(0), kgo.DisableIdempotentWrite())
	value := make([]byte, 900<<10)
	var refused error
	n := 0
	for ; refused == nil && n < 100; n++ {
		refused = cl.ProduceSync(t.Context(), &kgo.Record{Value: value}).FirstErr()
	}
	if !errors.Is(refused, kerr.KafkaStorageError) {
		t.Fatalf("after %d MiB: %v, want a storage error, which clients retry", n, refused)
	}
	commit(t, cl, int64(n-1))
	b.trim()
	if err := b.measure(); err != nil {
		t.Fatal(err)
	}
	if used := b.used.Load(); used > 20<<20 {
		t.Errorf("%d bytes are on disk after trimming", used)
	}
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Value: value}).FirstErr(); err != nil {
		t.Errorf("after trimming: %v", err)
	}
}

func TestDeadLettersDoNotHoldTheCap(t *testing.T) {
	b := start(t, t.TempDir(), func(c *Config) { c.MaxBytes = 1 << 20 })
	cl := client(t, b, kgo.ProducerBatchCompression(kgo.NoCompression()))
	for range 10 {
		r := &kgo.Record{Topic: topics.DeadLetter, Value: make([]byte, 10<<10)}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	b.trim()
	if p := b.cluster.PartitionInfo(topics.DeadLetter, 0); p.LogStartOffset != 5 {
		t.Errorf("dead letters start at %d, want 5: the older half of 100 KiB under a cap of 64 KiB", p.LogStartOffset)
	}
}

func TestCommitsAboveTheEndAreReset(t *testing.T) {
	dir := t.TempDir()
	b := start(t, dir, nil)
	cl := client(t, b)
	produce(t, cl, 10, 100)
	commit(t, cl, 400)
	cl.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	b = start(t, dir, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	if at := b.commits(testGroup)[topics.Samples][0]; at != 0 {
		t.Errorf("committed %d after the start, want 0", at)
	}
	if !strings.Contains(log.String(), "committed=400") {
		t.Errorf("the log does not say so: %s", log.String())
	}
}

func TestSettingsAreTheBrokersOwn(t *testing.T) {
	b := start(t, t.TempDir(), nil)
	cl := client(t, b)
	adm := kadm.NewClient(cl)
	short := "1000"
	res, err := adm.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &short}}, topics.Samples)
	if err != nil || !errors.Is(res[0].Err, kerr.PolicyViolation) {
		t.Errorf("altering the retention: %v %+v, want a policy violation", err, res)
	}
	compact := "compact"
	if _, err := adm.CreateTopic(t.Context(), 1, 1, map[string]*string{"cleanup.policy": &compact, "retention.ms": &short}, "mine"); err != nil {
		t.Fatal(err)
	}
	for _, topic := range []string{"mine", topics.Samples, topics.DeadLetter} {
		conf := b.cluster.TopicInfo(topic).Configs
		for key, want := range map[string]string{"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"} {
			if got := conf[key]; got == nil || *got != want {
				t.Errorf("%s: %s is not %s", topic, key, want)
			}
		}
	}
	if _, err := kmsgMetadata(t.Context(), cl, "never.created"); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("a topic that nobody created: %v", err)
	}
}

// kmsgMetadata asks for a topic in the way that creates it where a broker allows that.
func kmsgMetadata(ctx context.Context, cl *kgo.Client, topic string) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = kmsg.StringPtr(topic)
	req.Topics, req.AllowAutoTopicCreation = append(req.Topics, rt), true
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	return resp, kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	b := start(t, t.TempDir(), nil)
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.DefaultProduceTopic(topics.Samples))
	if err != nil {
		t.Fatal(err)
	}
	produce(t, cl, 1, 10)
	cl.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before)
}

func TestStampKeepsAValidBatch(t *testing.T) {
	b := start(t, t.TempDir(), nil)
	cl := client(t, b)
	before := time.Now().UnixMilli()
	old := time.Now().Add(-time.Hour)
	var recs []*kgo.Record
	for i := range 3 {
		recs = append(recs, &kgo.Record{Timestamp: old.Add(time.Duration(i) * time.Second), Value: []byte(fmt.Sprint(i))})
	}
	if err := cl.ProduceSync(t.Context(), recs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	// kgo checks the checksum of what it fetches.
	consumer := client(t, b, kgo.ConsumeTopics(topics.Samples), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	var got []*kgo.Record
	for len(got) < 3 {
		fs := consumer.PollFetches(t.Context())
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		got = append(got, fs.Records()...)
	}
	last := got[2].Timestamp.UnixMilli()
	if last < before || last > time.Now().UnixMilli() {
		t.Errorf("the newest record has the time %d, appended after %d", last, before)
	}
	if d := got[2].Timestamp.Sub(got[0].Timestamp); d != 2*time.Second {
		t.Errorf("the batch now spans %s, not 2s", d)
	}
}
