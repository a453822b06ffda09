package nats

import (
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// JetStream's error codes. Source: server/errors.json of nats-server.
const (
	accountFull     jetstream.ErrorCode = 10002
	consumerFailed  jetstream.ErrorCode = 10012
	consumerExists  jetstream.ErrorCode = 10013
	noResources     jetstream.ErrorCode = 10023
	tooManyConsumer jetstream.ErrorCode = 10026
	tooManyStreams  jetstream.ErrorCode = 10027
	noMemory        jetstream.ErrorCode = 10028
	noStorage       jetstream.ErrorCode = 10047
	tooLarge        jetstream.ErrorCode = 10054 // larger than the stream allows (max_msg_size)
	overlaps        jetstream.ErrorCode = 10065 // a stream with a subject of another one
	storeFailed     jetstream.ErrorCode = 10077
)

// refusal is what an answer of JetStream means.
type refusal struct {
	problem, remedy string
	lasting         bool // waiting does not help
}

// refusalOf explains an answer of JetStream; nil: it is none of those that an operator can mend.
func refusalOf(e *jetstream.APIError) *refusal {
	switch e.ErrorCode {
	case storeFailed:
		// The limits of a stream that discards new messages. Source: nats-server, server/store.go.
		for limit, setting := range map[string]string{
			"maximum messages exceeded": "max_msgs", "maximum bytes exceeded": "max_bytes",
			"maximum messages per subject exceeded": "max_msgs_per_subject",
		} {
			if strings.Contains(e.Description, limit) {
				return &refusal{
					"the stream is full (" + setting + ")",
					"raise " + setting + ", start more workers, or remove copies of dead letters, which count too: async-worker dlq purge",
					false,
				}
			}
		}
		return &refusal{"the stream can't store it (" + e.Description + ")", "look into the server's log", false}
	case accountFull:
		return &refusal{"the account has used up its limits of JetStream", "raise them, or remove messages", false}
	case noStorage, noMemory:
		return &refusal{"the server has no more storage for JetStream", "raise max_file_store of the server, or free space", false}
	case noResources:
		return &refusal{
			"the servers have no resources for the stream", "add servers or storage, or ask for fewer replicas", false,
		}
	case tooManyConsumer:
		return &refusal{
			"the stream or the account may have no more consumers", "raise max_consumers: the worker needs one for each of its subjects", true,
		}
	case tooManyStreams:
		return &refusal{"the account may have no more streams", "raise max_streams, or create the stream for it", true}
	case consumerExists:
		return &refusal{
			"a consumer of its name exists, with other settings", "delete it; the worker creates it again", true,
		}
	case consumerFailed:
		if strings.Contains(e.Description, "can not be updated") {
			return &refusal{
				"a consumer of its name exists, with settings that can't be changed (" + e.Description + ")",
				"delete it; the worker creates it again", true,
			}
		}
	}
	return nil
}

// of makes the error.
func (r *refusal) of(doing string, cause error) error {
	if r.lasting {
		return &Misconfigured{doing, r.problem, r.remedy}
	}
	return &taskerr.Error{
		Class: taskerr.TransientStorage, Dependency: taskerr.Queues, Message: doing + ": " + r.problem, Cause: cause,
		Hint: r.remedy,
	}
}
