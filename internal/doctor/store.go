package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// migrate is the remedy for an outdated schema.
const migrate = "async-worker migrate (with the owner's DATABASE_URL, and this worker's DB_SCHEMA and " +
	"EMBEDDING_DIMENSIONS if it has its own), or paste the output of async-worker migrate --print into the Supabase editor"

// storeChecks splits one examination into its checks.
func storeChecks(ctx context.Context, w *Worker) []Result {
	asked := time.Now()
	e, err := w.examination(ctx)
	took := time.Since(asked)
	finding, refused := errors.AsType[*store.FindingError](err)
	if err != nil && !refused {
		return w.unexamined(err)
	}
	if refused {
		return w.alone(finding.Finding)
	}
	results := []Result{w.key(e), w.schema(e)}
	for _, part := range []struct {
		check string
		about []store.About
		fine  string
	}{
		{"store functions", []store.About{store.AboutFunction}, "all may be called"},
		{"store tables", []store.About{store.AboutTable, store.AboutWrite}, "all may be used as needed"},
		{"row-level security", []store.About{store.AboutPolicy}, "this client's rows can be reached, and no other's"},
	} {
		results = append(results, lacking(part.check, e, part.fine, part.about...))
	}
	return append(results, w.indexed(e), skewed("store clock", "the database's", e.Now, asked.Add(took/2), took))
}

// examination opens the store and examines it.
func (w *Worker) examination(ctx context.Context) (e store.Examination, err error) {
	err = w.within(ctx, func(ctx context.Context) error {
		s, err := w.Store(ctx)
		if err != nil {
			return err
		}
		e, err = s.Examine(ctx)
		return err
	})
	return e, err
}

// unexamined returns the results when the store could not be examined.
func (w *Worker) unexamined(err error) []Result {
	result := failed("store", err, cmp.Or(w.NextDatabase, "is the database up? check SUPABASE_URL or DATABASE_URL"))
	switch {
	case errors.Is(err, store.ErrUnexposed):
		result = failed("store schema", err, store.NextUnexposed)
	case errors.Is(err, store.ErrSchema):
		result = failed("store schema", err, migrate)
	case errors.Is(err, store.ErrForbidden):
		result = failed("store", err, store.NextForbidden(err,
			"use a key whose claim client_id is "+w.ClientID+" and whose role is async_worker (SUPABASE_KEY)"))
	}
	results := skipped(Store, "the database could not be examined")
	for i, r := range results {
		if r.Check == result.Check {
			results[i] = result
		}
	}
	return results
}

// alone returns the results when one missing right hides all others.
func (w *Worker) alone(l store.Finding) []Result {
	check := map[store.About]string{
		store.AboutSchema: "store schema", store.AboutFunction: "store functions", store.AboutTable: "store tables",
	}[l.About]
	if l.About == store.AboutSchema && strings.Contains(l.Problem, "role") {
		check = "store"
	}
	results := skipped(Store, "hidden by what "+check+" lacks")
	for i, r := range results {
		if r.Check == check {
			results[i] = Result{
				Check: check, State: Fail, Class: Permission, Seen: l.Subject + ": " + l.Problem, Remedy: l.Mend,
			}
		}
	}
	return results
}

// key reports which rows the key reaches.
func (w *Worker) key(e store.Examination) Result {
	if e.EveryTenant {
		return Result{
			Check: "store", State: Warn,
			Seen: fmt.Sprintf("the key has the role %s, for which row-level security does not hold: it reaches the "+
				"rows of every client", e.Role),
			Remedy: "use a key of this client alone: SUPABASE_KEY, a JWT with the claims role async_worker and " +
				"client_id " + w.ClientID + "; or a login async_worker_" + w.ClientID + " in the role async_worker",
		}
	}
	return ok("store", "role %s, bound to client %s", e.Role, e.BoundTo)
}

// schema compares the schema with what the program needs.
func (w *Worker) schema(e store.Examination) Result {
	const check = "store schema"
	unfit := func(remedy, format string, args ...any) Result {
		return Result{Check: check, State: Fail, Class: Config, Seen: fmt.Sprintf(format, args...), Remedy: remedy}
	}
	var absent, open, shut []string
	for _, l := range e.Findings {
		switch l.About {
		case store.AboutCreate:
			open, shut = append(open, l.Subject+": "+l.Problem), append(shut, l.Mend)
		case store.AboutVersion:
			absent = append(absent, l.Subject)
		case store.AboutSchema:
			return Result{
				Check: check, State: Fail, Class: Permission, Seen: l.Subject + ": " + l.Problem, Remedy: l.Mend,
			}
		}
	}
	switch {
	case e.Version != 0 && e.Version < e.Wanted:
		return unfit(migrate, "it is at version %d, this program needs %d", e.Version, e.Wanted)
	case e.Version > e.Wanted:
		return Result{
			Check: check, State: Warn, Seen: fmt.Sprintf("it is at version %d, newer than this program's %d", e.Version,
				e.Wanted), Remedy: "update this program",
		}
	case len(absent) > 0:
		return unfit(migrate, "there is no %s", strings.Join(absent, ", "))
	case w.Vectors != 0 && e.Dimensions != 0 && e.Dimensions != w.Vectors:
		return unfit(fmt.Sprintf("set EMBEDDING_DIMENSIONS to %d, or use another DB_SCHEMA", e.Dimensions),
			"its vectors have %d dimensions, EMBEDDING_DIMENSIONS is %d", e.Dimensions, w.Vectors)
	case len(open) > 0:
		return Result{Check: check, State: Warn, Seen: strings.Join(open, "; "), Remedy: strings.Join(shut, "; ")}
	}
	return ok(check, "version %d, vectors of %d dimensions", e.Version, e.Dimensions)
}

// indexed compares the models of the indexed documents' vectors with the worker's. Searches compare vectors of different
// models as if they were of one, which finds nothing and says nothing.
func (w *Worker) indexed(e store.Examination) Result {
	const check = "indexed vectors"
	var documents, foreign int
	var others []string
	for _, m := range e.Models {
		documents += m.Documents
		if m.Model != w.Model {
			foreign += m.Documents
			others = append(others, m.Model)
		}
	}
	switch {
	case e.Models == nil:
		return Result{Check: check, State: Skipped, Seen: "the database's functions are those of an earlier version"}
	case documents == 0:
		return Result{Check: check, State: Skipped, Seen: "no document is indexed"}
	case w.Model == "":
		return Result{Check: check, State: Skipped, Seen: "the settings of the model are wrong"}
	case foreign > 0:
		return Result{
			Check: check, State: Warn, Seen: fmt.Sprintf("%d of %d documents have vectors by %s, and the worker's model is %s: "+
				"searches find these documents by their words only", foreign, documents, strings.Join(others, ", "), w.Model),
			Remedy: "ingest them again, which embeds them anew; or set the former model (docs/models.md)",
		}
	}
	return ok(check, "by %s, of %d documents", w.Model, documents)
}

// lacking combines all findings of one kind into a result. The statements can be run as they are.
func lacking(check string, e store.Examination, fine string, about ...store.About) Result {
	var seen, remedy []string
	for _, l := range e.Findings {
		for _, a := range about {
			if l.About == a {
				seen = append(seen, l.Subject+": "+l.Problem)
				if l.Mend != "" {
					remedy = append(remedy, l.Mend)
				}
			}
		}
	}
	if len(seen) == 0 {
		if e.EveryTenant && check == "row-level security" {
			return Result{Check: check, State: Skipped, Seen: "it does not hold for this key"}
		}
		return ok(check, "%s", fine)
	}
	if len(remedy) == 0 {
		remedy = []string{migrate}
	}
	if len(seen) > 5 {
		seen = append(seen[:5], fmt.Sprintf("and %d more", len(seen)-5))
	}
	return Result{
		Check: check, State: Fail, Class: Permission, Seen: strings.Join(seen, "; "), Remedy: strings.Join(remedy, "; "),
	}
}
