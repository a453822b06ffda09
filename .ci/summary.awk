# Passes on what `go test` prints, without the packages that have no tests, and ends with a summary. The
# exit status is go test's, by pipefail.
/\[no test files\]$/ || /^\t.*coverage: 0.0% of statements$/ { without++; next }
/^ok / { passed++; if (/\(cached\)/) cached++ }
/^FAIL\t/ { failed++; names = names "\n  " $2 }
/^--- SKIP/ { skipped++ }
{ print; fflush() }
END {
    printf "\ntest: %d packages passed", passed
    if (cached) printf " (%d unchanged since the last run)", cached
    if (failed) printf ", %d FAILED:%s", failed, names
    printf "\n"
}
