package broker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"sextant/schema/topics"
)

// childDir makes the test binary a broker that serves the directory until it is killed.
const childDir = "SEXTANT_TEST_BROKER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		b, err := Start(context.Background(), Config{Dir: dir, Topics: testTopics(), Group: testGroup})
		if err != nil {
			fmt.Println("err", err)
			os.Exit(1)
		}
		fmt.Println("addr", b.Addr())
		select {}
	}
	os.Exit(m.Run())
}

// child starts a broker process and returns it with its address.
func child(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "addr ")
	if !ok {
		t.Fatalf("the child says %q (%v)", line, err)
	}
	return cmd, addr
}

// kill -9 at any moment: what was acknowledged is there afterwards, in its place, and so
// is what the group committed.
func TestAcknowledgedRecordsSurviveKill9(t *testing.T) {
	dir := t.TempDir()
	var acked []string // by offset
	for round := range 3 {
		cmd, addr := child(t, dir)
		cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topics.Samples),
			kgo.DisableIdempotentWrite(), kgo.RecordRetries(0))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			v := fmt.Sprintf("round %d record %d", round, i)
			r := &kgo.Record{Value: []byte(v)}
			if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if r.Offset != int64(len(acked)) {
				t.Fatalf("%q is at offset %d, want %d", v, r.Offset, len(acked))
			}
			acked = append(acked, v)
		}
		commit(t, cl, int64(len(acked)))
		// One more is on its way when the process dies: it may be there or not.
		cl.Produce(t.Context(), &kgo.Record{Value: []byte("in flight")}, func(*kgo.Record, error) {})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		cl.Close()

		b := start(t, dir, nil)
		p := b.cluster.PartitionInfo(topics.Samples, 0)
		if at := b.commits(testGroup)[topics.Samples][0]; at != int64(len(acked)) {
			t.Errorf("round %d: committed %d after the crash, want %d", round, at, len(acked))
		}
		got := readAll(t, b, p.LogStartOffset, p.HighWatermark)
		for i, v := range acked[p.LogStartOffset:] {
			if got[i] != v {
				t.Errorf("offset %d is %q, want %q", p.LogStartOffset+int64(i), got[i], v)
			}
		}
		acked = append(acked, got[len(acked)-int(p.LogStartOffset):]...)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func readAll(t *testing.T, b *Broker, first, end int64) []string {
	t.Helper()
	cl := client(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		topics.Samples: {0: kgo.NewOffset().At(first)}}))
	defer cl.Close()
	var out []string
	for int64(len(out)) < end-first {
		fs := cl.PollFetches(t.Context())
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fs.Records() {
			out = append(out, string(r.Value))
		}
	}
	return out
}
