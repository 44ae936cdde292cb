package kafka_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"

	"sextant/internal/testkit/deploykit"
	"sextant/internal/testkit/kafkatest"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// TestMutualTLSAsInCompose runs Apache Kafka with the settings and the certificates of
// docker-compose.yml, of which only addresses and folders are changed, and the client
// with the files that compose gives to the pipeline.
func TestMutualTLSAsInCompose(t *testing.T) {
	secrets := composeSecrets(t)
	settings := composeKafka(t)
	a, err := kafkatest.StartApacheWith(t.TempDir(), func(p kafkatest.Ports) string {
		return translate(settings, secrets, p)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Stop()
	secure := func(name string) kafka.Config {
		return kafka.Config{Brokers: []string{a.Addr()}, TLS: &kafka.TLSConfig{
			CAFile: secrets + "/ca.pem", CertFile: secrets + "/" + name + ".pem", KeyFile: secrets + "/" + name + ".key"}}
	}
	for _, c := range []struct {
		name, want string
		change     func(*kafka.Config)
	}{
		{"no certificate", "or wants one", func(c *kafka.Config) { c.TLS.CertFile, c.TLS.KeyFile = "", "" }},
		{"certificate of another authority", "refuses the client certificate", func(c *kafka.Config) {
			other := composeSecrets(t)
			c.TLS.CertFile, c.TLS.KeyFile = other+"/pipeline.pem", other+"/pipeline.key"
		}},
		{"another authority", "signed by unknown authority", func(c *kafka.Config) { c.TLS.CAFile = composeSecrets(t) + "/ca.pem" }},
		{"another name", "not elsewhere", func(c *kafka.Config) { c.TLS.ServerName = "elsewhere" }},
		{"plain text", "TLS on one side only", func(c *kafka.Config) { c.TLS = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := secure("pipeline")
			c.change(&cfg)
			_, err := kafka.ApplyTopics(t.Context(), cfg, topics.All(), kafka.ApplyOptions{Replication: 1})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), a.Addr()) {
				t.Errorf("got %v, want %q and the address", err, c.want)
			}
			p := newProducer(t, cfg, topics.Samples)
			if err := p.Send(t.Context(), []kafka.Message{{Value: []byte("x")}})[0]; err == nil {
				t.Error("a record was sent")
			}
		})
	}
	t.Run("as configured", func(t *testing.T) { carry(t, secure("pipeline"), secure("agent")) })
}

// carry creates the topics, sends with one identity and consumes with the other.
func carry(t *testing.T, reader, writer kafka.Config) {
	want := topics.All()
	for i := range want {
		want[i] = want[i].Single()
	}
	if _, err := kafka.ApplyTopics(t.Context(), reader, want, kafka.ApplyOptions{Replication: 1}); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", kafka.DefaultMaxRecordBytes-1024)
	if err := sendAll(t.Context(), newProducer(t, writer, topics.Samples), []kafka.Message{{Key: []byte("n1"), Value: []byte(large)}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got := make(chan int, 1)
	err := kafka.Consume(ctx, reader, kafka.ConsumerOptions{Group: "g", Topic: topics.Samples, Logger: quiet}, func(ctx context.Context, p *kafka.Partition) error {
		for {
			rs, err := p.Fetch(ctx)
			if err != nil {
				return err
			}
			for _, r := range rs {
				got <- len(r.Value)
				if err := p.Commit(ctx, r.Offset+1, ""); err != nil {
					return err
				}
				cancel()
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case n := <-got:
		if n != len(large) {
			t.Errorf("a record of %d bytes arrived with %d", len(large), n)
		}
	default:
		t.Error("nothing arrived")
	}
}

// composeSecrets makes certificates as for compose and returns their folder.
func composeSecrets(t *testing.T) string {
	t.Helper()
	dir, err := deploykit.Secrets("../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// composeKafka returns the broker settings of docker-compose.yml, by property name.
func composeKafka(t *testing.T) map[string]string {
	t.Helper()
	opts, err := cli.NewProjectOptions([]string{"../../docker-compose.yml"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := opts.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	service, err := project.GetService("kafka")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for key, value := range service.Environment {
		if name, ok := strings.CutPrefix(key, "KAFKA_"); ok {
			out[strings.ReplaceAll(strings.ToLower(name), "_", ".")] = *value
		}
	}
	return out
}

// translate writes the settings for loopback: other folders, hosts and ports.
func translate(settings map[string]string, secrets string, p kafkatest.Ports) string {
	var out strings.Builder
	for key, value := range settings {
		if key == "log.dirs" || key == "controller.quorum.voters" {
			continue
		}
		for service, port := range map[string]int{"INTERNAL": p.Internal, "CLIENT": p.Client, "CONTROLLER": p.Controller} {
			value = regexp.MustCompile(`\b`+service+`://\w*:\d+`).ReplaceAllString(value, fmt.Sprintf("%s://127.0.0.1:%d", service, port))
		}
		value = strings.ReplaceAll(value, "/run/sextant/service", secrets+"/kafka")
		value = strings.ReplaceAll(value, "/run/sextant/", secrets+"/")
		fmt.Fprintf(&out, "%s=%s\n", key, value)
	}
	return out.String()
}
