package nats

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const getSubject = "$JS.API.STREAM.MSG.GET."

// stored is a message of a stream, as the stream has it.
type stored struct {
	Sequence uint64      `json:"seq"`
	Header   nats.Header `json:"-"`
	Hdrs     []byte      `json:"hdrs"`
	Data     []byte      `json:"data"`
	Time     time.Time   `json:"time"`
}

// get returns a message of a stream: the one with a sequence number or, of a subject, the first from it on. The client's
// GetMsg needs the right to $JS.API.DIRECT.GET on streams that allow it. With that a user could have the server put the
// naked text of a message on any subject of its account, such as another tenant's queue; this answer is no task.
func get(ctx context.Context, w wire, stream string, sequence uint64, subject string) (stored, error) {
	request, err := json.Marshal(struct {
		Seq  uint64 `json:"seq"`
		Next string `json:"next_by_subj,omitempty"`
	}{sequence, subject})
	if err != nil {
		return stored{}, err
	}
	answer, err := w.RequestWithContext(ctx, getSubject+stream, request)
	if err != nil {
		return stored{}, err
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message stored              `json:"message"`
	}
	switch err := json.Unmarshal(answer.Data, &got); {
	case err != nil:
		return stored{}, err
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return stored{}, jetstream.ErrMsgNotFound
	case got.Error != nil:
		return stored{}, got.Error
	}
	if len(got.Message.Hdrs) > 0 {
		got.Message.Header, err = nats.DecodeHeadersMsg(got.Message.Hdrs)
	}
	return got.Message, err
}
