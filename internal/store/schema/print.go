package schema

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// vectorMark stands for the schema of pgvector, which only the database knows.
const vectorMark = "@vector@"

// Print writes one SQL script that does what Migrate does, for an editor that has no connection string to
// give away. It can be run again and again: a migration that the version table knows is passed over, so
// a later Migrate, or a later script, goes on from there.
func Print(w io.Writer, o Options) error {
	o, err := o.check()
	if err != nil {
		return err
	}
	migrations, err := render(nil, sub("migrations"), o.data(""))
	if err != nil {
		return err
	}
	replaced, err := functions(o, vectorMark)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	printHead(out, o, len(migrations))
	for i, m := range migrations {
		fmt.Fprintf(out, `
-- %[2]s
do $step_%[1]d$ begin
  if (select version from %[4]s) < %[1]d then
    execute $migration_%[1]d$
%[3]s
$migration_%[1]d$;
    update %[4]s set version = %[1]d;
  end if;
end $step_%[1]d$;
`, i+1, m.name, m.sql, o.versionTable())
	}
	for i, f := range replaced {
		if i == len(replaced)-1 {
			printBoundary(out, o, len(migrations), replaced[0].sql)
		}
		sql := trimSemicolon(f.sql)
		if strings.Contains(sql, vectorMark) {
			sql = fmt.Sprintf("do $functions_%[1]d$ begin execute replace($script_%[1]d$\n%[2]s\n$script_%[1]d$, "+
				"'%[3]s', (%[4]s));\nend $functions_%[1]d$",
				i, sql, vectorMark, vectorSchema)
		}
		fmt.Fprintf(out, "\n-- %s\n%s;\n", f.name, sql)
	}
	fmt.Fprint(out, "commit;\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the script: %w", err)
	}
	return nil
}

// printHead begins the first transaction, and ends it on a schema of a newer program.
func printHead(out io.Writer, o Options, version int) {
	fmt.Fprintf(out, `-- The schema of async-worker, version %d, in schema %s with %d embedding dimensions.
-- Run it as the owner of the database, as often as you like. After an error, mend the cause and run all of it again. If a
-- lock timed out, a long transaction reads a table that is to be changed; it may be a backup's.
begin;
select pg_advisory_xact_lock(%[4]d);
%[6]s
do $schema$ begin
  if not exists (select from pg_namespace where nspname = '%[2]s') then
    create schema %[2]s;
  end if;
end $schema$;
create table if not exists %[5]s(version int4 not null);
insert into %[5]s(version) select 0 where not exists (select from %[5]s);
do $newer$ begin
  if (select version from %[5]s) > %[1]d then
    raise exception 'schema %[2]s is at version %%, newer than this script''s %[1]d',
      (select version from %[5]s) using hint = 'print the script with the newer program';
  end if;
end $newer$;
`, version, o.Schema, o.Dimensions, lockNumber, o.versionTable(), limitLocks)
}

// printBoundary ends the first transaction and begins the second, as replaceFunctions does: the last script drops what calls
// by the old bodies use. psql goes on after an error, so the second is refused unless the first has succeeded.
func printBoundary(out io.Writer, o Options, version int, settings string) {
	fmt.Fprintf(out, `
set app.migrated = '%[1]d';
commit;
begin;
select pg_advisory_xact_lock(%[2]d);
%[3]s;
do $first$ begin
  if current_setting('app.migrated', true) is distinct from '%[1]d' or (select version from %[4]s) <> %[1]d then
    raise exception 'the first part of this script has not succeeded in this session'
      using hint = 'mend its error and run the whole script again, over a direct or session connection';
  end if;
end $first$;
reset app.migrated;
`, version, lockNumber, settings, o.versionTable())
}

func trimSemicolon(sql string) string {
	if n := len(sql); n > 0 && sql[n-1] == ';' {
		return sql[:n-1]
	}
	return sql
}
