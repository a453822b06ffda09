package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	pgxvector "github.com/pgvector/pgvector-go/pgx"
)

// TestVectorsAreBinary: a component takes two bytes. Texts would work, too, but several times slower.
func TestVectorsAreBinary(t *testing.T) {
	t.Parallel()
	types := pgtype.NewMap()
	half := &pgtype.Type{Name: "halfvec", OID: 100_001, Codec: &pgxvector.HalfVectorCodec{}}
	types.RegisterType(&pgtype.Type{Name: halfvecArray, OID: 100_002, Codec: &pgtype.ArrayCodec{ElementType: half}})
	types.RegisterType(half)
	wide := make([]float32, 1536)
	encoded, err := types.Encode(100_002, pgtype.BinaryFormatCode, halfVectors{wide, nil, wide}, nil)
	const header, length = 20, 4
	if want := header + 2*(length+4+2*len(wide)) + length; err != nil || len(encoded) != want {
		t.Errorf("%d bytes, want %d: %v", len(encoded), want, err)
	}
}
