package dashboard

import "github.com/seed-7227ef26/async-worker/internal/taskerr"

const sendAgain = " Send it under a new id, or with the hint force: the same id with the same payload is the same task."

// remedies are what to do about each class of errors. docs/errors.md has them with every sentence.
var remedies = map[taskerr.Class]string{
	taskerr.ValidationError: "The task asks for what can't be done. If the message names a setting, a model or a service, mend that and " +
		"replay it. Else correct the task and send it under a new id.",
	taskerr.UnsupportedFormat: "The document can't be read as it is: the message says whether for its format or a password. Save it " +
		"otherwise, and upload it." + sendAgain,
	taskerr.ContentMissing:     "The document is missing or has no text. Upload it." + sendAgain,
	taskerr.CorruptionDetected: "The document is damaged or protected. Repair it, then upload it." + sendAgain,
	taskerr.QuotaExceeded: "A limit was reached: the message says which. If it is one of an account or a setting, raise it and replay the " +
		"task. If the document is too large, split it." + sendAgain,
	taskerr.InternalBug: "This is a defect of the worker. Its log has the details under this job's id: please report it.",
	taskerr.Timeout: "It took longer than allowed. If its message has hints.timeout_seconds, send it again with more, under a " +
		"new id. Else raise TASK_TIMEOUT_SEC, then replay it. Or split the document.",
	taskerr.TransientStorage: "The storage or the database failed. When it is well again (see Doctor), replay it.",
	taskerr.NetworkTimeout:   "A service did not answer. When it is well again (see Doctor), replay it.",
	taskerr.AIRateLimit:      "Raise the rate limit of the model's account, or lower WORKER_CONCURRENCY; then replay it.",
	taskerr.ModelOverloaded:  "The model's service was overloaded. Replay it later.",
	taskerr.DependencyUnavailable: "A service that the task needs is down or refuses the worker (see Doctor). Repair it, " +
		"then replay it.",
	taskerr.WorkerLost:   "Each attempt lost its worker. Its log and the kernel's say why (killed, out of memory); then replay it.",
	taskerr.WaitExceeded: "A service was down for longer than WAIT_MAX_HOURS. Repair it, then replay it.",
}

// remedy is what to do about an error; empty: nothing is known.
func remedy(class string) string { return remedies[taskerr.Class(class)] }
