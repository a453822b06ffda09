package main

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// countedStore defines every method: one that is added to the interface doesn't compile until it is counted.
type countedStore struct {
	c *counter
	s store.Store
}

func (w countedStore) Check(ctx context.Context) error {
	return call0(w.c, "store.Check", func() error { return w.s.Check(ctx) })
}

func (w countedStore) Examine(ctx context.Context) (store.Examination, error) {
	return call(w.c, "store.Examine", func() (store.Examination, error) { return w.s.Examine(ctx) })
}

func (w countedStore) Submit(ctx context.Context, s store.Submission) (store.SubmitAnswer, error) {
	return call(w.c, "store.Submit", func() (store.SubmitAnswer, error) { return w.s.Submit(ctx, s) })
}

func (w countedStore) MarkSent(ctx context.Context, jobID, message string) error {
	return call0(w.c, "store.MarkSent", func() error { return w.s.MarkSent(ctx, jobID, message) })
}

func (w countedStore) Sweep(ctx context.Context, o store.SweepAges, limit int) (store.SweepAnswer, error) {
	return call(w.c, "store.Sweep", func() (store.SweepAnswer, error) { return w.s.Sweep(ctx, o, limit) })
}

func (w countedStore) Resend(ctx context.Context, r store.Resend) (bool, error) {
	return call(w.c, "store.Resend", func() (bool, error) { return w.s.Resend(ctx, r) })
}

func (w countedStore) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	return call(w.c, "store.Begin", func() (store.BeginAnswer, error) { return w.s.Begin(ctx, b) })
}

func (w countedStore) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	return call(w.c, "store.Heartbeat", func() (store.HeartbeatAnswer, error) { return w.s.Heartbeat(ctx, b) })
}

func (w countedStore) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	return call(w.c, "store.Complete", func() (store.Settlement, error) { return w.s.Complete(ctx, c) })
}

func (w countedStore) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	return call(w.c, "store.Fail", func() (store.Settlement, error) { return w.s.Fail(ctx, f) })
}

func (w countedStore) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	return call(w.c, "store.Retry", func() (store.Settlement, error) { return w.s.Retry(ctx, r) })
}

func (w countedStore) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	return call(w.c, "store.Release", func() (store.Settlement, error) { return w.s.Release(ctx, r) })
}

func (w countedStore) Canceled(ctx context.Context, h store.Holder, events []store.Event) (store.Settlement, error) {
	return call(w.c, "store.Canceled", func() (store.Settlement, error) { return w.s.Canceled(ctx, h, events) })
}

func (w countedStore) Reject(ctx context.Context, r store.Rejection) (store.Settlement, error) {
	return call(w.c, "store.Reject", func() (store.Settlement, error) { return w.s.Reject(ctx, r) })
}

func (w countedStore) RequestCancel(ctx context.Context, jobID, by string) (store.Job, error) {
	return call(w.c, "store.RequestCancel", func() (store.Job, error) { return w.s.RequestCancel(ctx, jobID, by) })
}

func (w countedStore) ReleaseUnanswered(ctx context.Context, begins []store.UnansweredBegins) (int, error) {
	return call(w.c, "store.ReleaseUnanswered", func() (int, error) { return w.s.ReleaseUnanswered(ctx, begins) })
}

func (w countedStore) Canceling(ctx context.Context, attempts []store.Holder) ([]store.Holder, error) {
	return call(w.c, "store.Canceling", func() ([]store.Holder, error) { return w.s.Canceling(ctx, attempts) })
}

func (w countedStore) DeadLetterSent(ctx context.Context, deadLetterID string) error {
	return call0(w.c, "store.DeadLetterSent", func() error { return w.s.DeadLetterSent(ctx, deadLetterID) })
}

func (w countedStore) StageDocument(ctx context.Context, s store.Staging) (store.StagedVersion, error) {
	return call(w.c, "store.StageDocument", func() (store.StagedVersion, error) { return w.s.StageDocument(ctx, s) })
}

func (w countedStore) MadeOf(ctx context.Context, documentID string) (store.DocumentBlobs, error) {
	return call(w.c, "store.DocumentBlobs", func() (store.DocumentBlobs, error) { return w.s.MadeOf(ctx, documentID) })
}

func (w countedStore) VersionKeys(ctx context.Context, documentID string, version int) ([]string, error) {
	return call(w.c, "store.VersionKeys", func() ([]string, error) { return w.s.VersionKeys(ctx, documentID, version) })
}

func (w countedStore) VersionContexts(
	ctx context.Context, documentID string, version int,
) (map[string]store.ChunkContext, error) {
	return call(w.c, "store.VersionContexts", func() (map[string]store.ChunkContext, error) {
		return w.s.VersionContexts(ctx, documentID, version)
	})
}

func (w countedStore) KnownChunks(ctx context.Context, keys []string) (map[string]bool, error) {
	return call(w.c, "store.KnownChunks", func() (map[string]bool, error) { return w.s.KnownChunks(ctx, keys) })
}

func (w countedStore) StageChunks(ctx context.Context, s store.ChunkBatch) ([]string, error) {
	return call(w.c, "store.StageChunks", func() ([]string, error) { return w.s.StageChunks(ctx, s) })
}

func (w countedStore) StageTerms(ctx context.Context, p store.TermsPart) error {
	return call0(w.c, "store.StageTerms", func() error { return w.s.StageTerms(ctx, p) })
}

func (w countedStore) Derived(ctx context.Context, q store.DerivedQuery) (store.DerivedAnswer, error) {
	return call(w.c, "store.Derived", func() (store.DerivedAnswer, error) { return w.s.Derived(ctx, q) })
}

func (w countedStore) PageResults(
	ctx context.Context, s store.PageSource, first, count int,
) ([]store.PageResult, error) {
	return call(w.c, "store.PageResults",
		func() ([]store.PageResult, error) { return w.s.PageResults(ctx, s, first, count) })
}

func (w countedStore) KeepPageResults(ctx context.Context, s store.PageSource, pages []store.PageResult) error {
	return call0(w.c, "store.KeepPageResults", func() error { return w.s.KeepPageResults(ctx, s, pages) })
}

func (w countedStore) ExpirePageResults(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	return call(w.c, "store.ExpirePageResults",
		func() (int, error) { return w.s.ExpirePageResults(ctx, olderThan, limit) })
}

func (w countedStore) Partials(ctx context.Context, q store.PartialQuery) ([]store.Partial, error) {
	return call(w.c, "store.Partials", func() ([]store.Partial, error) { return w.s.Partials(ctx, q) })
}

func (w countedStore) KeepPartials(ctx context.Context, jobID string, partials []store.Partial) error {
	return call0(w.c, "store.KeepPartials", func() error { return w.s.KeepPartials(ctx, jobID, partials) })
}

func (w countedStore) ExpirePartials(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	return call(w.c, "store.ExpirePartials", func() (int, error) { return w.s.ExpirePartials(ctx, olderThan, limit) })
}

func (w countedStore) ClaimAnswer(ctx context.Context, q store.AnswerQuestion) (store.AnswerClaim, error) {
	return call(w.c, "store.ClaimAnswer", func() (store.AnswerClaim, error) { return w.s.ClaimAnswer(ctx, q) })
}

func (w countedStore) KeepAnswer(ctx context.Context, a store.Answer) (string, error) {
	return call(w.c, "store.KeepAnswer", func() (string, error) { return w.s.KeepAnswer(ctx, a) })
}

func (w countedStore) ExpireAnswers(
	ctx context.Context, olderThan time.Duration, limit int,
) ([]store.ExpiredAnswer, error) {
	return call(w.c, "store.ExpireAnswers",
		func() ([]store.ExpiredAnswer, error) { return w.s.ExpireAnswers(ctx, olderThan, limit) })
}

func (w countedStore) ForgetAnswers(ctx context.Context, gone []store.ExpiredAnswer) (int, error) {
	return call(w.c, "store.ForgetAnswers", func() (int, error) { return w.s.ForgetAnswers(ctx, gone) })
}

func (w countedStore) Collect(ctx context.Context, c store.Collection) (store.CollectAnswer, error) {
	return call(w.c, "store.Collect", func() (store.CollectAnswer, error) { return w.s.Collect(ctx, c) })
}

func (w countedStore) RemoveChunks(ctx context.Context, limit int) (store.RemovedChunks, error) {
	return call(w.c, "store.RemoveChunks", func() (store.RemovedChunks, error) { return w.s.RemoveChunks(ctx, limit) })
}

func (w countedStore) ClaimDeliveries(ctx context.Context, c store.Claim) (store.ClaimedDeliveries, error) {
	return call(w.c, "store.ClaimDeliveries", func() (store.ClaimedDeliveries, error) { return w.s.ClaimDeliveries(ctx, c) })
}

func (w countedStore) ExtendDeliveries(
	ctx context.Context, claims []store.DeliveryClaim, lease time.Duration,
) ([]string, error) {
	return call(w.c, "store.ExtendDeliveries",
		func() ([]string, error) { return w.s.ExtendDeliveries(ctx, claims, lease) })
}

func (w countedStore) SettleDelivery(ctx context.Context, o store.DeliveryOutcome) (store.Receiver, error) {
	return call(w.c, "store.SettleDelivery", func() (store.Receiver, error) { return w.s.SettleDelivery(ctx, o) })
}

func (w countedStore) Outbox(ctx context.Context) (store.Outbox, error) {
	return call(w.c, "store.Outbox", func() (store.Outbox, error) { return w.s.Outbox(ctx) })
}

func (w countedStore) Job(ctx context.Context, id string) (store.Job, error) {
	return call(w.c, "store.Job", func() (store.Job, error) { return w.s.Job(ctx, id) })
}

func (w countedStore) Jobs(ctx context.Context, f store.JobFilter) ([]store.Job, error) {
	return call(w.c, "store.Jobs", func() ([]store.Job, error) { return w.s.Jobs(ctx, f) })
}

func (w countedStore) Events(ctx context.Context, jobID string, after int64, limit int) ([]store.JobEvent, error) {
	return call(w.c, "store.Events", func() ([]store.JobEvent, error) { return w.s.Events(ctx, jobID, after, limit) })
}

func (w countedStore) DeadLetters(ctx context.Context, f store.DeadLetterFilter) ([]store.DeadLetter, error) {
	return call(w.c, "store.DeadLetters", func() ([]store.DeadLetter, error) { return w.s.DeadLetters(ctx, f) })
}

func (w countedStore) DeadLetter(ctx context.Context, id string) (store.DeadLetter, error) {
	return call(w.c, "store.DeadLetter", func() (store.DeadLetter, error) { return w.s.DeadLetter(ctx, id) })
}

func (w countedStore) JobDeliveries(ctx context.Context, jobID string) ([]store.DeliveryStatus, error) {
	return call(w.c, "store.JobDeliveries",
		func() ([]store.DeliveryStatus, error) { return w.s.JobDeliveries(ctx, jobID) })
}

func (w countedStore) Search(ctx context.Context, q store.Query) ([]store.Hit, error) {
	return call(w.c, "store.Search", func() ([]store.Hit, error) { return w.s.Search(ctx, q) })
}

func (w countedStore) Outlines(ctx context.Context, documentSet, document string) ([]store.DocumentOutline, error) {
	return call(w.c, "store.Outlines", func() ([]store.DocumentOutline, error) {
		return w.s.Outlines(ctx, documentSet,
			document)
	})
}

func (w countedStore) DocumentPassages(ctx context.Context, q store.DocumentPassageQuery) ([]store.Passage, error) {
	return call(w.c, "store.DocumentPassages", func() ([]store.Passage, error) { return w.s.DocumentPassages(ctx, q) })
}

func (w countedStore) Documents(ctx context.Context, q store.DocumentQuery) ([]store.DocumentEntry, error) {
	return call(w.c, "store.Documents", func() ([]store.DocumentEntry, error) { return w.s.Documents(ctx, q) })
}

func (w countedStore) Passages(ctx context.Context, q store.PassageQuery) ([]store.Passage, error) {
	return call(w.c, "store.Passages", func() ([]store.Passage, error) { return w.s.Passages(ctx, q) })
}

func (w countedStore) Rarity(ctx context.Context, question string) (store.Rarity, error) {
	return call(w.c, "store.Rarity", func() (store.Rarity, error) { return w.s.Rarity(ctx, question) })
}

func (w countedStore) Feed(ctx context.Context, q store.FeedQuery) (store.FeedPage, error) {
	return call(w.c, "store.Feed", func() (store.FeedPage, error) { return w.s.Feed(ctx, q) })
}

func (w countedStore) WakeWorkers(ctx context.Context) error {
	return call0(w.c, "store.WakeWorkers", func() error { return w.s.WakeWorkers(ctx) })
}

func (w countedStore) Wake(ctx context.Context, ids []string) error {
	return call0(w.c, "store.Wake", func() error { return w.s.Wake(ctx, ids) })
}

func (w countedStore) Close() { w.s.Close() }

var _ store.Store = countedStore{}

func (w countedStore) ListDeliveries(ctx context.Context, f store.DeliveryFilter) ([]store.DeliveryEntry, error) {
	return call(w.c, "store.ListDeliveries",
		func() ([]store.DeliveryEntry, error) { return w.s.ListDeliveries(ctx, f) })
}

func (w countedStore) ResendDelivery(ctx context.Context, r store.DeliveryResend) (store.DeliveryEntry, error) {
	return call(w.c, "store.ResendDelivery", func() (store.DeliveryEntry, error) { return w.s.ResendDelivery(ctx, r) })
}

func (w countedStore) OpenPublisher(ctx context.Context) error {
	return call0(w.c, "store.OpenPublisher", func() error { return w.s.OpenPublisher(ctx) })
}

func (w countedStore) ClaimPublisher(
	ctx context.Context, worker string, lease time.Duration,
) (store.PublisherClaim, error) {
	return call(w.c, "store.ClaimPublisher", func() (store.PublisherClaim, error) {
		return w.s.ClaimPublisher(ctx, worker, lease)
	})
}

func (w countedStore) Outgoing(ctx context.Context, q store.OutgoingQuery) (store.OutgoingPage, error) {
	return call(w.c, "store.Outgoing", func() (store.OutgoingPage, error) { return w.s.Outgoing(ctx, q) })
}

func (w countedStore) Published(ctx context.Context, p store.Published) error {
	return call0(w.c, "store.Published", func() error { return w.s.Published(ctx, p) })
}

func (w countedStore) PublisherState(ctx context.Context) (store.PublisherState, error) {
	return call(w.c, "store.PublisherState", func() (store.PublisherState, error) { return w.s.PublisherState(ctx) })
}
