package object

import (
	"strings"
	"sync"
)

// operators are those of content streams, so that they are not allocated for each use.
var operators = sync.OnceValue(func() map[string]Object {
	all := map[string]Object{}
	for op := range strings.FieldsSeq("b B b* B* BDC BI BMC BT BX c cm CS cs d d0 d1 Do DP EI EMC ET EX f F f* G g gs h i " +
		"ID j J K k l m M MP n q Q re RG rg ri s S SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y ' \"") {
		all[op] = Operator(op)
	}
	return all
})
