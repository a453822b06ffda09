package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
)

// The numbers of vectors from which it is worth while to send them in binary: in one round trip, and in a transaction of
// several.
const (
	leastVectors      = 2
	leastVectorsApart = 8
)

// LeastVectors implements rpc.VectorCaller.
func (c *caller) LeastVectors() int {
	if s := c.chosen.Load(); s != nil && c.atOnce(*s) {
		return leastVectors
	}
	return leastVectorsApart
}

// atOnce reports whether a call with vectors takes one round trip. An unnamed statement's parameters are asked for
// first, within a transaction.
func (c *caller) atOnce(as session) bool { return !c.unnamed && !as.apart }

// CallWithVectors calls a function of p and vectors, in one transaction. The vectors are a parameter in binary. A COPY
// would be as fast only into the table itself, which checks no key and no fence.
func (c *caller) CallWithVectors(
	ctx context.Context, fn string, p json.RawMessage, vectors [][]float32,
) (json.RawMessage, error) {
	as, err := c.session(ctx) // before a connection is acquired: the pool may have only one
	if err != nil {
		return nil, callError(fn, err)
	}
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", fn, err)
	}
	defer conn.Release()
	typed, err := c.registerHalfvec(ctx, conn)
	if err != nil {
		return nil, callError(fn, err)
	}
	answer, err := c.withVectors(ctx, conn, as, c.schema+"."+fn+"($1::jsonb, $2::"+typed+")::text", string(p), halfVectors(vectors))
	if err != nil {
		return nil, callError(fn, err)
	}
	return json.RawMessage(answer), nil
}

// withVectors makes the call.
func (c *caller) withVectors(
	ctx context.Context, conn *pgxpool.Conn, as session, expression, p string, vectors halfVectors,
) (answer string, err error) {
	if c.atOnce(as) {
		err = conn.QueryRow(ctx, "select "+expression+
			` from (select pg_catalog.set_config('app.client_id', $3, true), pg_catalog.set_config('role', $4, true) offset 0) settings`,
			p, vectors, c.clientID, as.role).Scan(&answer)
		return answer, err
	}
	args := []any{p, vectors}
	if c.unnamed {
		args = append([]any{pgx.QueryExecModeDescribeExec}, args...)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pg_catalog.set_config('app.client_id', $1, true), "+
			"pg_catalog.set_config('role', $2, true)", c.clientID, as.role); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "select "+expression, args...).Scan(&answer)
	})
	return answer, err
}

// halfVectors is a pgtype.ArrayGetter: a one-dimensional array of halfvec, with a null for a nil vector. pgx would
// encode a slice of pointers as texts, element by element.
type halfVectors [][]float32

func (v halfVectors) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(v)), LowerBound: 1}}
}

func (v halfVectors) Index(i int) any {
	if v[i] == nil {
		return nil
	}
	return pgvector.NewHalfVector(v[i])
}

func (halfVectors) IndexType() any { return pgvector.HalfVector{} }

const halfvecArray = "_halfvec"

// registerHalfvec registers the type of the extension, whose OID differs between databases, with a connection. It
// returns the qualified name of its array type: without a type, a call could resolve to another function.
func (c *caller) registerHalfvec(ctx context.Context, conn *pgxpool.Conn) (string, error) {
	types := conn.Conn().TypeMap()
	if known, there := types.TypeForName(halfvecArray); there {
		return known.Codec.(halfvecArrays).name, nil
	}
	var element, array uint32
	var name string
	err := conn.QueryRow(ctx, `select t.oid, t.typarray, pg_catalog.quote_ident(n.nspname) || '.halfvec[]' from pg_catalog.pg_extension e
		join pg_catalog.pg_namespace n on n.oid = e.extnamespace
		join pg_catalog.pg_type t on t.typnamespace = n.oid and t.typname = 'halfvec' where e.extname = 'vector'`).Scan(&element, &array, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", &rpc.SQLError{State: "42704", Message: "there is no type halfvec"} // undefined_object
	} else if err != nil {
		return "", err
	}
	half := &pgtype.Type{Name: "halfvec", OID: element, Codec: &pgxvector.HalfVectorCodec{}}
	types.RegisterType(half)
	types.RegisterType(&pgtype.Type{
		Name: halfvecArray, OID: array, Codec: halfvecArrays{&pgtype.ArrayCodec{ElementType: half}, name},
	})
	return name, nil
}

// halfvecArrays is the codec of an array of halfvec, with the type's name in this database.
type halfvecArrays struct {
	*pgtype.ArrayCodec
	name string
}
